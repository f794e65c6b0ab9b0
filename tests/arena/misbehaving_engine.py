"""A small GTP engine that plays two stones and passes, and misbehaves in the way its argument names.

It appends the process ids of itself and of its children to the file MISBEHAVING_PIDS names.
"""

import os
import signal
import sys
import time

FAULTS = (
    "none",
    "hang-at-start",
    "hang-in-genmove",
    "hang-at-exit",
    "ignore-sigterm",
    "half-an-answer",
    "garbage-at-start",
    "garbage-in-genmove",
    "wrong-version",
    "gmp",
    "exit-at-start",
    "exit-in-genmove",
    "crash-in-genmove",
    "crash-after-genmove",
    "close-output",
    "flood-stderr",
    "flood-stdout",
    "huge-answer",
    "unasked-answer",
    "forking",
    "forking-and-exiting",
    "illegal-move",
    "unreadable-move",
    "rejects-moves",
    "rejects-moves-with-reason",
    "passes",
    "refuses-moves",
    "refuses-genmove",
    "refuses-set-up",
    "memory-hog",
    "resigns",
    "bad-values",
    "crash-at-score",
    "claims",
    "slow",
    "places-its-own-stones",
    "places-bad-stones",
    "leaving-the-session",
    "dies-when-idle",
    "hopeless",
    "two-values",
)


class Engine:
    def __init__(self, fault: str) -> None:
        assert fault in FAULTS, fault
        self.fault = fault
        self.moves = 0
        self.memory = b""
        self.cpu_time = 0.0

    def note(self, pid: int) -> None:
        if "MISBEHAVING_PIDS" in os.environ:
            # Path takes longer to load than all else here.
            with open(os.environ["MISBEHAVING_PIDS"], "a") as pids:  # noqa: PTH123
                pids.write(f"{pid}\n")

    def run(self) -> None:
        self.note(os.getpid())
        print(f"the fault is {self.fault}", file=sys.stderr, flush=True)
        if self.fault in ("hang-at-exit", "ignore-sigterm"):
            signal.signal(
                signal.SIGTERM, signal.SIG_IGN if self.fault == "ignore-sigterm" else signal.SIG_DFL
            )
        if self.fault == "leaving-the-session":
            self.leave_a_child()
        if self.fault.startswith("forking"):
            child = os.fork()
            if child == 0:
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
                time.sleep(1000)
            self.note(child)
        for line in sys.stdin:
            words = line.split()
            answer = getattr(self, "do_" + words[0].replace("-", "_"), lambda *_: "")(*words[1:])
            more = (
                "= and another thing\n\n" if (self.fault, words[0]) == ("unasked-answer", "genmove") else ""
            )
            self.write((f"{answer}\n\n" if answer[:1] == "?" else f"= {answer}\n\n") + more)
            if words[0] == "quit" and self.fault not in ("hang-at-exit", "ignore-sigterm"):
                return
            if words[0] == "gomill-cpu_time" and self.fault == "dies-when-idle":
                os.abort()
            if words[0] == "genmove" and self.fault == "crash-after-genmove":
                os.abort()
        if self.fault in ("hang-at-exit", "ignore-sigterm"):
            time.sleep(1000)

    def leave_a_child(self) -> None:
        """Start a process as daemons are started, and wait until it has noted its id."""
        ours, theirs = os.pipe()
        if os.fork() == 0:
            os.setsid()
            if os.fork():
                os._exit(0)
            self.note(os.getpid())
            os.write(theirs, b"x")
            os.closerange(0, 64)
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            time.sleep(1000)
        os.read(ours, 1)

    def write(self, text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()

    def do_protocol_version(self) -> str:
        match self.fault:
            case "hang-at-start":
                time.sleep(1000)
            case "garbage-at-start":
                self.write("player ready\n")
            case "gmp":
                sys.stdout.buffer.write(b"\x01\xa3\xa0\x80")
                sys.stdout.flush()
                time.sleep(1000)
            case "exit-at-start":
                sys.exit(3)
            case "wrong-version":
                return "1"
        return "2"

    def do_name(self) -> str:
        return "Misbehaving"

    def do_version(self) -> str:
        return "Misbehaving 1.5"

    def do_known_command(self, command: str) -> str:
        if command == "gomill-genmove_ex":
            return "true" if self.fault == "claims" else "false"
        if command == "academy-expected_value":
            return "true"
        return "true" if hasattr(self, "do_" + command.replace("-", "_")) else "false"

    def do_boardsize(self, size: str) -> str:
        return "? out of wood" if self.fault == "refuses-set-up" else ""

    def do_clear_board(self) -> str:
        self.moves = 0
        return ""

    def do_time_settings(self, main: str, byo_yomi: str, stones: str) -> str:
        return ""

    def do_time_left(self, colour: str, seconds: str, stones: str) -> str:
        return ""

    def do_place_free_handicap(self, stones: str) -> str:
        return "A1 A1" if self.fault == "places-bad-stones" else "B2 D4"

    def do_gomill_genmove_ex(self, colour: str, *keywords: str) -> str:
        return "claim" if "claim" in keywords and self.moves else self.do_genmove(colour)

    def do_gomill_explain_last_move(self) -> str:
        return f"stone {self.moves}"

    def do_academy_expected_value(self) -> str:
        return {"bad-values": "1.5", "hopeless": "0.01", "two-values": "0.25 0.75"}.get(self.fault, "0.75")

    def do_gomill_cpu_time(self) -> str:
        self.cpu_time += 12.25
        return str(self.cpu_time)

    def do_final_score(self) -> str:
        if self.fault == "crash-at-score":
            os.abort()
        return "B+1.5"

    def do_play(self, colour: str, vertex: str) -> str:
        return {
            "rejects-moves": "? illegal move",
            "rejects-moves-with-reason": "? Illegal move: superko",
            "refuses-moves": "? out of memory",
        }.get(self.fault, "")

    def do_genmove(self, colour: str) -> str:
        self.moves += 1
        match self.fault:
            case "hang-in-genmove":
                time.sleep(1000)
            case "half-an-answer":
                self.write("= A1\n")
                time.sleep(1000)
            case "garbage-in-genmove":
                self.write("A1\n\n")
            case "exit-in-genmove" | "forking-and-exiting":
                print("no more stones", file=sys.stderr, flush=True)
                sys.exit(3)
            case "crash-in-genmove":
                os.kill(os.getpid(), signal.SIGSEGV)
            case "close-output":
                os.close(1)
                time.sleep(1000)
            case "flood-stderr":
                for _ in range(200):
                    os.write(2, (b"so much to say " * 50 + b"\n") * 20)
            case "flood-stdout":
                while True:
                    os.write(1, (b" " * 1023 + b"\n") * 64)
            case "huge-answer":
                return "A1 " * 1_000_000
            case "slow":
                time.sleep(0.3)
            case "illegal-move":
                return "A1"
            case "unreadable-move":
                return "A0"
            case "refuses-genmove":
                return "? no idea"
            case "memory-hog":
                self.memory = b"x" * (1 << 30)
            case "resigns":
                return "resign"
            case "passes":
                return "pass"
        return f"A{self.moves}" if self.moves <= 2 else "PASS"


Engine(sys.argv[1]).run()
