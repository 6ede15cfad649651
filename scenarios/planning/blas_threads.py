"""One BLAS thread while a plan is made and while it runs: with more, sums are taken in another order."""

import threading
from contextlib import ContextDecorator
from typing import ClassVar

from threadpoolctl import threadpool_info, threadpool_limits


class OneThread(ContextDecorator):
    """Hold every loaded BLAS library at one thread; the last one that is left restores what was before.

    It is held from wherever a run starts: the command sets environment variables before NumPy loads,
    but a Python script has loaded NumPy already. Runs may overlap (two side by side, or several
    awaited together), so that entries are counted: the limit is lifted when none is left.
    """

    _lock: ClassVar[threading.Lock] = threading.Lock()
    _inside: ClassVar[int] = 0
    _former: ClassVar[list[threadpool_limits]] = []
    """The counts at each entry: a library that was loaded between two entries is known to the second only."""

    def __enter__(self) -> None:
        with self._lock:
            # Set anew each time: a library may have been loaded since, and OpenMP counts per thread.
            self._former.append(threadpool_limits(limits=1, user_api="blas"))
            OneThread._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            OneThread._inside -= 1
            while OneThread._inside == 0 and self._former:
                self._former.pop().restore_original_limits()


def blas_threads() -> int | None:
    """Return how many threads BLAS may use now, the most of any library; None where no library says so."""
    counts = [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]
    return max(counts, default=None)
