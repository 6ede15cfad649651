"""A sampling profile of a run: which calls take its processor time, and which part of hush they belong to.

While it is on, the stack of one thread is looked at every few milliseconds of processor time. Each look is worth the processor
time that the thread took since the look before, so that the looks add up to the whole: a long call of NumPy, or of compiled code,
is worth what it took.

A timer of the operating system asks for each look (SIGPROF), so idle time is not looked at. Python answers signals in the main
thread alone, so only that can be looked at. A thread that looked from outside would be let in where NumPy and the disk let other
threads go on, and would see little else.

It loads no NumPy: a profile of the command begins before anything is loaded.
"""

import signal
import sys
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass
from types import CodeType, FrameType
from typing import Any, Self

from scenarios.running.profile_rooms import ORDER, ROOMS, Call, call_of, decided

_EVERY_S = 0.002
"""Processor time between two looks; where the system's timer is coarser, it is that."""
_DEEPEST = 250
"""So many calls of a stack are kept, the innermost ones."""
BEGINNING = Call("python", "interpreter")
"""What was there before the profile: Python's own start, and reading the command line."""
Stack = tuple[Call, ...]
"""Calls, the innermost first."""


class NoProfile(RuntimeError):
    """There can be no profile here; the message says why, and what to do."""


@dataclass
class Share:
    """The looks at one stack."""

    looks: int = 0
    spent_ns: int = 0


@dataclass(frozen=True, slots=True)
class RoomShare:
    """What one room took."""

    name: str
    summary: str
    looks: int
    spent_s: float
    share: float
    """Of the processor time of all rooms, from 0 to 1."""


class Profile:
    """Looks at the main thread, from `start` to `stop`; `with Profile() as profile:` does both.

    With `from_birth`, what the process took before it counts, too, as start-up.
    """

    def __init__(self, *, from_birth: bool = False) -> None:
        self.stacks: dict[Stack, Share] = {}
        """What each stack of calls took; complete when the profile has stopped."""
        self._raw: dict[tuple[int, ...], Share] = {}
        """By the identities of the code of each call: to hash code itself takes long."""
        self._codes: dict[int, tuple[CodeType, str]] = {}
        """The code and the module of each identity; held here, no other code gets the same one."""
        self._from_birth = from_birth
        self._then_ns = 0
        self._looks_ns = 0
        self._runs = False
        self._former: Any = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Begin to look. Raises `NoProfile` in another thread than the main one, and where the system has no such timer."""
        if self._runs:
            raise RuntimeError("the profile has begun already")
        if threading.current_thread() is not threading.main_thread():
            raise NoProfile(
                "a profile looks at the main thread only: await run(…, profile=True) there"
            )
        if not hasattr(signal, "setitimer"):
            raise NoProfile("a profile needs a timer of processor time, which this system has not")
        self._runs = True
        if self._from_birth:
            self.stacks[BEGINNING,] = Share(0, time.process_time_ns())
        self._then_ns = time.thread_time_ns()
        self._former = signal.signal(signal.SIGPROF, self._look)
        signal.siginterrupt(signal.SIGPROF, False)  # calls of C libraries go on after it
        signal.setitimer(signal.ITIMER_PROF, _EVERY_S, _EVERY_S)

    def stop(self) -> None:
        """Look once more, so that nothing is missing, and look no more. Stopping twice is fine."""
        if not self._runs:
            return
        self._runs = False
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, self._former or signal.SIG_DFL)
        self.note(sys._getframe(1), time.thread_time_ns())  # noqa: SLF001 # the one way to a stack
        for codes, share in self._raw.items():
            calls = tuple(call_of(*self._codes[code]) for code in codes)
            kept = self.stacks.setdefault(calls, Share())
            kept.looks += share.looks
            kept.spent_ns += share.spent_ns
        self._raw.clear()
        self._codes.clear()

    def _look(self, _number: int, frame: FrameType | None) -> None:
        begun = time.thread_time_ns()
        self.note(frame, begun)
        after = time.thread_time_ns()
        self._looks_ns += after - begun
        self._then_ns = after

    def note(self, frame: FrameType | None, now_ns: int) -> None:
        """Count one look: the stack above `frame` took the processor time of the thread since the last look.

        A signal may come while another is handled: the outer look began before the inner one, and has nothing to add.
        """
        spent = max(0, now_ns - self._then_ns)
        self._then_ns = max(self._then_ns, now_ns)
        codes: list[int] = []
        known = self._codes
        while frame is not None and len(codes) < _DEEPEST:
            code = frame.f_code
            if id(code) not in known:
                known[id(code)] = code, str(frame.f_globals.get("__name__", ""))
            codes.append(id(code))
            frame = frame.f_back
        share = self._raw.setdefault(tuple(codes), Share())
        share.looks += 1
        share.spent_ns += spent

    # what it found

    @property
    def looks(self) -> int:
        """How often the thread was looked at."""
        return sum(share.looks for share in self.stacks.values())

    @property
    def spent_s(self) -> float:
        """The processor time of all looks, in seconds; that of looking is not part of it."""
        return sum(share.spent_ns for share in self.stacks.values()) / 1e9

    @property
    def own_s(self) -> float:
        """The processor time that looking took, in seconds."""
        return self._looks_ns / 1e9

    def rooms(self) -> list[RoomShare]:
        """Return what each room took, in the order of a run; rooms where nothing happened are left out.

        Raises `LookupError` for a module of hush that belongs to no room.
        """
        found: dict[str, Share] = {}
        for stack, share in self.stacks.items():
            mine = found.setdefault(room_of_stack(stack), Share())
            mine.looks += share.looks
            mine.spent_ns += share.spent_ns
        whole = sum(share.spent_ns for share in found.values()) or 1
        return [
            RoomShare(
                name,
                ROOMS[name].summary,
                found[name].looks,
                found[name].spent_ns / 1e9,
                found[name].spent_ns / whole,
            )
            for name in ORDER
            if name in found
        ]

    def folded(self) -> dict[tuple[str, ...], int]:
        """Return the microseconds of each stack: its room, then its calls, the outermost first.

        What called the engine is left out, and so are the command and the event loop above all else, and calls that Python
        makes to load a module. Stacks that took less than half a microsecond are not there.
        """
        found: dict[tuple[str, ...], int] = {}
        for stack, share in self.stacks.items():
            lines = (room_of_stack(stack), *_told(stack[: decided(stack).calls]))
            found[lines] = found.get(lines, 0) + share.spent_ns
        rounded = {lines: round(spent / 1000) for lines, spent in found.items()}
        return {lines: spent for lines, spent in sorted(rounded.items()) if spent}


def room_of_stack(stack: Stack) -> str:
    """Return the name of the room of a stack."""
    return decided(stack).room.name


def _told(stack: Stack) -> Iterable[str]:
    """Yield the calls of a stack as words, the outermost first."""
    calls = [call for call in reversed(stack) if not call.is_loading]
    below = (at for at, call in enumerate(calls) if not _is_above_all(call))
    for call in calls[next(below, 0) :]:
        yield call.module if call.function == "<module>" else f"{call.module}:{call.function}"


def _is_above_all(call: Call) -> bool:
    """Whether it is a call of the command, of the event loop or of the script that runs hush."""
    outside = not call.is_ours and call != BEGINNING
    return outside or call.module.startswith(("hush", "scenarios.command", "scenarios.api"))
