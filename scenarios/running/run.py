"""A run: a simulation that is recorded in a folder and judged."""

import asyncio
import math
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec

from actors.events import Finished, Sampled
from clocks.virtual import VirtualClock
from clocks.wall import WallClock
from scenarios.language.writer import to_toml
from scenarios.planning.blas_threads import OneThread
from scenarios.planning.metric import Taken
from scenarios.planning.metric_names import metrics_of
from scenarios.planning.plan import Plan
from scenarios.planning.wake_paths import path_taken
from scenarios.records.data_card import card_of
from scenarios.records.ledger_export import export_ledger
from scenarios.records.run_folder import (
    DATA,
    MANIFEST,
    RESOLVED,
    SCENARIO,
    WORLD,
    RunFolder,
    first_manifest,
)
from scenarios.records.summary import EXITS, with_headline
from scenarios.records.world_facts import facts_of
from scenarios.running import compared_runs, run_report, sampling
from scenarios.running.control import RunGovernor, Signals
from scenarios.running.gc_tuning import rare_collections
from scenarios.running.journal import Journal
from scenarios.running.observers.invariants import InvariantBroken
from scenarios.running.observers.recorder import Recorder
from scenarios.running.run_observers import RunObservers
from scenarios.running.simulation import Simulation
from scenarios.running.snapshot import Rerun

