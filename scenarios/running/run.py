"""A plan in, an outcome out: the composition root of every run."""

import asyncio
import math
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec
import numpy as np

from actors.events import Finished, Sampled, Started
from actors.faults.schedule import Script
from actors.log import Log
from clocks.clock import LAST, SAMPLE, Engine
from clocks.virtual import VirtualClock
from clocks.wall import WallClock
from scenarios.language.writer import to_toml
from scenarios.planning.blas_threads import OneThread
from scenarios.planning.metric_names import AT_END, per_node, split_metric
from scenarios.planning.plan import Plan
from scenarios.planning.run_size import extent
from scenarios.records.budget import Budget
from scenarios.records.release_fates import Fates
from scenarios.records.run_folder import SCHEMA, RunFolder, environment, version
from scenarios.records.summary import EXITS, summarise
from scenarios.records.world_facts import FILE, facts_of
from scenarios.running import compared_runs, final_report, world
from scenarios.running.control import RunGovernor, Signals
from scenarios.running.expectations import Claims, asks, value_of
from scenarios.running.gc_tuning import looked_for_rarely
from scenarios.running.metrics import Oracle
from scenarios.running.observers.checks import Checks
from scenarios.running.observers.invariants import InvariantBroken
from scenarios.running.observers.recorder import Recorder
from scenarios.running.observers.round_samples import RoundSamples
from scenarios.running.observers.traffic import Traffic
from scenarios.running.privacy_metrics import AtEnd

