"""Workers of an existing Dask cluster, which must see the folder of the sweep."""

import logging
import threading
import warnings
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Future, InvalidStateError
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4

from scenarios.api.packages import required
from scenarios.language.problems import ScenarioError
from scenarios.records.run_folder import version
from scenarios.running.worker_processes import Workers

T = TypeVar("T")
_CONNECT_S, _PATIENCE_S = 5.0, 6.5
"""So long the client may try to connect, and so long it may take in all: it has no deadline for the first words of a scheduler."""
_WORKERS_S = 60.0
"""So long the workers may take to answer that they are there: they may have to import hush first."""
_LOOKS_S, _SILENT_S = 5.0, 15.0
"""The scheduler is asked so often whether it is there; one that does not answer for so long is lost."""
_CLOSE_S = 2.0
"""So long the client may take to say goodbye."""
_LOGS = tuple(map(logging.getLogger, ("distributed.client", "distributed.batched")))
"""They tell of a lost scheduler with tracebacks; hush says it in a sentence."""


class Cluster:
    """What a Dask cluster does at once: one piece of work for each worker process.

    Raises `ScenarioError` where there is no scheduler at the address, where it has no workers, or where one of them does
    not see `folder` or has another hush. `common` is what all work gets as its last argument; where it is `heavy`, it travels
    to each worker once. Where the scheduler is lost later, all that is under way ends with a `ScenarioError`, within 30 s.
    """

    def __init__(self, address: str, common: Any, folder: Path, *, heavy: bool) -> None:
        distributed = required("distributed", "--cluster", "hush-sim[dask]")
        # The finaliser of a client that never connected waits for 20 s and leaves a traceback; hush closes its own.
        client_class = type("Client", (distributed.Client,), {"__del__": lambda _: None})
        self._address, self._folder = address, folder
        self._flights: dict[Future[Any], Any] = {}
        """What is under way there; the cluster forgets what has no reference here."""
        self._is_over = threading.Event()
        self._lost: ScenarioError | None = None
        """What is raised once the scheduler is lost; None while it is there."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter(
                    "ignore"
                )  # other versions of packages that hush does not use there
                self._client: Any = _begun(
                    lambda: client_class(address, timeout=_CONNECT_S, set_as_default=False)
                ).result(_PATIENCE_S)
        except (OSError, ValueError, TypeError, TimeoutError, MemoryError) as error:
            # MemoryError: another program answers, and its first words were read as a length.
            said = f"no Dask scheduler answers there ({type(error).__name__})"
            raise ScenarioError.of(f"--cluster {address}", said) from None
        for log in _LOGS:
            log.disabled = True
        threading.Thread(target=self._watch, name="cluster-watch", daemon=True).start()
        try:
            self.jobs = self._refuse_strangers(address, folder)
            self._common = common
            if heavy:
                data = self._answer(
                    lambda: self._client.scatter([common], broadcast=True, hash=False)
                )
                self._common = data.result()[0]
        except BaseException:
            self.close()
            raise
        self._killed = distributed.scheduler.KilledWorker

    def _answer(self, act: Callable[[], T]) -> "Future[T]":
        """Have `act()` done by a thread; the future ends where the scheduler is lost, too."""
        here = _begun(act)
        self._flights[here] = None
        here.add_done_callback(lambda done: self._flights.pop(done, None))
        return here

    def _watch(self) -> None:
        """Ask the scheduler again and again whether it is there; tell all that is under way where it is not."""
        while not self._is_over.wait(_LOOKS_S):
            try:
                _begun(lambda: self._client.sync(self._client.scheduler.identity)).result(_SILENT_S)
            except Exception:  # noqa: BLE001 # whatever the client makes of a scheduler that is gone
                self._lose()
                return

    def _lose(self) -> ScenarioError:
        """Let all that is under way end: the scheduler is lost."""
        said = (
            "the scheduler is lost: it answers no more. Cells that finished are kept: "
            f"the same command with --out {self._folder} goes on with the others"
        )
        self._lost = ScenarioError.of(f"--cluster {self._address}", said)
        for here in list(self._flights):
            with suppress(InvalidStateError):
                here.set_exception(self._lost)
        return self._lost

    def _refuse_strangers(self, address: str, folder: Path) -> int:
        """Return the number of workers. Refuse workers that do not see the folder, or have another hush: what they write would be lost, or differ."""
        token = folder / f".token-{uuid4().hex}"
        token.write_text(version(), encoding="utf-8")
        try:
            answers = self._answer(
                lambda: self._client.run(_look, str(token), on_error="return")
            ).result(_WORKERS_S)
        except TimeoutError:
            said = f"some worker does not answer: not within {_WORKERS_S:.0f} s"
            raise ScenarioError.of(f"--cluster {address}", said) from None
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
            with suppress(InvalidStateError):  # it ended when the scheduler was lost
                if (
                    done.cancelled()
                ):  # the client does this to all futures when it loses the scheduler
                    here.set_exception(self._lost or self._lose())
                    return
                error = done.exception()
                if isinstance(error, self._killed):
                    here.set_exception(BrokenExecutor(str(error)))
                elif error is not None:
                    here.set_exception(error)
                else:
                    try:
                        here.set_result(done.result())
                    except OSError:  # between its end and its result the scheduler was lost
                        here.set_exception(self._lost or self._lose())

        self._flights[here] = there
        if self._lost is not None:
            raise self._lost
        there.add_done_callback(settle)
        return here

    def alone(self) -> Workers:
        """Return the cluster: it knows which piece of work killed its workers."""
        return self

    def renew(self) -> bool:
        """Do nothing: the cluster looks after its workers, and goes on with what the others do."""
        return False

    def close(self) -> None:
        """Cancel what is under way, and leave the cluster; one whose scheduler is lost is not waited for."""
        self._is_over.set()
        with suppress(TimeoutError):
            _begun(lambda: self._client.close(timeout=_CLOSE_S)).result(2 * _CLOSE_S)
            for log in _LOGS:
                log.disabled = False


def _begun(act: Callable[[], T]) -> "Future[T]":
    """Have `act()` done by a thread that nothing waits for when Python ends: its future may be given up."""
    future = Future[T]()

    def do() -> None:
        try:
            value = act()
        except BaseException as error:  # noqa: BLE001 # it is raised where the future is asked
            with suppress(InvalidStateError):
                future.set_exception(error)
        else:
            with suppress(InvalidStateError):
                future.set_result(value)

    threading.Thread(target=do, daemon=True).start()
    return future


def _look(token: str) -> str | None:
    """Return what the worker knows of hush; None where it does not see the file."""
    from scenarios.records.run_folder import version as mine

    path = Path(token)
    return mine() if path.is_file() else None
