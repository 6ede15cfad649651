"""Code of a scenario's own reads data in the finish of a charged release, and nowhere else, on every path."""

import copy
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mechanisms.abilities import releases_at_once
from mechanisms.accounting.spend import Spend
from mechanisms.mixing import Heard
from mechanisms.objectives import LocalObjective, Logistic
from mechanisms.own_mechanism import ClosedObjective, OwnCodeError, OwnMechanism
from mechanisms.perturbation import FEATURE_BOUND
from mechanisms.strategy import DERIVED, RELEASE, SILENT, Step
from mechanisms.vectors import Vector
from scenarios.api.runs import make_plan
from scenarios.language.problems import ScenarioError
from scenarios.language.writer import to_toml
from scenarios.planning.plan import Plan
from tests.support.builders import Ran, perform, private, scenario
from tests.support.command import hush

PUBLIC = {"points", "dimension", "weight", "l2", "loss"}
SECRET = sorted(
    name for name in dir(LocalObjective) if not name.startswith("__") and name not in PUBLIC
)
"""All that an objective has, but for public facts: what is added there is here, too."""
CALLS = ["begin", "model", "planned", "schedule", "opening", "propose", "without_data"]
STEPS = ["derived", "silent", "smooth"]
"""The steps without a charge; `smooth` is that of `without_data`."""

OWN = '''
"""It reads `name` of its objective where it is told to, in `at`."""
from mechanisms.accounting.spend import Spend
from mechanisms.strategy import DERIVED, RELEASE, SILENT, Step

READS = ("gradient", "value")


class Reads:
    def __init__(self, objective, confidence, at="", name="gradient", releases=2, width=0, sends="release", model="own"):
        self.objective, self.at, self.name, self.releases = objective, at, name, releases
        self.width, self.sends, self.holds, self.finished = width or objective.dimension, sends, model, 0
        self.spend = Spend("own", "pure", "", 1.0, 1.0, "l2", objective.dimension, 0.0, 0.1, 0.1)
        self.look("__init__")

    def look(self, place, state=None):
        if self.at == place:
            found = getattr(self.objective, self.name)  # LINE
            return found(0 * state) if self.name in READS else found

    @property
    def planned(self):
        self.look("planned")
        return self.releases

    def begin(self, start):
        self.look("begin", start)
        return start

    def model(self, state):
        self.look("model", state)
        return {"own": state, "none": None, "long": [0.0] * 88}[self.holds]

    def schedule(self, degree):
        self.look("schedule")
        return (self.spend,) * self.releases

    def vector(self, state):
        return (list(state) * 100)[: self.width]

    def propose(self, state, heard, made):
        self.look("propose", state)
        if self.at == "silent":
            return Step(SILENT, None, lambda _: (self.look("silent", state), None))
        if self.at == "derived" or self.sends == "derived":
            return Step(DERIVED, None, lambda _: (state, (self.look("derived", state), self.vector(state))[1]))

        def finish(rng):
            self.finished += 1
            self.look("release", state)
            return state, self.vector(state)

        return Step(RELEASE, self.spend, finish)

    def without_data(self, state, heard):
        self.look("without_data", state)
        return Step(DERIVED, None, lambda _: (state, (self.look("smooth", state), self.vector(state))[1]))


class Opens(Reads):
    def opening(self, start):
        self.look("opening", start)
        return [0.0] * self.width


class Shared(Reads):
    """All of its agents are one thing."""
    one = None

    def __new__(cls, **keys):
        cls.one = cls.one or super().__new__(cls)
        return cls.one
'''


@pytest.fixture(autouse=True)
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "own_reads.py").write_text(OWN)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def world(of: str = "Reads", *, epsilon: float = 4.0, **keys: Any) -> dict[str, Any]:
    budget = {"epsilon": epsilon, "delta": 1e-5, "on_exhausted": "smooth"}
    return scenario(
        run={"seed": 5, "horizon": 8.0},
        nodes=[{"name": "peers", "count": 6, "budget": budget}],
        mechanism={"kind": f"own_reads:{of}"} | keys,
    )


def plan_of(tree: dict[str, Any], **options: Any) -> Plan:
    return make_plan(tree, allow_code=True, **options)


# one mechanism, step by step


def objective() -> LocalObjective:
    rng = np.random.default_rng(3)
    return LocalObjective(rng.normal(size=(4, 3)), np.array([1.0, -1, 1, -1]), Logistic(), 0.1)


