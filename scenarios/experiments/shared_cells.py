"""Shares the cells of a sweep out over workers: batches of tiny ones, and no worker that is killed ends the sweep."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from math import ceil

from scenarios.experiments.cells import USAGE, Done, Table, Work, finished, run_cells
from scenarios.running.worker_processes import INTERRUPTED, Workers

_BATCH_S, _LARGEST = 0.4, 64
"""A batch takes about so long, and has at most so many cells."""
_AHEAD = 2
"""So many batches are under way for each worker: one runs, one waits."""
KILLED = "its worker was killed twice while it ran, perhaps for want of memory"


class SharedCells:
    """Runs cells on workers and tells of each as it is done, in whatever order.

    Batches grow with what is learnt of how long a cell takes. It is used for one lot of cells after the other.
    """

    def __init__(self, workers: Workers, table: Table) -> None:
        self._workers = workers
        self._table = table
        self._waiting = deque[Work]()
        self._flights: dict[Future[list[Done]], list[Work]] = {}
        self._spent = 0.0
        self._done = 0

    def results(self, work: Iterable[Work]) -> Iterator[tuple[Work, Done]]:
        """Yield each cell with what became of it. Raises `KeyboardInterrupt` where one was interrupted."""
        self._waiting.extend(work)
        while self._waiting or self._flights:
            lost = self._start()
            if self._flights and not lost:
                ready, _ = wait(self._flights, return_when=FIRST_COMPLETED)
                for future in ready:
                    batch = self._flights.pop(future)
                    try:
                        rows = future.result()
                    except BrokenExecutor:
                        lost += batch
                        continue
                    yield from self._tell(batch, rows)
            if lost:
                yield from self._after_a_death(lost)

    def _start(self) -> list[Work]:
        """Keep the workers busy; return cells whose workers were found dead."""
        while self._waiting and len(self._flights) < self._most:
            batch = self._batch()
            try:
                future = self._workers.submit(run_cells, batch, self._table)
            except BrokenExecutor:
                return batch
            self._flights[future] = batch
        return []

    @property
    def _most(self) -> int:
        return 1 if self._workers.jobs == 1 else _AHEAD * self._workers.jobs

    def _batch(self) -> list[Work]:
        """Take so many cells that they keep a worker busy for a while, and leave the others enough."""
        size = 1
        if self._done and self._workers.jobs > 1:
            mean = max(1e-4, self._spent / self._done)
            share = ceil(len(self._waiting) / (_AHEAD * self._workers.jobs))
            size = max(1, min(int(_BATCH_S / mean), _LARGEST, share))
        return [self._waiting.popleft() for _ in range(min(size, len(self._waiting)))]

    def _tell(self, batch: Sequence[Work], rows: Sequence[Done]) -> Iterator[tuple[Work, Done]]:
        for work, done in zip(batch, rows, strict=False):
            self._done += 1
            self._spent += done.work_s
            if done.code == INTERRUPTED:
                raise KeyboardInterrupt
            yield work, done

    def _after_a_death(self, lost: list[Work]) -> Iterator[tuple[Work, Done]]:
        """Go on after a worker was killed: what had not begun waits again, what had begun is run again, alone.

        Alone, one after the other: it is then known whose worker is killed, and each has the memory for itself.
        """
        if self._workers.renew():
            for batch in self._flights.values():
                lost += batch
            self._flights.clear()
        suspects = list[Work]()
        for work in lost:
            done = finished(work.path, self._table)
            if done is not None:
                yield work, done
            elif work.path.exists():
                suspects.append(work)
            else:
                self._waiting.appendleft(work)
        for work in suspects:
            yield from self._tell([work], [self._alone(work)])

    def _alone(self, work: Work) -> Done:
        workers = self._workers.alone()
        try:
            return workers.submit(run_cells, [work], self._table).result()[0]
        except BrokenExecutor:
            return Done("killed", USAGE, message=KILLED)
        finally:
            if workers is not self._workers:
                workers.close()
