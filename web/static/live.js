// @ts-check
// Keeps a page up to date while games are played. Without this script the page shows how things stood.

/**
 * Put what is new into an element of the page.
 * @param {string} place
 * @param {string | undefined} html
 */
function fill(place, html) {
  const element = document.getElementById(place);
  if (element && html !== undefined) element.innerHTML = html;
}

/**
 * @typedef {{game: string, cells: [number, string][], note: string, caption?: string, orders?: string, rows?: string, charts?: string, clocks?: string, comment?: string}} Moves
 */

/**
 * Put moves on a game's board, and into its list if the page has one.
 * @param {Moves} moves
 */
function move(moves) {
  const frame = Array.from(document.querySelectorAll("[data-game]")).find(
    (element) => element instanceof HTMLElement && element.dataset.game === moves.game,
  );
  if (!frame) return;
  const cells = frame.querySelectorAll("svg.board g.at");
  for (const [number, html] of moves.cells) if (cells[number]) cells[number].outerHTML = html;
  for (const note of frame.querySelectorAll(".note")) note.textContent = moves.note;
  fill("charts", moves.charts);
  fill("clocks", moves.clocks);
  fill("orders", moves.orders);
  const caption = document.getElementById("caption");
  if (caption && moves.caption !== undefined) caption.textContent = moves.caption;
  const comment = document.getElementById("comment");
  if (comment && moves.comment !== undefined) comment.textContent = moves.comment;
  const rows = document.getElementById("rows");
  if (!rows || moves.rows === undefined) return;
  for (const row of rows.querySelectorAll(".chosen")) row.classList.remove("chosen");
  rows.insertAdjacentHTML("beforeend", moves.rows);
  stepFrom(rows.childElementCount);
  const list = rows.closest(".long");
  if (list) list.scrollTop = list.scrollHeight;
}

/**
 * Let the links beside the board lead from the newest move.
 * @param {number} ply
 */
function stepFrom(ply) {
  const here = document.getElementById("here");
  if (!(here instanceof HTMLAnchorElement)) return;
  const address = new URL(here.href);
  for (const [name, to] of Object.entries({ start: 0, back: ply - 1 })) {
    const link = document.getElementById(`step-${name}`);
    address.searchParams.set("ply", String(to));
    link?.setAttribute("href", address.href);
    link?.toggleAttribute(`data-${name}`, true);
    link?.removeAttribute("aria-disabled");
    link?.classList.remove("off");
  }
  address.searchParams.set("ply", String(ply));
  here.href = address.href;
  const play = document.querySelector("button[data-play]");
  if (play instanceof HTMLButtonElement) play.disabled = false;
}

// How long to wait after a refusal, and at most after several of them.
const WAIT = 2000;
const LONGEST_WAIT = 30000;

/**
 * Say that the connection is lost, or no longer.
 * @param {boolean} lost
 */
function tellConnection(lost) {
  const note = document.getElementById("connection");
  if (note) note.textContent = lost ? "The connection is lost: this page may be old. It tries again." : "";
}

/**
 * Follow what happens while the page is in sight, and come back when the connection is lost.
 * @param {HTMLElement} region
 * @param {string} address
 */
function listen(region, address) {
  const place = new URL(address, location.href);
  /** @type {EventSource | null} */
  let source = null;
  let wait = WAIT;
  let again = 0;
  let over = false;

  function begin() {
    clearTimeout(again);
    if (source || over || document.hidden) return;
    const opened = (source = new EventSource(place));
    opened.addEventListener("moves", (event) => {
      move(JSON.parse(event.data));
      // Who comes back by another connection says how far it was; a browser does so by itself for the same one.
      if (event.lastEventId && place.searchParams.has("after")) place.searchParams.set("after", event.lastEventId);
    });
    opened.addEventListener("wall", (event) => fill("wall", JSON.parse(event.data).html));
    opened.addEventListener("news", (event) => fill("news", JSON.parse(event.data).html));
    opened.addEventListener("results", (event) => {
      if (region.dataset.renewed) fill("results", JSON.parse(event.data).html);
    });
    opened.addEventListener("open", () => {
      wait = WAIT;
      tellConnection(false);
    });
    opened.addEventListener("error", () => {
      tellConnection(true);
      // A browser tries again after a lost connection, but not after a refusal.
      if (opened.readyState !== EventSource.CLOSED) return;
      leave();
      again = setTimeout(begin, wait);
      wait = Math.min(2 * wait, LONGEST_WAIT);
    });
    for (const last of ["over", "end"]) {
      opened.addEventListener(last, () => {
        over = true;
        leave();
        // The page as it is when all is over; the moment lets the last result be stored.
        setTimeout(() => location.reload(), 400);
      });
    }
  }

  function leave() {
    clearTimeout(again);
    source?.close();
    source = null;
  }

  // A browser keeps few connections to one place: a tab that nobody sees gives its own to the others.
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) return leave();
    if (region.dataset.renewed) renewResults();
    begin();
  });
  addEventListener("pagehide", leave);
  begin();
}

/** Show the results as they are now: those that came while nobody saw the page were not sent to it. */
async function renewResults() {
  const answer = await fetch(location.href).catch(() => null);
  if (!answer?.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  fill("results", page.getElementById("results")?.innerHTML);
}

const region = document.querySelector("[data-events]");
if (region instanceof HTMLElement && region.dataset.events) listen(region, region.dataset.events);