_PATIENCE_S, _THOUSANDS = 0.3, 2000
"""A screen gets so long to say that a run is being judged; so many agents take their time."""
FINE, BROKEN, DIVERGENT, DISK, INTERRUPTED = 0, 3, 5, 74, 130


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a run."""

    folder: Path
    code: int
    status: str
    summary: dict[str, Any]
    message: str = ""


class Run:
    """One run in the making: everything that a screen may look at."""

    @OneThread()
    def __init__(
        self,
        plan: Plan,
        folder: Path,
        governor: RunGovernor,
        speed: float,
        at_end: AtEnd = MappingProxyType({}),
    ) -> None:
        self.plan = plan
        self._at_end = at_end
        self.governor = governor
        self.speed = governor.speed if plan.engine == "virtual" else speed
        """The pace that it begins with; that of wall time it keeps."""
        self.clock: Engine = VirtualClock() if plan.engine == "virtual" else WallClock(speed)
        self.log = Log(self.clock)
        governor.count, governor.served = lambda: self.log.seq, lambda: self.clock.now
        self.members = world.build(plan, self.clock, self.log, self._end)
        self.agents = self.members.agents[: plan.size]
        self.server = self.members.agents[plan.size] if plan.server is not None else None
        ledgers = [agent.store.ledger for agent in self.agents]
        here = [node.present for node in plan.nodes] + [True] * (plan.seats - plan.size)
        follow = governor.looks or asks(plan, "staleness", "lag")
        self.traffic = Traffic(here, follow=follow)
        self.budget = Budget(plan, ledgers)
        self.checks = Checks(plan, self.members.agents, self.log, self.traffic)
        self.facts = facts_of(plan, self.members.agents, numerical=self.budget.is_live)
        self.fates = Fates(plan.size) if asks(plan, "epsilon.un") else None
        watchers = self.budget, self.traffic, self.fates
        self.oracle = Oracle(plan, self.members, self.clock, *watchers, at_end)
        self.claims = Claims(plan, self.agents)
        self.folder = RunFolder(folder, self._manifest())
        self.recorder = Recorder(folder, ledgers)
        self.last: Sampled | None = None
        self.others: dict[int, float] = {}
        self.script: Script | None = None
        self.amended = plan.resolved
        """The scenario in full, with what a hand did to it."""
        self.inputs: list[dict[str, Any]] = []
        """What a person did and is not written down yet."""
        self.steered = False
        self.between: list[Callable[[], object]] = [self._breathe]
        """What is called whenever the engine rests: the recorder first, then whoever looks at the run."""
        self.reason = "horizon"
        self.outcome: Outcome | None = None
        """What came of it, once that is written down."""
        self._begun = time.perf_counter()
        self._watch()

    def _manifest(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "status": "running",
            "steered_by_hand": False,
            "hush": version(),
            "scenario": self.plan.name,
            "seed": self.plan.seed,
            "engine": self.plan.engine,
            "environment": environment(),
            "digests": {},
        }

    def _watch(self) -> None:
        """The recorder folds first; what decides something is told at once."""
        self.log.collect(self.recorder.fold)
        self.log.collect(self.traffic.fold)
        if self.fates is not None:
            self.log.collect(self.fates.fold)
        self.log.watch(self.budget, Budget.kinds)
        for kind, check in self.checks.routes.items():
            self.log.watch(check, (kind,))
        self.log.watch(self._note_sample, (Sampled,))
        self.log.watch(self.claims, (Sampled,))
        self.claims.listen(self.log, self.metric)

    def _between_slices(self) -> None:
        for act in self.between:
            act()

    def _breathe(self) -> None:
        """Write what is collected when it is much, or half a second has passed."""
        if self.inputs:
            inputs, self.inputs = self.inputs, []
            self.recorder.note(inputs)
            if self.steered:  # whoever kills the run finds what was done to it
                self.folder.note(steered_by_hand=True)
                self.folder.write("resolved.toml", to_toml(self.amended).encode())
        if self.log.is_full or self.recorder.patience_is_over:
            self.log.drain()

    def _note_sample(self, event: Sampled) -> None:
        self.last = event

    def metric(self, name: str, node: int | None) -> float:
        """A metric as of the last sample; of a node where it is per node and not folded."""
        if self.last is None:
            return math.nan
        whose = None if split_metric(name)[1] else node
        if per_node(name) and (whose is None or whose >= self.plan.size):
            return math.nan
        return value_of(self.plan, {"metric": name, "node": whose}, self.last.values)

    def measure(self, name: str) -> list[float]:
        """A metric of every agent as of now: everything that happened is folded first."""
        self.log.drain()
        return self.oracle.measure(name)

    async def perform(self) -> Outcome:
        """Run to the end, whatever ends it, and leave a folder that says so."""
        with Signals(self.governor), OneThread():
            with looked_for_rarely(self.plan.size, looks=self.governor.looks):
                found = await self._go()
            self.outcome = self._conclude(*found)
        return self.outcome

    async def _go(self) -> tuple[str, int, str]:
        """Let time pass; return how it ended."""
        status, code = "finished", FINE
        try:
            self._write_scenario()
            self._open()
            with np.errstate(over="ignore", invalid="ignore"):
                await self.clock.run(self.plan.horizon, self.governor, self._between_slices)
            if self.governor.interrupted:
                status, code = "interrupted", INTERRUPTED
            elif self.governor.looks and self._ends_slowly:
                self.governor.stop("judged")
                await asyncio.sleep(_PATIENCE_S)
            self._close(status)
            if status == "finished":
                self.others = await compared_runs.others(self.plan, self._perform_beside)
        except InvariantBroken as broken:
            return "failed", BROKEN, f"an invariant broke: {broken}"
        except OSError as error:
            return "failed", DISK, self._disk(error)
        except asyncio.CancelledError:
            self._close("interrupted")
            self._conclude("interrupted", INTERRUPTED, "")
            raise
        except (Exception, SystemExit) as error:
            self._fail(error)
            raise
        finally:
            self.governor.stop("over")
            self.governor.upcoming = math.inf
        return status, code, ""

    def _fail(self, error: BaseException) -> None:
        """Leave a folder that says that the run failed, with what it holds: nothing is judged."""
        with suppress(OSError):
            self.log.drain()
            self.recorder.close()
            self.folder.finish(
                "failed", {}, self.recorder.hashes(), steered_by_hand=self.steered,
                message=f"{type(error).__name__}: {error}",
            )  # fmt: skip

    @property
    def _ends_slowly(self) -> bool:
        """Whether what is found at the end takes so long that a screen says so first."""
        compares = any(expect.get("compared_to") for expect in self.plan.expects)
        return compares or asks(self.plan, *AT_END) or self.plan.size >= _THOUSANDS

    def _write_scenario(self) -> None:
        self.folder.write("scenario.toml", self.plan.text.encode())
        self.folder.write("resolved.toml", to_toml(self.plan.resolved).encode())
        self.folder.write(FILE, msgspec.json.encode(self.facts))

    def _open(self) -> None:
        self.log.emit(Started, None, None, self.plan.name, self.plan.size)
        parts = self.plan, self.members, self.clock, self.log, self.measure, self.metric
        self.script = world.open_world(*parts, steerable=self.governor.steers)
        self.clock.spawn(self._sampler())
        stride = extent(self.plan).stride
        if stride:
            rounds = RoundSamples(self.plan, stride, self.clock, self._sample_round)
            self.log.watch(rounds, rounds.kinds)
        if self.plan.horizon is not None:
            self.clock.at(self.plan.horizon, LAST, lambda: self._end("horizon"))

    async def _sampler(self) -> None:
        instant = 0
        while self.plan.horizon is None or instant < self.plan.horizon:  # the end has its own
            await self.clock.sleep_until(instant, SAMPLE)
            self._sample(last=False)
            if self.plan.horizon is None and self.clock.idle:
                self._end("no wake can come")
                return
            instant += self.plan.sample_every

    def _sample(self, *, last: bool) -> None:
        self.members.settle(self.clock.now)
        self.log.drain()
        self.log.emit(Sampled, None, None, self.oracle.sample(last=last))

    def _sample_round(self) -> None:
        """Sample between two wakes: what has arrived is for its receiver to settle."""
        self.log.drain()
        self.log.emit(Sampled, None, None, self.oracle.sample())

    def _end(self, reason: str) -> None:
        """End the run when this instant is over."""
        if self.governor.stopped is None:
            self.reason = reason
            self.clock.at(self.clock.now, LAST, lambda: self.governor.stop(reason))

    def _close(self, status: str) -> None:
        """Sample once at the end, and judge."""
        self._breathe()
        self._sample(last=True)
        if status == "interrupted":
            self.reason = "interrupted"
        self.recorder.values(self.oracle.theta)
        for agent in self.members.agents:
            if agent.store.published is not None:
                self.recorder.values(agent.store.published)
        self.log.emit(Finished, None, None, self.reason)
        self.log.drain()

    def _disk(self, error: OSError) -> str:
        kept = self.recorder.bytes_written
        reason = error.strerror or str(error)
        return f"the disk took no more ({reason}); {kept:,} bytes of whole records were kept in {self.folder.path}"

    def _conclude(self, status: str, code: int, message: str) -> Outcome:
        complete = status == "finished"
        summary: dict[str, Any] = {}
        try:
            if code not in {DISK, BROKEN}:
                self.checks.finish(complete=complete)
                self.claims.finish(
                    self.last, complete=complete, others=self.others, why=self.oracle.why
                )
        except InvariantBroken as broken:
            status, code, message = "failed", BROKEN, f"an invariant broke: {broken}"
        try:
            if code != DISK:
                self.log.drain()
                summary = self._summary(status)
                final_report.write_end(self, summary)
        except OSError as error:
            status, code, message = "failed", DISK, self._disk(error)
        if code == FINE:
            code = EXITS[summary["verdict"]]
        self.recorder.close()
        digests = self.recorder.digests() if code != DISK else {}
        self.folder.finish(
            status, digests, self.recorder.hashes(), message=message, steered_by_hand=self.steered
        )
        return Outcome(self.folder.path, code, status, summary, message)

    def _summary(self, status: str) -> dict[str, Any]:
        if self.last is None:
            return {}
        values, plan = self.last.values, self.plan
        wall = time.perf_counter() - self._begun
        views = {
            v: float(self.budget.by(plan.privacy.accountant, v).max()) for v in plan.privacy.seen
        }
        more = {
            "ended_s": self.clock.now / 1e9,
            "ended_by": self.reason,
            "local": final_report.local(self, values),
            "accountant": self.budget.accountant_name(),
            "side_by_side": self.budget.side_by_side(),
            "views": views,
            "targets": self.claims.targets(),
            "judgements": self.claims.judgements,
            "steered": self.steered,
            "why": self.oracle.why,
            "invariants": final_report.invariants(self),
            "server": final_report.rounds(self),
            "faults": final_report.faults(self),
            "residual": final_report.residual(self),
            "wall_s": round(wall, 4),
            "updates_per_s": round(self.members.updates / wall, 1),
        }
        return summarise(plan, status, self.agents, values, more)

    async def _perform_beside(self, plan: Plan, folder: Path) -> Sampled | None:
        """Run a plan that this one is compared with."""
        return await perform(plan, folder, self._at_end)


async def perform(plan: Plan, folder: Path, at_end: AtEnd = MappingProxyType({})) -> Sampled | None:
    """Run a plan, and return its last sample; None where the run was cut off."""
    run = Run(plan, folder, RunGovernor(), math.inf, at_end)
    outcome = await run.perform()
    return None if outcome.status == "interrupted" else run.last