def arguments(name: str) -> tuple[Any, ...]:
    """What a name of `LocalObjective` is called with."""
    theta, clip = np.zeros(3), np.ones(4)
    given = {
        "record_gradient": (theta, 0),
        "clip_at": (1.0, "l2"),
        "lengths": ("l2",),
        "longest_gradient": (theta, clip, "l2"),
        "on": (np.ones((2, 3)), np.array([1.0, -1.0])),
        "of_rows": (np.ones((2, 3)), np.array([1.0, -1.0]), Logistic(), 0.1),
        "_keep": (np.ones((4, 3)), np.ones(4), Logistic(), 0.1, None),
        "smoothness": (),
    }
    return given.get(name, (theta,))


def read(view: Any, name: str) -> object:
    """Read a name, and call it where it can be called."""
    found = getattr(view, name)
    return found(*arguments(name)) if callable(found) else found


class Handed:
    """A mechanism whose steps are handed to it; `look` is called at each of its calls."""

    planned = 3

    def __init__(self, step: Step | None = None) -> None:
        self.step = step
        self.look: Callable[[], object] = lambda: None
        self.later: Callable[..., Any] = lambda: None

    def begin(self, start: Vector) -> Vector:
        self.look()
        return start

    def model(self, state: Vector) -> Vector:
        self.look()
        return state

    def propose(self, state: Vector, heard: Heard, made: int) -> Step:  # noqa: ARG002
        self.look()
        assert self.step is not None
        return self.step

    def without_data(self, state: Vector, heard: Heard) -> Step:
        return self.propose(state, heard, -1)


def step_of(kind: Any, spend: Any, finish: Any) -> Any:
    """A step as a class may return it, whatever its parts are."""
    return Step(kind, spend, finish)


SPEND = Spend("own", "pure", "", 1.0, 1.0, "l2", 3, 0.0, 0.1, 0.1)
HEARD = Heard(np.zeros((2, 3)), np.ones(2))


def wrapped(mechanism: Any) -> tuple[OwnMechanism, ClosedObjective]:
    data = objective()
    view = ClosedObjective(data, 7)
    return OwnMechanism(mechanism, view, data, 7), view


def finished(mechanism: OwnMechanism) -> Any:
    return mechanism.propose(np.zeros(3), HEARD, 0).finish(None)


@pytest.mark.parametrize("name", SECRET)
def test_each_name_that_is_no_public_fact_is_read_in_a_release_only(name: str) -> None:
    own = Handed()
    mechanism, view = wrapped(own)
    found: list[object] = []

    def finish(_: object) -> tuple[Vector, Vector]:
        found.append(read(view, name))
        return np.zeros(3), np.zeros(3)

    with pytest.raises(
        OwnCodeError, match=f"__init__ reads objective.{name}: only the finish of a"
    ):
        read(ClosedObjective(objective(), 7), name)
    for call in (lambda: mechanism.begin(np.zeros(3)), lambda: mechanism.model(np.zeros(3))):
        own.look = lambda: read(view, name)
        with pytest.raises(OwnCodeError, match=r"agent 7: (begin|model) reads"):
            call()
    own.look = lambda: None
    for kind in (DERIVED, SILENT):
        own.step = Step(kind, None, finish)
        with pytest.raises(
            OwnCodeError, match=f"the finish of a {kind} step reads objective.{name}"
        ):
            finished(mechanism)
    own.step = Step(DERIVED, None, finish)
    with pytest.raises(OwnCodeError, match="reads objective"):
        mechanism.without_data(np.zeros(3), HEARD).finish(None)
    assert not found
    own.step = Step(RELEASE, SPEND, finish)
    own.look = lambda: read(view, name)
    with pytest.raises(OwnCodeError, match="propose reads"):
        finished(mechanism)
    own.look = lambda: None
    finished(mechanism)
    assert len(found) == 1
    with pytest.raises(OwnCodeError):
        read(view, name)


def test_an_open_objective_gives_what_the_data_give_and_a_method_that_was_kept_is_closed_again() -> (
    None
):
    theta, data = np.array([0.3, -1.0, 2.0]), objective()
    own = Handed()
    mechanism, view = wrapped(own)
    kept = view.gradient  # a name alone reads nothing

    def finish(_: object) -> tuple[Vector, Vector]:
        assert view.value(theta) == data.value(theta)
        assert (view.features == data.features).all()
        own.later = view.gradient
        return theta, view.gradient(theta)

    own.step = Step(RELEASE, SPEND, finish)
    _, sent = finished(mechanism)
    assert (sent == data.gradient(theta)).all()
    for method in (kept, own.later):
        with pytest.raises(OwnCodeError):
            method(theta)