_PATIENCE_S, _THOUSANDS = 0.3, 2000
"""A screen gets so long to show that a run is being judged; judging so many agents takes a noticeable time."""
FINE, BROKEN, DIVERGENT, DISK, INTERRUPTED = 0, 3, 5, 74, 130


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run left: its folder, the exit code, how it ended, and its summary (empty where nothing could be judged)."""

    folder: Path
    code: int
    status: str
    summary: dict[str, Any]
    message: str = ""
    """What went wrong, for a person; empty where nothing did."""


class Run(Simulation):
    """One run, with all that a screen may look at.

    `speed` is the pace of wall time, in simulated seconds per second; the governor paces simulated time. `rerun` holds the
    metrics that run the plan again (see `snapshot.Rerun`). Raises `FolderError` where the folder cannot be had.
    """

    @OneThread()
    def __init__(
        self,
        plan: Plan,
        folder: Path,
        governor: RunGovernor,
        speed: float,
        rerun: Rerun = MappingProxyType({}),
    ) -> None:
        is_virtual = plan.engine == "virtual"
        super().__init__(plan, VirtualClock() if is_virtual else WallClock(speed), governor)
        self.speed = governor.speed if is_virtual else speed
        """The pace at which the run begins; that of wall time it keeps."""
        self._rerun = rerun
        self.observers = RunObservers(self, rerun, follow=governor.looks)
        is_live = self.observers.budget.is_live
        self.facts = facts_of(plan, self.members.agents, numerical=is_live)
        self.folder = RunFolder(
            folder,
            first_manifest(plan.name, plan.seed, plan.engine, path_taken(plan)),
        )
        try:
            self.recorder = Recorder(folder)
        except OSError as error:
            said = f"the disk took no more ({error.strerror}), no record was begun"
            with suppress(OSError):
                self.folder.finish("failed", {}, {}, message=said)
            raise OSError(error.errno, said, str(folder)) from None
        self.log.subscribe(self.recorder, is_patient=True)
        self.observers.subscribe()
        self.journal = Journal(plan.resolved)
        self.between.insert(0, self._write_journal)
        self.outcome: Outcome | None = None
        """None until everything is written."""
        self._begun = time.perf_counter()

    async def perform(self) -> Outcome:
        """Run to the end, whatever ends it, and leave a folder that tells how it ended."""
        with Signals(self.governor), OneThread():
            with rare_collections(self.plan.size, watched=self.governor.looks):
                status, code, message, others = await self._live()
            self.outcome = self._conclude(status, code, message, others)
        return self.outcome

    async def _live(self) -> tuple[str, int, str, dict[int, float]]:
        """Let time pass; return status, exit code, message, and the values of other runs that expectations compare with."""
        others: dict[int, float] = {}
        status, code = "finished", FINE
        try:
            self._write_scenario()
            self.open(self.observers.measure, self.observers.metric, steerable=self.governor.steers)
            sampling.begin(self, self.observers)
            await self.advance()
            if self.governor.interrupted:
                status, code = "interrupted", INTERRUPTED
            elif self.governor.looks and self._ends_slowly:
                self.governor.stop("judged")
                await asyncio.sleep(_PATIENCE_S)
            self._close(status)
            if status == "finished":
                perform = partial(last_sample, rerun=self._rerun)
                others = await compared_runs.others(self.plan, perform)
        except InvariantBroken as broken:
            return "failed", BROKEN, _broken(broken), others
        except OSError as error:
            return "failed", DISK, self._disk(error), others
        except asyncio.CancelledError:
            self._close("interrupted")
            self._conclude("interrupted", INTERRUPTED, "", others)
            raise
        except (Exception, SystemExit) as error:
            self.fail(error)
            raise
        finally:
            self.governor.stop("over")
            self.governor.upcoming = math.inf
        return status, code, "", others

    @property
    def _ends_slowly(self) -> bool:
        """Whether judging takes so long that a screen shows first that it is done."""
        compares = any(expect.compared is not None for expect in self.plan.expects)
        again = any(m.taken is Taken.AGAIN for m in metrics_of(self.plan.wanted).values())
        return compares or again or self.plan.size >= _THOUSANDS

    def _write_scenario(self) -> None:
        self.folder.write(SCENARIO, self.plan.text.encode())
        self.folder.write(RESOLVED, to_toml(self.plan.resolved).encode())
        self.folder.write(WORLD, msgspec.json.encode(self.facts))
        self.folder.write(DATA, msgspec.json.encode(card_of(self.plan)))

    def _write_journal(self) -> None:
        """Write what a person did since the last slice."""
        journal = self.journal
        if not journal.unwritten:
            return
        inputs, journal.unwritten = journal.unwritten, []
        self.recorder.note(inputs)
        if journal.steered:  # a folder whose run is killed tells what was done to it
            self.folder.note(steered_by_hand=True)
            self.folder.write(RESOLVED, to_toml(journal.scenario).encode())

    def _close(self, status: str) -> None:
        """Take the last sample, and record the end."""
        self._write_journal()
        self.observers.sample(last=True)
        if status == "interrupted":
            self.reason = "interrupted"
        self.recorder.values(self.observers.snapshot.theta)
        for agent in self.members.agents:
            if agent.store.published is not None:
                self.recorder.values(agent.store.published)
        self.log.emit(Finished, None, None, self.reason)
        self.log.hand_over()

    def fail(self, error: BaseException) -> None:
        """Leave a folder that tells that the run failed, with what it holds: nothing is judged."""
        with suppress(OSError):
            self.log.hand_over()
            self.recorder.close()
            self.folder.finish(
                "failed",
                {},
                self.recorder.hashes(),
                steered_by_hand=self.journal.steered,
                message=f"{type(error).__name__}: {error}",
            )

    def _disk(self, error: OSError) -> str:
        kept = self.recorder.bytes_written
        reason = error.strerror or str(error)
        return f"the disk took no more ({reason}); {kept:,} bytes of whole records were kept in {self.folder.path}"

    def _conclude(self, status: str, code: int, message: str, others: dict[int, float]) -> Outcome:
        """Judge the run, and write what is written at the end."""
        observers, complete = self.observers, status == "finished"
        omitted = ""
        summary: dict[str, Any] = {}
        try:
            if code not in {DISK, BROKEN}:
                observers.checks.finish(complete=complete)
                why = observers.measurements.why
                observers.expectations.finish(
                    observers.last, complete=complete, others=others, why=why
                )
        except InvariantBroken as broken:
            status, code, message = "failed", BROKEN, _broken(broken)
        try:
            if code != DISK:
                self.log.hand_over()
                self.recorder.synchronise()
                omitted = export_ledger(self.folder, self.recorder.record)
                summary = self._summary(status)
                resolved = with_headline(self.journal.scenario, summary)
                models = run_report.models(self.plan, self.members)
                self.folder.write_end(summary, resolved, models)
        except OSError as error:
            status, code, message = "failed", DISK, self._disk(error)
        if code == FINE:
            code = EXITS[summary["verdict"]]
        digests = self.recorder.digests() if code != DISK else {}
        notes = {"ledger": omitted} if omitted else {}
        try:
            self.recorder.close()
            self.folder.finish(
                status,
                digests,
                self.recorder.hashes(),
                message=message,
                steered_by_hand=self.journal.steered,
                **notes,
            )
        except OSError as error:
            status, code = "failed", DISK
            message = f"{self._disk(error)}; not even {MANIFEST} could be written: the folder reads as running, as a run that was killed"
        return Outcome(self.folder.path, code, status, summary, message)

    def _summary(self, status: str) -> dict[str, Any]:
        """Return the report of the run; empty where it has no sample."""
        last, steered = self.observers.last, self.journal.steered
        if last is None:
            return {}
        wall = time.perf_counter() - self._begun
        ending = run_report.Ending(status, self.reason, self.clock.now, wall, steered)
        return run_report.report(self.plan, self.members, self.observers, last.values, ending)


def _broken(error: InvariantBroken) -> str:
    return f"an invariant broke: {error}"


async def last_sample(
    plan: Plan, folder: Path, rerun: Rerun = MappingProxyType({})
) -> Sampled | None:
    """Run a plan, and return its last sample; None where the run was interrupted."""
    run = Run(plan, folder, RunGovernor(), math.inf, rerun)
    outcome = await run.perform()
    return None if outcome.status == "interrupted" else run.observers.last
