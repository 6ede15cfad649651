"""Code of a scenario's own: what it says that it costs is told as that, and audited as a black box."""

import json
from pathlib import Path
from typing import Any

import pytest

from scenarios.api.runs import make_plan
from scenarios.auditing.audit import NOT_REFUTED, REFUTED, Finding, Order, audit
from scenarios.auditing.report import in_words
from scenarios.language.problems import ScenarioError
from scenarios.language.writer import to_toml
from scenarios.pictures.report import page_of
from scenarios.planning import forecast
from scenarios.planning.context import Options
from scenarios.planning.plan import Plan
from scenarios.records import summary_text
from scenarios.records.recomputed_privacy import cut_off_in_words, epsilon_of
from tests.support.builders import couple, perform, private, scenario
from tests.support.command import hush

OWN = '''
"""Two releases of the gradient with noise, of which `said` times the true cost is declared."""
import numpy as np
from mechanisms.accounting.spend import Spend
from mechanisms.strategy import DERIVED, RELEASE, SILENT, Step


class Gradient:
    law, planned = "gaussian", 2

    def __init__(self, objective, confidence, said=1.0, true=1.5, repeats=False):
        self.objective, self.said, self.true, self.repeats = objective, said, true, repeats
        self.reach = 2.0 * objective.loss.lipschitz / objective.points
        self.drawn = None

    def begin(self, start):
        return start

    def model(self, state):
        return state

    def noise(self, rng, d):
        return rng.normal(0.0, self.reach / self.true, d)

    def propose(self, state, heard, made):
        if made >= self.planned:
            return Step(SILENT, None, lambda _: (state, None))

        def finish(rng):
            if self.drawn is None or not self.repeats:
                self.drawn = self.noise(rng, len(state))
            value = self.objective.gradient(state if made == 0 else 0 * state) + self.drawn
            return state, value

        return Step(RELEASE, self.schedule(1)[made], finish)

    def without_data(self, state, heard):
        return Step(SILENT, None, lambda _: (state, None))

    def schedule(self, degree):
        cost = self.said * self.true
        d, norm, reach = self.objective.dimension, "l2", self.reach
        if self.law == "laplace":
            norm, reach = "l1", reach * d**0.5
        spend = Spend("own", self.law, "", reach / cost, reach, norm, d, 0.0, cost, cost)
        return (spend,) * self.planned


class Laplace(Gradient):
    law = "laplace"

    def noise(self, rng, d):
        return rng.laplace(0.0, self.reach * d**0.5 / self.true, d)


class Silent(Gradient):
    """It draws no noise at all."""

    def noise(self, rng, d):
        return np.zeros(d)


class Derived(Gradient):
    """One honest release, and then what that release kept of the data, in a step that it calls derived."""

    planned = 1

    def propose(self, state, heard, made):
        if made:
            return Step(DERIVED, None, lambda _: (state, self.kept))
        step = super().propose(state, heard, made)

        def finish(rng):
            self.kept = self.objective.gradient(0 * state)
            return step.finish(rng)

        return Step(RELEASE, step.spend, finish)


class Free(Silent):
    """The gradient itself, declared at no cost."""

    def schedule(self, degree):
        spend = Spend("own", "pure", "", 1.0, self.reach, "l2", self.objective.dimension, 0.0, 0.0, 0.0)
        return (spend,) * self.planned


class Hears(Gradient):
    """It releases nothing, and sends what it heard."""

    planned = 0

    def propose(self, state, heard, made):
        return Step(DERIVED, None, lambda _: (state, 0.5 * heard.mean()))


class Mute(Hears):
    """It sends nothing."""

    def propose(self, state, heard, made):
        return Step(SILENT, None, lambda _: (state, None))
'''


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "own_gradient.py").write_text(OWN)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def world(name: str, **parameters: Any) -> dict[str, Any]:
    mechanism = {"kind": f"own_gradient:{name}"} | parameters
    return couple(mechanism, d=2, task={"loss": "logistic"}, run={"seed": 3, "rounds": 3})


def plan_of(tree: dict[str, Any]) -> Plan:
    return make_plan(tree, allow_code=True)