def test_a_release_that_fails_leaves_its_objective_closed() -> None:
    own = Handed(step_of(RELEASE, SPEND, lambda _: 1 / 0))
    mechanism, view = wrapped(own)
    with pytest.raises(ZeroDivisionError):
        finished(mechanism)
    with pytest.raises(OwnCodeError):
        view.gradient(np.zeros(3))


def test_public_facts_are_those_of_the_data_before_anything_is_charged() -> None:
    data = objective()
    view = ClosedObjective(data, 0)
    assert {name: getattr(view, name) for name in PUBLIC} == {n: getattr(data, n) for n in PUBLIC}
    assert (view.loss.lipschitz, view.loss.curvature_bound) == (1.0, 0.25)
    assert view.feature_bound == FEATURE_BOUND
    with pytest.raises(AttributeError, match="no 'gradiant'"):
        view.gradiant  # noqa: B018


def test_a_closed_objective_holds_no_data_at_all() -> None:
    data = objective()
    view = ClosedObjective(data, 0)
    parts = [getattr(view, slot) for slot in type(view).__slots__]
    assert not any(isinstance(part, np.ndarray | LocalObjective) for part in parts)


def test_a_copy_of_a_mechanism_opens_its_own_objective_and_not_the_first_one() -> None:
    """An audit copies mechanisms: each run has its own."""

    class Keeps(Handed):
        def __init__(self, view: ClosedObjective) -> None:
            self.objective = view
            super().__init__()

        def propose(self, state: Vector, heard: Heard, made: int) -> Step:  # noqa: ARG002
            return Step(RELEASE, SPEND, lambda _: (state, self.objective.gradient(state)))

    data = objective()
    view = ClosedObjective(data, 0)
    mechanism = OwnMechanism(Keeps(view), view, data, 0)
    other = copy.deepcopy(mechanism)
    assert (finished(other)[1] == data.gradient(np.zeros(3))).all()
    assert (finished(mechanism)[1] == data.gradient(np.zeros(3))).all()


BAD: dict[str, tuple[Any, str]] = {
    "no step": ((1, 2, 3), "propose returns a value of type tuple, not a Step"),
    "no kind": (step_of("released", SPEND, lambda _: None), "of kind 'released'"),
    "no spend": (step_of(RELEASE, None, lambda _: None), "whose spend is None, not a Spend"),
    "a charge too low": (
        step_of(RELEASE, replace(SPEND, law="laplace", norm="l1", scale=0.01), lambda _: None),
        "charges 0.1, and its own fields give 100: scale b of each coordinate",
    ),
    "a spend too many": (step_of(DERIVED, SPEND, lambda _: None), "a derived step with a spend"),
    "no pair": (step_of(SILENT, None, lambda _: np.zeros(3)), "not a pair"),
    "a loud silence": (step_of(SILENT, None, lambda _: (0, np.zeros(3))), "sends a vector"),
    "nothing derived": (step_of(DERIVED, None, lambda _: (0, None)), "is silent"),
    "words": (step_of(RELEASE, SPEND, lambda _: (0, ["a", "b", "c"])), "a value of type list"),
    "a table": (step_of(RELEASE, SPEND, lambda _: (0, np.zeros((3, 1)))), r"of shape \(3, 1\)"),
    "a number": (step_of(RELEASE, SPEND, lambda _: (0, 3.0)), r"of shape \(\)"),
    "no function": (step_of(RELEASE, SPEND, 5), "with 1 arguments: 'int' object is not callable"),
    "another function": (step_of(DERIVED, None, lambda: 0), "takes 0 positional arguments but 1"),
    "complex": (
        step_of(RELEASE, SPEND, lambda _: (0, np.zeros(3) * 1j)),
        "a value of type ndarray",
    ),
}


@pytest.mark.parametrize(("step", "rule"), BAD.values(), ids=BAD)
def test_what_is_no_step_is_refused_with_its_rule(step: Any, rule: str) -> None:
    mechanism, _ = wrapped(Handed(step))
    with pytest.raises(OwnCodeError, match=f"agent 7: .*{rule}"):
        finished(mechanism)


