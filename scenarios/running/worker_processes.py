"""Shares work out over processes that end when this one ends, however it ends."""

import os
import signal
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

T = TypeVar("T")
_LOOKS_S = 0.1
"""How often a worker looks whether its parent is still there."""
_OF_THE_TERMINAL = [
    getattr(signal, name) for name in ("SIGINT", "SIGHUP", "SIGQUIT") if hasattr(signal, name)
]
INTERRUPTED = 130


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
