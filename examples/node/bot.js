// A bot in JavaScript, from the protos alone: it registers, keeps its token in a file, dials in and plays random moves.
//
//     npm ci && node bot.js node-rambler 1.0 INVITATION
//
// ARENA_ADDRESS is the service (host:port or unix:PATH), ARENA_TOKEN_FILE the file of the token, which is made by the
// registration, and ARENA_TLS_CA the certificate authority of a service with TLS.
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import grpc from '@grpc/grpc-js';
import protoLoader from '@grpc/proto-loader';

const [name, version = '1.0', invitation = ''] = process.argv.slice(2);
if (name === undefined) {
  console.error('usage: node bot.js NAME [VERSION [INVITATION]]');
  process.exit(2);
}
const address = process.env.ARENA_ADDRESS ?? '127.0.0.1:50561';
const tokenFile = process.env.ARENA_TOKEN_FILE ?? `${name}.token`;
const authority = process.env.ARENA_TLS_CA;

const protos = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'protos');
const files = ['arena/v1/members.proto', 'arena/v1/players.proto'];
const definition = protoLoader.loadSync(files, { includeDirs: [protos], oneofs: true, longs: String });
const { arena } = grpc.loadPackageDefinition(definition);
const credentials = authority ? grpc.credentials.createSsl(readFileSync(authority)) : grpc.credentials.createInsecure();

/** The token in the file; without a file the player registers first. */
async function ownToken() {
  if (existsSync(tokenFile)) return readFileSync(tokenFile, 'ascii').trim();
  const members = new arena.v1.MemberService(address, credentials);
  // Sent again with the same key, because an answer was lost, a registration gives another token.
  const request = { name, version, family: 'random', invitation, key: randomBytes(24).toString('base64url') };
  const register = () =>
    new Promise((resolve, reject) => {
      const deadline = Date.now() + 10_000;
      members.Register(request, { deadline }, (error, answer) => (error ? reject(error) : resolve(answer)));
    });
  const again = [grpc.status.UNAVAILABLE, grpc.status.DEADLINE_EXCEEDED];
  const answer = await register().catch((error) => (again.includes(error.code) ? register() : Promise.reject(error)));
  members.close();
  writeFileSync(`${tokenFile}.new`, `${answer.token}\n`, { mode: 0o600 });
  renameSync(`${tokenFile}.new`, tokenFile);
  console.log(`registered ${answer.member.name} ${answer.member.version}`);
  return answer.token;
}

/** Play until the stream ends; resolves with its status, and whether the arena let the bot in. */
function dialIn(token) {
  let welcomed = false;
  let check; // The seat of the arena's check before the games, which is no game.
  const metadata = new grpc.Metadata();
  metadata.set('authorization', `Bearer ${token}`);
  const players = new arena.v1.PlayerService(address, credentials);
  const stream = players.Play(metadata);
  stream.write({ hello: { player: name, engineName: 'Node rambler', engineVersion: version, wantLegalMoves: true } });
  stream.on('data', (message) => {
    switch (message.message) {
      case 'welcome':
        welcomed = true;
        console.log(`dialled in at ${address}`);
        break;
      case 'gameStart':
        if (message.gameStart.gameId === 'startup-check') check = message.gameStart.seatId;
        stream.write({ ready: { seatId: message.gameStart.seatId } });
        break;
      case 'moveRequest': {
        const { seatId, request, legalMoves = [] } = message.moveRequest;
        const text = legalMoves[Math.floor(Math.random() * legalMoves.length)];
        stream.write({ move: { seatId, request, ...(text === undefined ? { resign: true } : { text }) } });
        break;
      }
      case 'gameEnd':
        if (message.gameEnd.seatId === check) break;
        console.log(`game over: ${message.gameEnd.outcome?.result ?? message.gameEnd.voidReason ?? 'interrupted'}`);
        break;
    }
  });
  return new Promise((resolve) => {
    stream.on('error', () => {});
    stream.on('status', (status) => {
      players.close();
      resolve({ status, welcomed });
    });
  });
}

try {
  const token = await ownToken();
  let away; // Since when, in milliseconds.
  for (;;) {
    const { status, welcomed } = await dialIn(token);
    if (status.code !== grpc.status.UNAVAILABLE) {
      console.error(`the stream ended: ${grpc.status[status.code]}: ${status.details}`);
      process.exit(status.code === grpc.status.OK ? 0 : 1);
    }
    // The arena restarts, or the network is away, or the address is wrong.
    if (welcomed || away === undefined) {
      away = Date.now();
      console.error(`the arena at ${address} is away: ${status.details}; trying again for 60 s`);
    } else if (Date.now() - away > 60_000) {
      console.error(`the arena at ${address} was away for 60 s: ${status.details}`);
      process.exit(1);
    }
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
} catch (error) {
  console.error(error.details ?? error.message);
  process.exit(1);
}