def test_a_method_of_another_signature_is_told_with_its_name() -> None:
    class Short(Handed):
        def propose(self, state: Vector) -> Step:  # type: ignore[override] # noqa: ARG002
            raise TypeError("its own")

    mechanism, _ = wrapped(Short())
    with pytest.raises(
        OwnCodeError, match=r"agent 7: propose is called with 3 arguments: .*propose"
    ):
        finished(mechanism)
    with pytest.raises(TypeError, match="its own"):
        mechanism._call("propose", Short().propose, np.zeros(3))  # a mistake inside keeps its line


def test_an_agent_without_budget_makes_no_release() -> None:
    mechanism, _ = wrapped(Handed(Step(RELEASE, SPEND, lambda _: (0, np.zeros(3)))))
    with pytest.raises(OwnCodeError, match="without_data returns a release"):
        mechanism.without_data(np.zeros(3), HEARD)


def test_a_step_has_one_kind_however_often_it_is_read() -> None:
    """A kind that is `derived` to one reader and `release` to the next would be finished with data and never charged."""

    class Turncoat(str):
        reads = 0

        def __eq__(self, other: object) -> bool:
            self.reads += 1
            return self.reads > 1

        __hash__ = str.__hash__

    step = Step(Turncoat("derived"), None, lambda _: (0, np.zeros(3)))
    own = Handed(step)
    mechanism, _ = wrapped(own)
    taken = mechanism.propose(np.zeros(3), HEARD, 0)
    assert type(taken.kind) is str
    assert (taken.kind == RELEASE) == (taken.spend is not None)


def test_what_was_sent_stays_as_it_was_sent() -> None:
    state = np.ones(3)
    mechanism, _ = wrapped(Handed(Step(RELEASE, SPEND, lambda _: (state, state))))
    _, sent = finished(mechanism)
    state += 1.0
    assert sent.tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("name", ["begin", "model", "propose", "without_data", "planned"])
def test_a_class_that_lacks_a_part_of_a_mechanism_is_refused_by_its_name(name: str) -> None:
    members = {k: v for k, v in vars(Handed).items() if k != name and not k.startswith("__d")}
    with pytest.raises(OwnCodeError, match=f"has no {name}: a mechanism has"):
        wrapped(type("Part", (), members)())


# whole runs


def line() -> int:
    return next(i for i, text in enumerate(OWN.splitlines(), 1) if "# LINE" in text)


@pytest.mark.parametrize("path", ["columns", "events"])
@pytest.mark.parametrize("at", [*CALLS, *STEPS, "release", "__init__"])
def test_a_run_in_which_data_are_read_before_a_charge_is_refused(
    own: Path, at: str, path: str
) -> None:
    of = "Opens" if at == "opening" else "Reads"
    tree = world(of, at=at, name="labels")
    if at == "release":
        assert perform(plan_of(tree, path=path), own / "out").outcome.code == 0
        return
    if at in {"__init__", "planned"}:
        with pytest.raises(ScenarioError, match=rf"own_reads.py:{line()}: agent 0: {at} reads"):
            plan_of(tree, path=path)
        return
    words = {"smooth": "the finish of a derived step"}.get(at, at)
    words = f"the finish of a {at} step" if at in {"derived", "silent"} else words
    with pytest.raises(OwnCodeError, match=rf"agent \d.*: {words} reads objective.labels") as told:
        perform(plan_of(tree, path=path), own / "out")
    if at in {*STEPS, "propose", "without_data", "model"}:
        assert " s, after event " in str(told.value)


def test_a_run_on_wall_time_is_refused_as_well(own: Path) -> None:
    with pytest.raises(OwnCodeError, match="the finish of a derived step reads"):
        perform(plan_of(world(at="derived", name="labels"), engine="wall"), own / "out")


def test_a_release_that_is_refused_never_reads_data(own: Path) -> None:
    """Of five planned releases some fit under the cap: so many are finished, and no other."""
    ran = perform(plan_of(world(epsilon=0.75, releases=5, at="release")), own / "out")
    for agent in ran.run.agents:
        mechanism: Any = agent.mechanism
        assert mechanism._own.finished == agent.store.made
        assert 0 < agent.store.made < 5
        assert agent.refused > 0


def test_an_object_that_all_agents_share_reads_no_data_of_another_agent(own: Path) -> None:
    """It holds the view of the agent that came last: another agent's release leaves that one closed."""
    with pytest.raises(OwnCodeError, match=r"reads objective\.labels"):
        perform(plan_of(world("Shared", at="release", name="labels")), own / "out")