def audited(tree: dict[str, Any], runs: int = 600) -> Finding:
    return audit(Order(plan_of(tree), runs, more=Options(allow_code=True)))


@pytest.mark.slow
@pytest.mark.usefixtures("own")
@pytest.mark.parametrize("name", ["Gradient", "Laplace"])
def test_a_cost_understated_a_hundredfold_is_refuted_and_an_honest_one_is_not(
    name: str,
) -> None:
    lying, honest = audited(world(name, said=0.01)), audited(world(name))
    assert lying.verdict == REFUTED
    assert honest.verdict == NOT_REFUTED
    assert lying.lower > 5 * lying.claimed
    assert honest.lower <= honest.claimed
    assert lying.bound.unit == honest.bound.unit == ("mu" if name == "Gradient" else "epsilon")
    assert lying.power is None
    assert lying.declared_by == f"own_gradient:{name}"


@pytest.mark.usefixtures("own")
@pytest.mark.parametrize("name", ["Derived", "Free"])
def test_all_that_is_sent_is_judged_derived_vectors_and_a_claim_of_0_too(name: str) -> None:
    """Two runs of `Derived` send data that differ, by 2/20 in a coordinate, after one release of μ = 0.1."""
    found = audited(world(name, true=0.1), 200)
    assert found.verdict == REFUTED
    assert found.lower > found.claimed + 1.0
    assert (found.claimed == 0.0) == (name == "Free")


@pytest.mark.usefixtures("own")
def test_a_claim_of_0_that_is_true_is_tested_and_stands() -> None:
    found = audited(world("Hears"), 60)
    assert (found.verdict, found.claimed, found.releases) == (NOT_REFUTED, 0.0, 0)


@pytest.mark.usefixtures("own")
def test_where_nothing_is_sent_there_is_nothing_to_audit() -> None:
    with pytest.raises(ScenarioError, match="agent 0 sent nothing"):
        audited(world("Mute"), 20)


@pytest.mark.slow
def test_self_declared_figures_are_not_covered_and_stand_beside_no_proof(own: Path) -> None:
    """In the summary, in what the record gives without it, and in each text that tells an ε."""
    reason = "self-declared by own_gradient:Gradient, not checked"
    ran = perform(plan_of(world("Gradient")), own / "out")
    told = ran.result.summary["epsilon"]
    assert (told["covered"], told["not_covered"]) == (False, [reason])
    again = epsilon_of(ran.result)
    keys = ("covered", "not_covered", "declared_by", "max", "view", "accountant")
    assert {key: again[key] for key in keys} == {key: told[key] for key in keys}
    order = Order(plan_of(world("Gradient")), 20, more=Options(allow_code=True))
    texts = {
        "summary": summary_text.in_words(ran.result.summary),
        "cut off": cut_off_in_words(ran.result.summary | {"epsilon": again}),
        "check": forecast.in_words(forecast.forecast(order.plan)),
        "audit": in_words(order, audit(order)),
        "report": [page_of(ran.result)],
    }
    for name, lines in texts.items():
        text = "\n".join(lines)
        assert reason in text, name
        assert "proved" not in text.replace("proved_by", ""), name
    assert "NOT COVERED" not in "\n".join(texts["audit"])  # it is what an audit tests


def test_an_epsilon_of_a_kind_of_hush_is_covered_with_and_without_its_summary(
    tmp_path: Path,
) -> None:
    ran = perform(private(), tmp_path / "out")
    for told in (ran.result.summary["epsilon"], epsilon_of(ran.result)):
        assert (told["covered"], told["not_covered"], told["declared_by"]) == (True, [], None)


@pytest.mark.slow
@pytest.mark.usefixtures("own")
def test_no_noise_at_all_and_noise_that_is_used_twice_are_found() -> None:
    """Equal noise cancels in the difference of two releases, each of which is honest by itself."""
    assert audited(world("Silent"), 300).verdict == REFUTED
    twice = audited(world("Gradient", repeats=True), 300)
    assert twice.verdict == REFUTED


@pytest.mark.slow
@pytest.mark.usefixtures("own")
def test_an_honest_black_box_is_seldom_refuted() -> None:
    """Twenty audits at 95 % of a claim that is the truth: none passes it but by the chance that was allowed."""
    tree = world("Gradient", true=0.5)
    refuted = 0
    for seed in range(20):
        tree["run"]["seed"] = seed
        refuted += audited(tree, 60).verdict != NOT_REFUTED
    assert refuted <= 3


