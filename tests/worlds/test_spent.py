"""An agent whose planned releases are made is spent, and stays so: it reads no data any more."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from actors.agent import UP
from actors.events import Event, Sampled, Spent
from scenarios.api.runs import make_plan
from scenarios.console.sources.recording import Recording
from scenarios.console.sources.state import RunState
from scenarios.records.reader import RunRecord
from scenarios.running.control import RunGovernor
from scenarios.running.run import Run
from tests.support.builders import Ran, perform, scenario
from tests.support.catalogue import EVERY, family, world
from tests.support.marks import one_in

STUBBORN = '''
from mechanisms.accounting.spend import Spend
from mechanisms.strategy import RELEASE, Step


class Stubborn:
    """Plans three releases, and proposes one at every wake for ever."""

    planned = 3

    def __init__(self, objective, confidence):
        self.d = objective.dimension

    def begin(self, start):
        return start

    def model(self, state):
        return state

    def propose(self, state, heard, made):
        spend = Spend("stubborn", "pure", "", 1.0, 1.0, "l2", self.d, 0.0, 0.1, 0.1)
        return Step(RELEASE, spend, lambda rng: (lambda v: (v, v))(rng.standard_normal(self.d)))

    def without_data(self, state, heard):
        return Step("silent", None, lambda _: (state, None))
'''
FAULTS = [
    {"at": 2.5, "for": 1.0, "crash": [1], "lose": "all"},
    {"at": 8.5, "for": 1.0, "crash": [1], "lose": "all"},
    {"at": 3.5, "for": 2.0, "leave": [2]},
    {"at": 9.1, "for": 2.0, "leave": [2]},
    {"at": 9.5, "pause": [3]},
    {"at": 9.5, "privacy": {"on": [0], "kind": "counter-rollback"}},
]


def after_the_plan(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What agents did that reads data after they were spent because their plan was fulfilled."""
    spent = set[int]()
    found = []
    for event in events:
        if event["kind"] == "spent":
            assert event["node"] not in spent, "said once"
            spent.add(event["node"])
        elif event["node"] in spent and event["kind"] in {"charged", "released"}:
            found.append(event)
    return found


@pytest.mark.parametrize("name", one_in(3, (n for n in EVERY if n != "central-gradient")))
def test_who_is_spent_stays_so_live_in_the_summary_and_in_a_replay(
    tmp_path: Path, name: str
) -> None:
    tree = world(name, "poisson" if family(name) == "pairs" else "synchronous", rounds=12)
    run = Run(make_plan(tree | {"fault": FAULTS}), tmp_path / "run", RunGovernor(looks=True), 1e12)
    state, spent = RunState(run.facts), set[int]()

    def look(event: Event) -> None:
        if isinstance(event, Spent):
            assert event.node is not None
            spent.add(event.node)
        for i in spent:
            agent = run.agents[i]
            here = agent.status == UP and not agent.fault_state.paused and not agent.diverged
            assert agent.spent
            assert state.state(i) in {"spent", "done"} or not here

    run.log.watch(state, RunState.kinds)
    run.log.watch(look, (Spent, Sampled))
    ran = Ran(run, asyncio.run(run.perform()))
    assert ran.outcome.code == 0, ran.outcome.message
    assert after_the_plan(ran.events()) == []
    recording = Recording(RunRecord(run.folder.path))
    recording.seek(recording.length)
    told = [node["state"] for node in ran.outcome.summary["nodes"]]
    seen = [state.state(i) for i in range(run.plan.size)]
    assert ["spent" if word == "done" else word for word in seen] == told
    assert [recording.run_state.state(i) for i in range(run.plan.size)] == seen
    planned = [agent.mechanism.planned for agent in run.agents]
    for agent, most, word in zip(run.agents, planned, seen, strict=True):
        made = len(agent.store.ledger)
        if word in {"done", "spent"}:  # done is who made every release of a plan
            assert (word == "done") == (made == most)
        assert most is None or made <= most
        # releases at a degree that was not planned may cost more: then the cap refuses the last ones
        assert agent.spent == bool((most and made == most) or agent.refused)


@pytest.mark.parametrize("then", ["listen", "leave"])
@pytest.mark.parametrize("epsilon", [None, 5.0, 0.25])
def test_code_that_releases_more_than_it_planned_is_refused(
    tmp_path: Path, epsilon: float | None, then: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own_stubborn.py").write_text(STUBBORN)
    monkeypatch.syspath_prepend(str(tmp_path))
    held = {"epsilon": epsilon, "delta": 0.0, "on_exhausted": then}
    budget = {} if epsilon is None else {"budget": held}
    tree = scenario(
        mechanism={"kind": "own_stubborn:Stubborn"},
        run={"seed": 3, "horizon": 9.0},
        nodes=[{"count": 4, "clock": "synchronous"} | budget],
    )
    ran = perform(tree, tmp_path, allow_code=True)
    assert ran.outcome.code == 0, ran.outcome.message
    most = 2 if epsilon == 0.25 else 3
    assert [len(agent.store.ledger) for agent in ran.run.agents] == [most] * 4
    assert after_the_plan(ran.events()) == []
    reasons = {event.get("reason", "cap") for event in ran.events("spent", "refused")}
    assert reasons == {"cap" if epsilon == 0.25 else "planned"}
    leaves = epsilon is not None and then == "leave"
    assert {node["state"] for node in ran.outcome.summary["nodes"]} == {
        "left" if leaves else "spent"
    }