@pytest.mark.parametrize("path", ["events", "columns"])
def test_an_honest_class_leaves_the_same_on_every_path(own: Path, path: str) -> None:
    tree = world(at="release")
    one = perform(plan_of(tree), own / "one")
    other = perform(plan_of(tree, path=path), own / "other")
    assert one.digests == other.digests


def test_mechanisms_of_hush_hold_their_data_themselves() -> None:
    plan = make_plan(private())
    assert not any(isinstance(node.mechanism, OwnMechanism) for node in plan.nodes)
    assert releases_at_once(plan.nodes[0].mechanism) is not None


@pytest.mark.slow
@pytest.mark.parametrize("at", ["__init__", "propose", "derived"])
def test_the_command_names_file_line_and_rule_and_ends_with_2(own: Path, at: str) -> None:
    (own / "world.toml").write_text(to_toml(world(at=at, name="labels")))
    for verb in ("run", "audit"):
        done = hush(verb, "./world.toml", "--allow-code", "--out", f"{verb}-out", cwd=own)
        assert done.returncode == 2
        assert f"own_reads.py:{line()}: agent " in done.stderr
        assert "only the finish of a release reads data" in done.stderr
        assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_what_fails_in_a_worker_of_an_audit_is_told_with_its_line(own: Path) -> None:
    """A traceback does not leave its process: the line is taken there."""
    text = OWN.replace(
        "if self.at == place:",
        'if self.at == place and current_process().name != "MainProcess":',
    )
    (own / "own_reads.py").write_text("from multiprocessing import current_process\n" + text)
    (own / "world.toml").write_text(to_toml(world(at="propose", name="labels")))
    done = hush("audit", "./world.toml", "--allow-code", "--runs", "40", "-j", "2", cwd=own)
    assert done.returncode == 2
    assert f"own_reads.py:{line() + 1}: agent " in done.stderr
    assert "Traceback" not in done.stderr


# vectors and models


@pytest.mark.parametrize("path", ["columns", "events"])
@pytest.mark.parametrize("kind", ["release", "derived"])
@pytest.mark.parametrize("width", [1, 2, 4, 88])
def test_a_vector_of_another_length_is_told_with_agent_instant_and_both_shapes(
    own: Path, width: int, kind: str, path: str
) -> None:
    tree = world(width=width, sends=kind)
    rule = rf"agent \d, at [\d.]+ s, after event \d+: a {kind} step sends a vector of shape \({width},\)"
    with pytest.raises(OwnCodeError, match=rule) as told:
        perform(plan_of(tree, path=path), own / "out")
    assert "shape (3,)" in str(told.value)
    assert "opening(start)" in str(told.value)
    assert told.value.place.startswith("own_reads.py:")


@pytest.mark.parametrize("path", ["columns", "events"])
@pytest.mark.parametrize("width", [2, 88])
def test_opening_makes_vectors_of_another_length_possible(own: Path, width: int, path: str) -> None:
    ran = perform(plan_of(world("Opens", width=width), path=path), own / "out")
    assert {agent.heard.values.shape[1] for agent in ran.run.agents} == {width}
    assert ran.outcome.code == 0


def test_a_model_of_another_length_is_refused_and_not_scored_by_half(own: Path) -> None:
    with pytest.raises(OwnCodeError, match=r"model\(state\) returns a vector of shape \(88,\)"):
        perform(plan_of(world(model="long")), own / "out")


def numbers(tree: Any, path: str = "") -> dict[str, Any]:
    """All values of a tree that are no tables, by their dotted places."""
    if isinstance(tree, dict):
        tree = list(tree.items())
    elif isinstance(tree, list):
        tree = list(enumerate(tree))
    else:
        return {path: tree}
    return {p: v for key, value in tree for p, v in numbers(value, f"{path}.{key}").items()}


def unscored(ran: Ran) -> dict[str, Any]:
    summary = ran.result.summary
    judged = ("loss", "accuracy", "gain", "harmed", "objective", "gap", "central")
    return numbers({key: summary[key] for key in judged}) | numbers(
        {key: [n[key] for n in summary["nodes"]] for key in ("loss", "accuracy")}
    )


