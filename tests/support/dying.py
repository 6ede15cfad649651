"""Runs that die at an act of their own choice: before one write, rename or new folder, or in the middle of a write.

Run as a program it performs one small world in a process of its own for each way to die, and leaves the folders.
"""

import asyncio
import io
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from scenarios.api.runs import make_plan
from scenarios.running.control import RunGovernor
from scenarios.running.run import Run

DEAD = 9


class Death:
    """Counts what a process does to a disk, and ends the process at one act of it; −1 is never."""

    def __init__(self, at: int, *, torn: bool) -> None:
        self.at = at
        self.torn = torn
        self.acts = 0

    def due(self) -> bool:
        """Count one more act; whether it is the last."""
        self.acts += 1
        return self.acts == self.at

    def before(self, act: Callable[..., Any]) -> Callable[..., Any]:
        """Return an act that is not done any more when it is the last."""

        def done(*arguments: Any, **named: Any) -> Any:
            if self.due():
                os._exit(DEAD)
            return act(*arguments, **named)

        return done

    def within(self, write: Callable[[int, bytes], int]) -> Callable[[int, bytes], int]:
        """Return a write to a descriptor of which the last is done by half, where deaths are torn."""

        def written(file: int, data: bytes) -> int:
            if self.due():
                if self.torn:
                    write(file, data[: len(data) // 2])
                os._exit(DEAD)
            return write(file, data)

        return written

    def opening(self, opened: Callable[..., Any]) -> Callable[..., Any]:
        """Return an `open` whose files count their writes."""

        def file(path: Any, mode: str = "r", *arguments: Any, **named: Any) -> Any:
            found = opened(path, mode, *arguments, **named)
            return _Mortal(found, self) if set(mode) & set("wax+") else found

        return file


class _Mortal:
    """A file whose writes count."""

    def __init__(self, file: Any, death: Death) -> None:
        self._file = file
        self._death = death

    def write(self, data: Any) -> Any:
        if self._death.due():
            if self._death.torn:
                self._file.write(data[: len(data) // 2])
                self._file.flush()
            os._exit(DEAD)
        return self._file.write(data)

    def __enter__(self) -> "_Mortal":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


def perform(world: dict[str, Any], folder: Path, death: Death) -> None:
    """Run a world under a death."""
    plan = make_plan(world)
    os.write = death.within(os.write)  # type: ignore[assignment]
    os.replace = death.before(os.replace)
    os.rename = death.before(os.rename)
    os.ftruncate = death.before(os.ftruncate)
    os.mkdir = death.before(os.mkdir)
    io.open = death.opening(io.open)
    run = Run(plan, folder, RunGovernor(), 1e12)
    asyncio.run(run.perform())


def main(arguments: list[str]) -> None:
    """Take a file with the world, a folder, and every how-manieth act to die at; print how many acts there are."""
    world, place, stride = (
        json.loads(Path(arguments[0]).read_text()),
        Path(arguments[1]),
        int(arguments[2]),
    )
    reader, writer = os.pipe()
    _forked(lambda death: perform(world, place / "whole", death), Death(-1, torn=False), writer)
    acts = int(os.read(reader, 100))
    for at in range(1, acts + 1, stride):
        for torn in (False, True):
            name = f"{at:04d}{'-torn' if torn else ''}"
            _forked(lambda death, n=name: perform(world, place / n, death), Death(at, torn=torn))  # type: ignore[misc]
    sys.stdout.write(f"{acts}\n")


def _forked(act: Callable[[Death], None], death: Death, tell: int | None = None) -> None:
    """Act in a process of its own, and wait for its end; tell how many acts it did."""
    child = os.fork()
    if not child:
        wrote = os.write
        try:
            act(death)
            if tell is not None:
                wrote(tell, str(death.acts).encode())
        except BaseException:  # noqa: BLE001 # a child must not go on as its parent
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if os.waitstatus_to_exitcode(status) not in {0, DEAD}:
        raise RuntimeError(f"a run that was to die at act {death.at} broke instead")


if __name__ == "__main__":
    main(sys.argv[1:])
