"""Shares work out over processes that end when this one ends, however it ends."""

import os
import signal
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

T = TypeVar("T")
_LOOKS_S = 0.1
"""How often a worker looks whether its parent is still there."""
_OF_THE_TERMINAL = [
    getattr(signal, name) for name in ("SIGINT", "SIGHUP", "SIGQUIT") if hasattr(signal, name)
]
_ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
INTERRUPTED = 130


class Workers(Protocol):
    """What does work elsewhere: processes of this machine, or of a cluster."""

    jobs: int
    """How many pieces of work are done at once."""

    def submit(self, act: Callable[..., T], *arguments: Any) -> "Future[T]":
        """Have `act(*arguments)` called; the future raises `BrokenExecutor` where its worker was killed."""
        ...

    def renew(self) -> None:
        """Go on with fresh workers, after one was killed: what was under way is lost."""
        ...

    def close(self) -> None:
        """End the workers at once, in the middle of what they do."""
        ...


class Here:
    """Does work in this process, when it is submitted."""

    jobs = 1

    def submit(self, act: Callable[..., T], *arguments: Any) -> "Future[T]":
        """Call `act(*arguments)` now."""
        future = Future[T]()
        future.set_result(act(*arguments))
        return future

    def renew(self) -> None:
        """Do nothing: this process is not replaced."""

    def close(self) -> None:
        """Do nothing: nothing is under way."""


class Processes:
    """So many processes of this machine, each with one BLAS thread. They start with the first piece of work."""

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs
        self._pool: Any = None

    def submit(self, act: Callable[..., T], *arguments: Any) -> "Future[T]":
        """Have `act(*arguments)` called by a process."""
        if self._pool is None:
            from joblib.externals.loky import ProcessPoolExecutor

            self._pool = ProcessPoolExecutor(self.jobs, env=_ONE_THREAD)
            with _signals_blocked():
                future = self._pool.submit(_in_worker, os.getpid(), act, arguments)
        else:
            future = self._pool.submit(_in_worker, os.getpid(), act, arguments)
        made: Future[T] = future
        return made

    def renew(self) -> None:
        """Let a broken pool go; the next piece of work starts another."""
        self.close()

    def close(self) -> None:
        """End the processes at once."""
        pool, self._pool = self._pool, None
        if pool is not None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # work was cancelled: it was to be
                pool.shutdown(wait=True, kill_workers=True)


def shared_out(
    act: Callable[..., T], tasks: Iterable[tuple[Any, ...]], jobs: int
) -> Generator[T, None, None]:
    """Yield `act(*task)` for each task, in order, from so many processes; one process is this one.

    Where the generator is closed, or an exception leaves it, the workers are ended at once. Where this
    process is killed, they end by themselves within a fraction of a second, in the middle of what they do.
    """
    if jobs <= 1:
        for task in tasks:
            yield act(*task)
        return
    from joblib import Parallel, delayed

    work = (delayed(_in_worker)(os.getpid(), act, task) for task in tasks)
    with _signals_blocked():
        results = Parallel(n_jobs=jobs, return_as="generator")(work)
    try:
        yield from results
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore"
            )  # joblib says that tasks were cancelled: they were to be
            results.close()


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


_watches: list[threading.Thread] = []


def _watch(parent: int) -> None:
    """End this process when its parent is gone: then another process has adopted it."""
    while os.getppid() == parent:
        time.sleep(_LOOKS_S)
    os._exit(INTERRUPTED)
