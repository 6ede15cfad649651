"""A program that shares work out, meets workers of some kind when all is done, and ends in some way.

It takes how the work is shared out, what the workers do at the end, and how the program ends.
"""

import os
import signal
import sys
import time
from contextlib import closing
from typing import Any

from scenarios.running.worker_processes import Processes, shared_out

LONG = b"x" * 300_000
"""More than a pipe holds."""


def pid(_: bytes = b"", common: Any = None) -> int:
    """Tell of the worker, a little later, so that each has some work."""
    del common
    time.sleep(0.05)
    return os.getpid()


def endless(_: bytes, common: Any = None) -> None:
    """Work for ever, and heed no signal that can be ignored."""
    del common
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    while True:
        time.sleep(1)


def meet(workers: Processes, pids: set[int], what: str) -> None:
    """Bring the workers into a state."""
    match what:
        case "wait":
            pass
        case "are stopped":
            for one in pids:
                os.kill(one, signal.SIGSTOP)
        case "are stopped before a full queue":
            meet(workers, pids, "are stopped")
            for _ in range(20):
                workers.submit(pid, LONG)
        case "work for ever":
            for _ in range(4):
                workers.submit(endless, b"")
            time.sleep(0.3)
        case "cannot be listed":
            meet(workers, pids, "are stopped")  # their pool lists their children by psutil or pgrep
        case "are out of sight":
            workers._pool._processes.clear()  # what a fault of the pool would leave
        case _:
            raise NotImplementedError(what)


def end(how: str) -> None:
    """Begin to end the program."""
    match how:
        case "normally":
            pass
        case "by an error":
            raise ValueError("an error")
        case "SIGINT":
            os.kill(os.getpid(), signal.SIGINT)
        case _:
            raise NotImplementedError(how)


def main(shares: str, what: str, how: str) -> None:
    """Share work out, tell who the workers are, and end."""
    if shares == "Processes":
        with closing(Processes(2)) as workers:
            pids = {f.result() for f in [workers.submit(pid, b"") for _ in range(12)]}
            _tell(pids)
            meet(workers, pids, what)
            end(how)
        return
    pids = set()
    with closing(shared_out(pid, ((b"",) for _ in range(12)), 2)) as made:
        for one in made:
            pids.add(one)
            if len(pids) == 2 and what == "are stopped":
                break
        _tell(pids)
        if what == "are stopped":
            for one in pids:
                os.kill(one, signal.SIGSTOP)
        end(how)


def _tell(pids: set[int]) -> None:
    sys.stdout.write(f"{' '.join(map(str, pids))}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    if sys.argv[2] == "cannot be listed":
        sys.modules["psutil"] = None  # type: ignore[assignment] # as where it is not installed
        os.environ["PATH"] = "/nowhere"
    try:
        main(*sys.argv[1:])
    except (ValueError, KeyboardInterrupt) as ending:
        sys.exit(type(ending).__name__)
