"""Workers of an existing Dask cluster, which must see the folder of the sweep."""

import warnings
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Future
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4

from scenarios.api.packages import required
from scenarios.language.problems import ScenarioError
from scenarios.records.run_folder import version
from scenarios.running.worker_processes import Workers

T = TypeVar("T")
_PATIENCE_S = 10
"""So long the scheduler may take to answer."""


class Cluster:
    """What a Dask cluster does at once: one piece of work for each worker process.

    Raises `ScenarioError` where there is no scheduler at the address, where it has no workers, or where one of them does
    not see `folder` or has another hush. `common` is what all work gets as its last argument; where it is `heavy`, it travels
    to each worker once.
    """

    def __init__(self, address: str, common: Any, folder: Path, *, heavy: bool) -> None:
        distributed = required("distributed", "--cluster", "hush-sim[dask]")
        # The finaliser of a client that never connected waits for 20 s and leaves a traceback; hush closes its own.
        client_class = type("Client", (distributed.Client,), {"__del__": lambda _: None})
        try:
            with warnings.catch_warnings():
                warnings.simplefilter(
                    "ignore"
                )  # other versions of packages that hush does not use there
                self._client = client_class(address, timeout=_PATIENCE_S, set_as_default=False)
        except (OSError, ValueError, TypeError, TimeoutError, MemoryError) as error:
            # MemoryError: another program answers, and its first words were read as a length.
            said = f"no Dask scheduler answers there ({type(error).__name__})"
            raise ScenarioError.of(f"--cluster {address}", said) from None
        try:
            self.jobs = self._refuse_strangers(address, folder)
            self._common = common
            if heavy:
                self._common = self._client.scatter([common], broadcast=True, hash=False)[0]
        except BaseException:
            self._client.close()
            raise
        self._killed = distributed.scheduler.KilledWorker
        self._flights: dict[Future[Any], Any] = {}
        """What is under way there; the cluster forgets what has no reference here."""

    def _refuse_strangers(self, address: str, folder: Path) -> int:
        """Return the number of workers. Refuse workers that do not see the folder, or have another hush: what they write would be lost, or differ."""
        token = folder / f".token-{uuid4().hex}"
        token.write_text(version(), encoding="utf-8")
        try:
            answers = self._client.run(_look, str(token), on_error="return")
        finally:
            token.unlink()
        if not answers:
            raise ScenarioError.of(f"--cluster {address}", "the cluster has no workers")
        for worker, answer in answers.items():
            if isinstance(answer, BaseException):
                said = f"worker {worker} has no hush that can be used ({type(answer).__name__})"
            elif answer is None:
                said = f"worker {worker} does not see {folder}: the folder of a sweep must be one that all workers share"
            elif answer != version():
                said = f"worker {worker} has hush {answer}, here is {version()}"
            else:
                continue
            raise ScenarioError.of(f"--cluster {address}", said)
        return len(answers)

    def submit(self, act: Callable[..., T], *arguments: Any) -> "Future[T]":
        """Have `act(*arguments, common)` called by a worker; the cluster tries again by itself where one is killed."""
        there = self._client.submit(act, *arguments, self._common, pure=False)
        here = Future[T]()

        def settle(done: Any) -> None:
            self._flights.pop(here, None)
            if here.cancelled() or done.cancelled():
                here.cancel()
                return
            error = done.exception()
            if error is None:
                here.set_result(done.result())
            elif isinstance(error, self._killed):
                here.set_exception(BrokenExecutor(str(error)))
            else:
                here.set_exception(error)

        self._flights[here] = there
        there.add_done_callback(settle)
        return here

    def alone(self) -> Workers:
        """Return the cluster: it knows which piece of work killed its workers."""
        return self

    def renew(self) -> bool:
        """Do nothing: the cluster looks after its workers, and goes on with what the others do."""
        return False

    def close(self) -> None:
        """Cancel what is under way, and leave the cluster."""
        self._client.close()


def _look(token: str) -> str | None:
    """Return what the worker knows of hush; None where it does not see the file."""
    from scenarios.records.run_folder import version as mine

    path = Path(token)
    return mine() if path.is_file() else None
