"""Ledgers survive what is done to their agents; recomposed from the files they are the same, and the cap held."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from actors.agent import Agent
from mechanisms.accounting.compose import headline
from mechanisms.accounting.loss import tally
from scenarios.api.result import Result
from scenarios.api.runs import make_plan
from scenarios.records.recomputed_privacy import fates_of
from scenarios.running.control import RunGovernor
from scenarios.running.run import Run
from tests.support.builders import Ran, private

CAP = {"epsilon": 2.0, "delta": 1e-5}
KINDS: dict[str, dict[str, Any]] = {
    "cd": {"kind": "cd", "noise": "norm-gamma", "releases": 12},
    "dvp": {"kind": "dvp", "releases": 12},
    "pvp": {"kind": "pvp", "releases": 12},
}
Sabotage = Callable[[Run], None]


def sabotaged(
    name: str,
    calibrate: str,
    sabotage: Sabotage,
    folder: Path,
    fault: dict[str, Any] | None = None,
) -> Ran:
    """Run a small world in which somebody interferes by the agents' public verbs."""
    regularised = {"l2": 0.1} if name == "cd" else {}
    tree = private(
        mechanism=KINDS[name],
        task=regularised,
        nodes=[{"name": "peers", "count": 4, "budget": CAP}],
        privacy={"calibrate": calibrate},
        run={"seed": 5, "horizon": 40.0, "sample_every": 10.0},
        fault=[{"at": 0.5, "for": 0.5, "crash": [3]}] if fault is None else [fault],
    )
    run = Run(make_plan(tree, path="events"), folder / "run", RunGovernor(), 1e12)
    sabotage(run)
    return Ran(run, asyncio.run(run.perform()))


def holds(ran: Ran) -> None:
    """The files, the ledgers and the caps agree."""
    told = Result(ran.outcome.folder).proof.spends()
    for agent in ran.run.agents:
        spends, ledger = told.get(agent.id, []), agent.store.ledger
        assert len(spends) == len(ledger)
        for one, other in zip(spends, ledger.spends, strict=True):
            assert one.charged == pytest.approx(other.charged, abs=1.1e-9)
            assert one.charged >= other.charged - 1e-15
            assert (one.scale, one.sensitivity, one.law) == (
                other.scale,
                other.sensitivity,
                other.law,
            )
        cap = agent.settings.cap
        assert cap is not None
        assert cap.holds(ledger.tally)
        again, of = headline(tally(spends), 1e-5), headline(ledger.tally, 1e-5)
        assert again[0] == pytest.approx(of[0], rel=1e-6)
        assert again[0] <= 2.0 * (1 + 1e-6)
        assert [event["k"] for event in ran.events("charged") if event["node"] == agent.id] == list(
            range(len(ledger))
        )


WAYS = [(kind, how) for kind in KINDS for how in ("kov", "rdp", "pld")]


@pytest.mark.parametrize(("kind", "how"), WAYS)
def test_a_crash_between_the_charge_and_the_send(kind: str, how: str, tmp_path: Path) -> None:
    """Paid for, never sent, and its noise is never drawn for anything else."""
    ambush = {"on": [1], "kind": "crash-after-charge"}
    fault = {"at": 4.0, "for": 3.0, "privacy": ambush}
    ran = sabotaged(kind, how, lambda _: None, tmp_path, fault)
    assert ran.outcome.code == 0
    holds(ran)
    released = [e["k"] for e in ran.events("released") if e["node"] == 1]
    made = len(ran.run.agents[1].store.ledger)
    lost = sorted(set(range(made)) - set(released))
    assert len(lost) == 1
    assert released == [k for k in range(made) if k not in lost]
    assert fates_of(Result(ran.outcome.folder)).unsent()[1] == lost


