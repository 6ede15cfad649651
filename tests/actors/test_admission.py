"""What a cap says of a schedule is shared by agents; an agent whose ledger is another one asks the cap itself, for good."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from mechanisms.accounting.ledger import Ledger
from mechanisms.accounting.spend import Spend
from mechanisms.descent import CoordinateDescent
from mechanisms.mixing import Heard
from mechanisms.strategy import RELEASE, State, Step
from scenarios.api.runs import make_plan
from scenarios.planning.plan import NodePlan, Plan
from tests.support.builders import private
from tests.support.column_worlds import passed


@dataclass(frozen=True, slots=True)
class Hasty(CoordinateDescent):
    """Pays twice for its first release: then its ledger is not that of its schedule."""

    def next_spend(self, heard: Heard, made: int) -> Spend | None:
        spend = CoordinateDescent.next_spend(self, heard, made)
        if spend is None or made:
            return spend
        return replace(spend, charged=2 * spend.charged, claimed=2 * spend.claimed)

    def propose(self, state: State, heard: Heard, made: int) -> Step:
        spend = self.next_spend(heard, made)
        if spend is None:
            return self.without_data(state, heard)
        scale = spend.scale

        def finish(rng: np.random.Generator | None) -> Any:
            assert self.law is not None
            assert rng is not None
            return self._descend(state, heard, self.law.draw(rng, scale, len(state)))

        return Step(RELEASE, spend, finish)


def hasty(plan: Plan) -> Plan:
    names = CoordinateDescent.__dataclass_fields__

    def changed(nodes: Iterable[NodePlan]) -> Iterable[NodePlan]:
        for node in nodes:
            fields = {name: getattr(node.mechanism, name) for name in names}
            yield replace(node, mechanism=Hasty(**fields))

    return replace(plan, nodes=tuple(changed(plan.nodes)))


@pytest.mark.parametrize("path", ["events", "auto"])
def test_every_ledger_stays_below_its_cap_whoever_goes_and_comes_back(path: str) -> None:
    nodes = [{"count": 3, "clock": "synchronous", "budget": {"epsilon": 2.0, "delta": 1e-5}}]
    fault = [{"at": 2.5, "for": 2.0, "leave": [1]}, {"at": 2.5, "for": 2.0, "crash": [2]}]
    world = private(nodes=nodes, fault=fault, run={"seed": 1, "horizon": 40.0})
    made = []
    for agent in passed(hasty(make_plan(world)), path).simulation.agents:
        cap, ledger = agent.settings.cap, Ledger()
        assert cap is not None
        for spend in agent.store.ledger.spends:
            assert cap.admits(ledger, spend)
            ledger.note(spend)
        made.append(len(ledger))
    assert made[0] == made[1] == made[2] < 8
