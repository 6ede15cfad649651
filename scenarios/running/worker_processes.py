"""Shares work out over processes that end when this one ends, however it ends."""

import os
import signal
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future
from contextlib import closing, contextmanager, suppress
from functools import partial
from typing import Any, Protocol, TypeVar

T = TypeVar("T")
_LOOKS_S = 0.1
"""How often a worker looks whether its parent is still there."""
_OF_THE_TERMINAL = [
    getattr(signal, name) for name in ("SIGINT", "SIGHUP", "SIGQUIT") if hasattr(signal, name)
]
_KILL = getattr(signal, "SIGKILL", signal.SIGTERM)
_DIES_S = 5.0
"""So long a process that was killed may take to be gone; one that sleeps in the kernel dies when it wakes."""
_ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
INTERRUPTED = 130


class Workers(Protocol):
    """What does work elsewhere: processes of this machine, or of a cluster."""

    jobs: int
    """How many pieces of work are done at once."""

    def submit(self, act: Callable[..., T], *arguments: Any) -> "Future[T]":
        """Have `act(*arguments, common)` called; the future raises `BrokenExecutor` where its worker was killed."""
        ...

    def alone(self) -> "Workers":
        """Return workers of which one works at a time, for work that may kill its worker."""
        ...

    def renew(self) -> bool:
        """Go on with fresh workers, after one was killed; return whether all that was under way is lost."""
        ...

    def close(self) -> None:
        """End the workers at once, in the middle of what they do."""
        ...


class Here:
    """Does work in this process, when it is submitted; `common` is what all work gets as its last argument."""

    jobs = 1

    def __init__(self, common: Any = None) -> None:
        self._common = common

    def submit(self, act: Callable[..., T], *arguments: Any) -> "Future[T]":
        """Call `act(*arguments, common)` now."""
        future = Future[T]()
        future.set_result(act(*arguments, self._common))
        return future

    def alone(self) -> Workers:
        """Return these workers: there is one."""
        return self

    def renew(self) -> bool:
        """Do nothing: this process is not replaced."""
        return False

    def close(self) -> None:
        """Do nothing: nothing is under way."""


class Processes:
    """So many processes of this machine, each with one BLAS thread. They start with the first piece of work.

    `common` is what all work gets as its last argument; it travels to each process once.
    """

    def __init__(self, jobs: int, common: Any = None) -> None:
        self.jobs = jobs
        self._common = common
        self._pool: Any = None
        self._started: list[Any] = []
        """The processes of the pool, whatever the pool knows of them."""

    def submit(self, act: Callable[..., T], *arguments: Any) -> "Future[T]":
        """Have `act(*arguments, common)` called by a process."""
        task: Future[T]
        if self._pool is None:
            from joblib.externals.loky import ProcessPoolExecutor

            # A worker that has grown is replaced by loky, which warns of it from a thread of its own; no work is lost.
            warnings.filterwarnings("ignore", "A worker stopped while some jobs", UserWarning)
            begin = (os.getpid(), self._common)
            self._pool = ProcessPoolExecutor(
                self.jobs,
                context=_recording(self._started),
                initializer=_begin,
                initargs=begin,
                env=_ONE_THREAD,
            )
            with _signals_blocked():
                task = self._pool.submit(_with_common, act, arguments)
        else:
            task = self._pool.submit(_with_common, act, arguments)
        return task

    def alone(self) -> Workers:
        """Return one process more, for work that may kill its worker."""
        return Processes(1, self._common)

    def renew(self) -> bool:
        """Let a broken pool go; the next piece of work starts another."""
        self.close()
        return True

    def close(self) -> None:
        """End the processes at once, whatever they do: stopped, waiting, or out of the pool's sight.

        One that stayed would be waited for when Python ends, for ever.
        """
        pool, self._pool = self._pool, None
        if pool is None:
            return
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # work was cancelled: it was to be
                self._kill()
                pool.shutdown(wait=True, kill_workers=True)
        finally:
            self._kill()  # also what the pool began meanwhile, in place of a worker that had grown
            self._started.clear()

    def _kill(self) -> None:
        begun = [process for process in list(self._started) if process.pid is not None]
        for process in begun:
            # Loky calls `kill` where there is neither psutil nor pgrep, and its processes have none.
            process.kill = partial(_kill, process)
            process.kill()
        for process in begun:
            process.join(_DIES_S)


def _kill(process: Any) -> None:
    """Kill a process that has started, unless it has ended."""
    if process.exitcode is None:
        with suppress(ProcessLookupError):
            os.kill(process.pid, _KILL)


def _recording(started: list[Any]) -> Any:
    """Return a context of loky that adds each process to a list before it starts."""
    from joblib.externals.loky.backend.context import LokyContext

    class Recording(LokyContext):  # type: ignore[misc] # loky has no types
        def Process(self, **settings: Any) -> Any:  # noqa: N802 # as loky calls it
            started.append(LokyContext.Process(**settings))
            return started[-1]

    return Recording()


def shared_out(
    act: Callable[..., T], tasks: Iterable[tuple[Any, ...]], jobs: int, common: Any = None
) -> Generator[T, None, None]:
    """Yield `act(*task, common)` for each task, in order, from so many processes; one process is this one.

    Where the generator ends, is closed, or is left by an exception, the workers are ended at once. Where this
    process is killed, they end by themselves within a fraction of a second, in the middle of what they do.
    """
    if jobs <= 1:
        for task in tasks:
            yield act(*task, common)
        return
    with closing(Processes(jobs, common)) as workers:
        flights = deque(workers.submit(act, *task) for task in tasks)
        while flights:
            yield flights.popleft().result()


def checksum(value: Any) -> str:
    """Return a checksum of anything that can travel to another process; arrays and frames go by their content."""
    from joblib import hash as checksum_of

    return str(checksum_of(value, hash_name="sha1"))


@contextmanager
def _signals_blocked() -> Iterator[None]:
    """Start processes that get no signals of the terminal: Ctrl-C goes to all processes, and only this one answers.

    A signal that is blocked stays blocked in a child, even while that imports and has no handler yet;
    what comes meanwhile waits until the mask is lifted here. The resource trackers are started before,
    because starting one lifts the mask.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker

    from joblib.externals.loky.backend import resource_tracker as of_loky

    resource_tracker.ensure_running()
    of_loky.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _OF_THE_TERMINAL)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _in_worker(parent: int, act: Callable[..., T], task: tuple[Any, ...]) -> T:
    """Do one task in a worker; the first one sets a watch on the parent."""
    if not _watches:
        watch = threading.Thread(target=_watch, args=(parent,), name="parent-watch", daemon=True)
        watch.start()
        _watches.append(watch)
    return act(*task)


def _begin(parent: int, common: Any) -> None:
    """Prepare a worker: it ends with its parent, and keeps what all work shares."""
    _in_worker(parent, _shared.append, (common,))


def _with_common(act: Callable[..., T], task: tuple[Any, ...]) -> T:
    return act(*task, _shared[-1])


_watches: list[threading.Thread] = []
_shared: list[Any] = []
"""What all work of this worker shares."""


def _watch(parent: int) -> None:
    """End this process when its parent is gone: then another process has adopted it."""
    while os.getppid() == parent:
        time.sleep(_LOOKS_S)
    os._exit(INTERRUPTED)