@pytest.mark.parametrize(("kind", "how"), WAYS)
def test_a_stale_snapshot_of_the_state_leaves_ledger_and_noise_alone(
    kind: str, how: str, tmp_path: Path
) -> None:
    """The state of five seconds ago is restored; the counter is the ledger's, so that no noise comes twice."""
    drawn: list[tuple[int, int]] = []

    def sabotage(run: Run) -> None:
        agent = run.agents[1]
        kept: list[Any] = []
        run.clock.at(5_000_000_000, 2, lambda: kept.append(agent.state))
        run.clock.at(10_000_000_000, 2, lambda: setattr(agent, "state", kept[0]))
        honest = agent.noise

        def noise(k: int) -> Any:
            drawn.append((agent.id, k))
            return honest(k)

        agent.noise = noise

    ran = sabotaged(kind, how, sabotage, tmp_path)
    holds(ran)
    assert len(drawn) == len(set(drawn)) == len(ran.run.agents[1].store.ledger)


@pytest.mark.parametrize(("kind", "how"), WAYS)
def test_a_duplicated_request_is_a_release_more_or_the_same_bits(
    kind: str, how: str, tmp_path: Path
) -> None:
    """Asked to act again in one instant, an agent charges again; asked to resend, it does not."""
    lengths: list[tuple[int, int]] = []

    def sabotage(run: Run) -> None:
        agent = run.agents[1]

        def twice() -> None:
            before = len(agent.store.ledger)
            agent.act(agent.state, agent.heard_now(), run.log.seq)
            agent.act(agent.state, agent.heard_now(), run.log.seq)
            between = len(agent.store.ledger)
            agent.resend(agent.neighbours[0], run.log.seq)
            lengths.append((between - before, len(agent.store.ledger) - between))

        run.clock.at(3_500_000_000, 2, twice)

    ran = sabotaged(kind, how, sabotage, tmp_path)
    holds(ran)
    assert lengths == [(2, 0)]


@pytest.mark.parametrize(("kind", "how"), WAYS)
def test_two_live_copies_share_one_ledger(kind: str, how: str, tmp_path: Path) -> None:
    """A twin acts on its own from a copy of the state: both pay into the durable ledger, the cap holds for both."""

    def sabotage(run: Run) -> None:
        agent = run.agents[1]
        twin: list[Any] = []

        def act_as_twin() -> None:
            if not twin:
                twin.append(agent.state)
            mine, agent.state = agent.state, twin[0]
            agent.act(agent.state, agent.heard_now(), run.log.seq)
            twin[0], agent.state = agent.state, mine

        for second in range(2, 30, 2):
            run.clock.at(second * 1_000_000_000 + 7, 2, act_as_twin)

    ran = sabotaged(kind, how, sabotage, tmp_path)
    holds(ran)
    agent = ran.run.agents[1]
    assert len(agent.store.ledger) == 12
    assert isinstance(agent, Agent)


@pytest.mark.parametrize("how", ["kov", "rdp", "pld"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_cap_holds_when_degrees_change_what_releases_cost(
    kind: str, how: str, tmp_path: Path
) -> None:
    """Neighbours leave and join: charges are those of the very solve, and the filter is never passed in any view."""
    regularised = {"l2": 0.1} if kind == "cd" else {}
    tree = private(
        mechanism=KINDS[kind],
        task=regularised,
        nodes=[{"count": 6, "budget": CAP}],
        privacy={"calibrate": how, "views": ["eavesdropper", "outsider"]},
        network={"topology": "complete"},
        run={"seed": 5, "horizon": 40.0},
        fault=[{"at": 3.0, "leave": [0, 1, 2]}, {"at": 9.0, "for": 5.0, "leave": [4]}],
    )
    run = Run(make_plan(tree), tmp_path / "run", RunGovernor(), 1e12)
    ran = Ran(run, asyncio.run(run.perform()))
    assert ran.outcome.code == 0
    holds(ran)
    assert max(ran.outcome.summary["epsilon"]["views"].values()) <= 2.0 * (1 + 1e-6)