@pytest.mark.slow
def test_every_figure_says_that_it_is_declared_and_not_checked(own: Path) -> None:
    from scenarios.language.writer import to_toml

    file = own / "own.toml"
    file.write_text(to_toml(world("Gradient", said=0.01)), encoding="utf-8")
    said = "self-declared by own_gradient:Gradient, not checked"
    checked = hush("check", "./own.toml", "--allow-code", cwd=own)
    assert said in checked.stdout
    ran = hush("run", "./own.toml", "--allow-code", "--out", "run", cwd=own)
    assert said in ran.stdout
    assert said in hush("show", "run", cwd=own).stdout
    told = json.loads((own / "run" / "summary.json").read_text())
    assert told["epsilon"]["declared_by"] == "own_gradient:Gradient"
    assert told["epsilon"]["max"] < 0.1
    manifest = json.loads((own / "run" / "manifest.json").read_text())
    manifest["status"] = "running"  # as a run that was killed leaves it
    (own / "run" / "manifest.json").write_text(json.dumps(manifest))
    (own / "run" / "summary.json").unlink()
    assert said in hush("show", "run", cwd=own).stdout
    found = hush(
        "audit",
        "./own.toml",
        "--allow-code",
        "--runs",
        "300",
        "--jobs",
        "1",
        "--out",
        "audit",
        cwd=own,
    )
    assert found.returncode == 1
    assert said in found.stdout
    told = json.loads((own / "audit" / "audit.json").read_text())
    assert told["epsilon"]["declared_by"] == "own_gradient:Gradient"
    assert told["verdict"] == REFUTED


def test_kinds_of_hush_are_declared_by_nobody() -> None:
    plan = make_plan(couple({"kind": "dvp", "alpha": 1.0}))
    assert audit(Order(plan, 20)).declared_by is None


FAILING = """
import sys

from mechanisms.accounting.spend import Spend
from mechanisms.strategy import RELEASE, Step


class Failing:
    planned = 5

    def __init__(self, objective, confidence, how="error"):
        self.d, self.how = objective.dimension, how

    def begin(self, start):
        return start

    def model(self, state):
        return state

    def propose(self, state, heard, made):
        if made == 2 and self.how == "error":
            raise ValueError("too far")
        if made == 2:
            sys.exit(0)
        spend = Spend("failing", "pure", "", 1.0, 1.0, "l2", self.d, 0.0, 0.1, 0.1)
        return Step(RELEASE, spend, lambda rng: (lambda v: (v, v))(rng.standard_normal(self.d)))

    def without_data(self, state, heard):
        return Step("silent", None, lambda _: (state, None))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "said"), [("error", "ValueError: too far"), ("exit", "SystemExit: 0")]
)
def test_code_that_fails_is_told_by_its_line_and_leaves_a_failed_run(
    tmp_path: Path, how: str, said: str
) -> None:
    (tmp_path / "fails.py").write_text(FAILING)
    tree = scenario(
        mechanism={"kind": "fails:Failing", "how": how},
        run={"seed": 3, "horizon": 20.0},
        nodes=[{"count": 3, "budget": {"epsilon": 4.0, "delta": 1e-5}}],
    )
    (tmp_path / "world.toml").write_text(to_toml(tree))
    done = hush("run", "./world.toml", "--allow-code", "--quiet", "--out", "out", cwd=tmp_path)
    line = next(
        i
        for i, text in enumerate(FAILING.splitlines(), 1)
        if ("raise" if how == "error" else "exit(0)") in text
    )
    assert done.returncode == 2
    assert (
        done.stderr.splitlines()[-1]
        == f"hush: fails.py:{line}: code of the scenario's own failed: {said}"
    )
    assert "Traceback" not in done.stderr
    assert json.loads((tmp_path / "out" / "manifest.json").read_text())["status"] == "failed"
    shown = hush("show", "out", cwd=tmp_path)
    assert "finished" not in shown.stdout
    assert said in shown.stdout + shown.stderr