def test_a_model_that_the_task_cannot_score_has_no_number_anywhere(own: Path) -> None:
    """A state of 88 numbers that says so, by None: null with its reason, a dash in text, and the invariants hold."""
    ran = perform(plan_of(world("Opens", width=88, model="none")), own / "out")
    assert ran.outcome.code == 0
    assert set(unscored(ran).values()) == {None}
    reasons = ran.result.summary["reasons"]
    for place in ("loss.*", "accuracy.test", "gain", "nodes.*.loss"):
        assert reasons[place].startswith("not scored: ")
    verdicts = {name: v["verdict"] for name, v in ran.result.verdicts["invariants"].items()}
    assert verdicts.pop("noise as charged") == "unknown", "own code draws where hush cannot see it"
    assert set(verdicts.values()) == {"pass"}
    rows = ran.result.metrics()
    models = {"loss", "loss.pooled", "accuracy.train", "accuracy.test", "gain"}
    judged = [v for name, v in zip(rows["metric"], rows["value"], strict=True) if name in models]
    assert judged
    assert all(map(math.isnan, judged))
    from scenarios.records.summary_text import in_words

    text = "\n".join(in_words(ran.result.summary))
    assert "loss      — mean, — worst" in text
    assert "not scored: every agent holds no model that the task scores" in text


def test_an_agent_whose_state_is_a_model_is_scored_as_ever(own: Path) -> None:
    ran = perform(plan_of(world()), own / "out")
    assert None not in unscored(ran).keys() & {".loss.mean", ".accuracy.test"}
    assert ran.result.summary["loss"]["mean"] == pytest.approx(math.log(2.0), abs=0.3)


# what a plan says


def test_a_server_that_code_of_ones_own_would_ignore_is_refused() -> None:
    """As built-in kinds without a server refuse it."""
    for tree in (world(), private()):
        with pytest.raises(
            ScenarioError, match=r"server: belongs to server kinds, and .* has none"
        ):
            plan_of(tree | {"server": {"deadline": "1s"}})


def test_a_start_that_is_made_of_data_is_refused() -> None:
    """An agent could send it in a derived step."""
    with pytest.raises(ScenarioError, match=r'start: "local" is made of data'):
        plan_of(world() | {"task": {"start": "local", "l2": 0.1}})


def test_how_often_code_of_ones_own_derives_is_unknown_and_not_0() -> None:
    from scenarios.planning.forecast import forecast, in_words

    told = forecast(plan_of(world(sends="derived", releases=0)))
    assert told["expected"]["messages"] is None
    assert told["expected"]["bytes"] is None
    assert "of code of the scenario's own" in told["reasons"]["expected.*"]
    assert "messages unknown: so is how often own_reads:Reads derives" in "\n".join(in_words(told))
    assert forecast(make_plan(private()))["expected"]["messages"] > 0


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("scale", value) for value in (math.nan, math.inf, -1.0, "x")),
        *(("sensitivity", value) for value in (math.nan, -1.0, None)),
        *(("claimed", value) for value in (-3.0, math.nan)),
        *(("d", value) for value in (-5, 2.5)),
        ("jacobian", math.inf),
    ],
)
def test_a_spend_that_no_ledger_holds_is_refused_where_it_is_made(field: str, value: Any) -> None:
    step = step_of(RELEASE, replace(SPEND, **{field: value}), lambda _: None)
    mechanism, _ = wrapped(Handed(step))
    with pytest.raises(OwnCodeError, match=f"a spend whose {field} is"):
        finished(mechanism)


def test_numbers_of_numpy_in_a_spend_become_plain_ones() -> None:
    odd = replace(SPEND, charged=np.float32(0.5), claimed=np.float64(0.5), d=np.int64(3))  # type: ignore[arg-type]
    mechanism, _ = wrapped(Handed(step_of(RELEASE, odd, lambda _: (0, np.zeros(3)))))
    spend = mechanism.propose(0, HEARD, 0).spend
    assert spend is not None
    assert [type(value) for value in (spend.charged, spend.claimed, spend.d)] == [float, float, int]


@pytest.mark.parametrize("error", [StopIteration, GeneratorExit, OSError, MemoryError])
def test_an_error_that_means_something_to_an_actor_is_told_as_one_of_own_code(
    error: type[BaseException],
) -> None:
    class Raises(Handed):
        def propose(self, state: Vector, heard: Heard, made: int) -> Step:  # noqa: ARG002
            raise error("its own")

    mechanism, _ = wrapped(Raises(None))
    with pytest.raises(OwnCodeError, match=f"propose raises {error.__name__}: its own"):
        finished(mechanism)
