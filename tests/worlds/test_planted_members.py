"""A new member of a family that one place has forgotten is an error: it never behaves as another member."""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, replace
from inspect import signature
from pathlib import Path
from typing import Any

import pytest

from mechanisms.noise import LAWS, Gaussian
from scenarios.experiments.random_worlds import Dice, small_world
from scenarios.language.problems import ScenarioError
from scenarios.language.table_rules import Field, KindTable, Many, Table, keys_of
from scenarios.language.value_rules import Rule
from scenarios.planning import mechanism_tables, scenario_tables
from scenarios.planning.clocks import CLOCKS, ClockKind, ClockTable
from scenarios.planning.data_sources import SOURCES, SourceKind, SourceTable
from scenarios.planning.durations import DURATIONS, DurationTable
from scenarios.planning.fault_kinds import DIRECTION, FAULTS, LOSE, FaultKind, fault_kinds
from scenarios.planning.faults.partition import PartitionTable
from scenarios.planning.faults.privacy import PrivacyFaultTable
from scenarios.planning.faults.storage import StorageTable
from scenarios.planning.kinds import Tables
from scenarios.planning.losses import LOSSES, LossTable
from scenarios.planning.mechanism import MECHANISMS, MechanismKind
from scenarios.planning.metric import Metric
from scenarios.planning.metric_names import METRICS
from scenarios.planning.splits import SPLITS, SplitKind, SplitTable
from scenarios.planning.starts import STARTS, StartTable
from scenarios.planning.topologies import TOPOLOGIES, TopologyKind, TopologyTable
from tests.support.builders import perform, private, scenario

NEW = "brand-new"
FORGOTTEN = (AssertionError, KeyError, NotImplementedError, ValueError)
"""What a forgotten place raises; `assert_never` raises an AssertionError; `ScenarioError`, a refusal of the scenario, is a ValueError."""


def refused(tree: dict[str, Any], folder: Path) -> None:
    """Run a world, and see that it fails by the name of the new member."""
    with pytest.raises(FORGOTTEN, match=NEW):
        perform(tree, folder)


def add(monkeypatch: pytest.MonkeyPatch, choice: Any) -> None:
    """Let a rule accept one more word."""
    rule = getattr(choice, "rule", choice)
    monkeypatch.setattr(rule, "names", (*rule.names, NEW))


@pytest.mark.parametrize(
    "field", [part.name for part in fields(MechanismKind) if part.default is MISSING]
)
def test_a_kind_of_mechanism(
    field: str, tmp_path: Path, plant_mechanism: Callable[[str, str], None]
) -> None:
    """A file whose record leaves a field out cannot be read: it is no mechanism of another kind."""
    plant_mechanism(NEW, f"del given[{field!r}]\nKIND = MechanismKind(**given)")
    with pytest.raises(TypeError, match=field):
        perform(scenario(mechanism={"kind": NEW}), tmp_path)


RECORDS: tuple[type[Any], ...] = (
    ClockKind,
    FaultKind,
    SourceKind,
    SplitKind,
    TopologyKind,
)


@pytest.mark.parametrize("record", RECORDS)
def test_a_record_that_leaves_something_out_cannot_be_made(record: type[Any]) -> None:
    required = [part.name for part in fields(record) if part.default is MISSING]
    assert {"name", "table"} < set(required)
    whole: dict[str, Any] = dict.fromkeys(required)
    record(**whole)
    for name in required:
        with pytest.raises(TypeError, match=name):
            record(**{key: value for key, value in whole.items() if key != name})


TABLES: tuple[tuple[Mapping[str, type[KindTable]], type[KindTable], tuple[str, ...]], ...] = (
    (DURATIONS, DurationTable, ("law",)),
    (LOSSES, LossTable, ("build", "score", "convex")),
    (Tables(SPLITS), SplitTable, ("sizes",)),
    (STARTS, StartTable, ("models",)),
    (Tables(SOURCES), SourceTable, ("build", "amount", "files")),
    (Tables(TOPOLOGIES), TopologyTable, ("join",)),
    (Tables(CLOCKS), ClockTable, ("clocks",)),
)


@pytest.mark.parametrize(("family", "base", "parts"), TABLES)
def test_a_table_says_itself_what_is_made_of_it(
    family: Mapping[str, type[KindTable]], base: type[KindTable], parts: tuple[str, ...]
) -> None:
    """A table that leaves its method or an attribute out fails by its name: it never has those of another kind."""
    for name, table in family.items():
        for part in parts:
            assert getattr(table, part) is not getattr(base, part, None), (name, part)
    method = getattr(base(kind=NEW), parts[0])
    nothing = (None for _ in signature(method).parameters)
    with pytest.raises(NotImplementedError, match=NEW):
        method(*nothing)


def _key(table: type[Table], key: str) -> Field:
    """Return a key of a table, with its rule."""
    return keys_of(table)[key]


def _entries(field: Field) -> Rule:
    """Return the rule of the entries of an array."""
    assert isinstance(field.rule, Many)
    return field.rule.rule


def _faults(action: str, value: Any) -> dict[str, Any]:
    return {"fault": [{"at": 1.0, action: value}]}


_PRIVACY = scenario_tables.PrivacyTable
_KIND_OF_CRASH = {"at": 1.0, "crash": [0], "lose": NEW}
WORDS: dict[str, tuple[Any, dict[str, Any]]] = {
    "fault of privacy": (
        _key(PrivacyFaultTable, "kind"),
        _faults("privacy", {"on": [0], "kind": NEW}),
    ),
    "fault of storage": (
        _key(StorageTable, "kind"),
        {"fault": [{"at": 1.0, "storage": {"on": [0], "kind": NEW}}, {"at": 5.0, "crash": [0]}]},
    ),
    "direction of a loss": (
        DIRECTION,
        {"fault": [{"at": 1.0, "hold": [[0, 1]], "direction": NEW}]},
    ),
    "loss of a crash": (LOSE, {"fault": [_KIND_OF_CRASH]}),
    "mode of a partition": (
        _key(PartitionTable, "mode"),
        _faults("partition", {"isolate": [0], "mode": NEW}),
    ),
    "direction": (
        DIRECTION,
        {"fault": [{"at": 1.0, "partition": {"isolate": [0]}, "direction": NEW}]},
    ),
    "start of a group": (
        _key(scenario_tables.GroupTable, "start"),
        {"nodes": [{"count": 3, "start": NEW, "budget": {"epsilon": 4.0}}]},
    ),
    "reduction": (
        _key(scenario_tables.TaskTable, "reduction"),
        {"task": {"l2": 0.1, "reduction": NEW}},
    ),
    "view": (_entries(_key(_PRIVACY, "views")), {"privacy": {"views": [NEW]}}),
    "accountant": (_key(_PRIVACY, "accountant"), {"privacy": {"accountant": NEW}}),
    "accountant that calibrates": (
        _key(_PRIVACY, "calibrate"),
        {"privacy": {"calibrate": NEW}},
    ),
    "filter": (_key(_PRIVACY, "filter"), {"privacy": {"filter": NEW}}),
    "schedule": (
        _key(mechanism_tables.DescentTable, "schedule"),
        {
            "mechanism": {
                "kind": "cd",
                "noise": "norm-gamma",
                "releases": 4,
                "schedule": NEW,
            }
        },
    ),
}


@pytest.mark.parametrize("family", WORDS)
def test_a_word_of_a_choice(family: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rule, sections = WORDS[family]
    add(monkeypatch, rule)
    refused(private(**sections), tmp_path)


def test_what_an_agent_does_without_a_budget(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(monkeypatch, _key(scenario_tables.BudgetTable, "on_exhausted"))
    budget = {"epsilon": 0.1, "on_exhausted": NEW}
    mechanism = {"kind": "pp", "noise": {"start": 1.0}, "eta": {"start": 1.0}}
    nodes = [{"name": "peers", "count": 4, "budget": budget}]
    refused(scenario(nodes=nodes, mechanism=mechanism, task={}), tmp_path)


def plant_fault(monkeypatch: pytest.MonkeyPatch, kind: FaultKind[Any]) -> None:
    """Let the family of faults have one more."""
    monkeypatch.setitem(FAULTS._modules, kind.name, "")
    monkeypatch.setitem(FAULTS._loaded, kind.name, kind)


@pytest.mark.parametrize("like", FAULTS)
def test_a_fault_is_what_its_record_says(
    like: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A record under a new name does what the record does; one that builds nothing fails."""
    known = FAULTS[like]
    example = known.examples[0]
    plant_fault(monkeypatch, replace(known, name=NEW))
    assert NEW in {kind.name for kind in fault_kinds()}
    tree = small_world(Dice(1, 0), 0) | {"mechanism": "cd", "run": {"seed": 1, "horizon": 4.0}}
    tree |= {"nodes": [{"name": "peers", "count": 4, "compute": 0.1}], "server": None}
    del tree["server"]
    written = example.make(Dice(1, 1), 4)
    plain = {"name": "same chance", "at": 1.0, **written}
    planted = {NEW if key == like else key: value for key, value in plain.items()}
    one, two = (perform(tree | {"fault": [fault]}, tmp_path) for fault in (plain, planted))
    assert two.run.plan.faults[0].name == NEW
    assert one.digests == two.digests

    def forgotten(*_: object) -> Any:
        raise NotImplementedError(NEW)

    plant_fault(monkeypatch, replace(known, name=NEW, build=forgotten))
    refused(tree | {"fault": [planted]}, tmp_path)


def test_a_law_of_noise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A law whose charge has no unit cannot be charged; one that is not said to be private keeps no budget."""

    class Student(Gaussian):
        name = NEW

    tree = private(mechanism={"kind": "cd", "noise": NEW, "releases": 4})
    add(monkeypatch, _key(mechanism_tables.DescentTable, "noise"))
    monkeypatch.setitem(LAWS, NEW, Student())
    with pytest.raises(ScenarioError, match="keep no budget"):
        perform(tree, tmp_path)
    known = MECHANISMS["cd"]
    assert known.noise is not None
    noise = replace(known.noise, unit={NEW: "mu"})
    monkeypatch.setitem(MECHANISMS._loaded, "cd", replace(known, noise=noise))
    refused(tree, tmp_path)


def plant(monkeypatch: pytest.MonkeyPatch, metric: Metric) -> None:
    """Let the family of metrics have one more."""
    monkeypatch.setitem(METRICS._all, metric.name, metric)


def test_a_metric(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says whether it reads models and what it counts, and has a formula; a fault by one that reads them is refused without `oracle`."""
    name = NEW.replace("-", ".")
    with pytest.raises(TypeError, match="reads_models"):
        Metric(name, "new", unit="a number", compute=lambda _: 0.0)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="unit"):
        Metric(name, "new", reads_models=True, compute=lambda _: 0.0)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="compute"):
        Metric(name, "new", reads_models=True, unit="a number")  # type: ignore[call-arg]
    read = Metric(
        name,
        "new",
        reads_models=True,
        unit="a number",
        per_agent=True,
        compute=lambda at: at.theta[:, 0],
    )
    plant(monkeypatch, read)
    by_value = scenario(fault=[{"when": f"{name}.mean > 1e9", "crash": [0]}])
    chosen = {"at": 1.0, "crash": {"highest": name}}
    for tree in (by_value, scenario(fault=[chosen])):
        with pytest.raises(ScenarioError, match="reads what only an oracle sees"):
            perform(tree, tmp_path)
    assert perform(scenario(fault=[chosen | {"oracle": True}]), tmp_path).outcome.code == 0
    plant(monkeypatch, replace(read, reads_models=False))
    assert perform(by_value, tmp_path).outcome.code == 0


def test_a_metric_that_does_not_read_models_is_none_of_them() -> None:
    """No metric of a model, a loss or a dual says that it reads none."""
    of_models: tuple[str, ...] = (
        "loss",
        "accuracy",
        "rmse",
        "gain",
        "harmed",
        "noise",
        "objective",
        "optimum",
    )
    of_models += ("gap", "consensus", "bias", "distance", "duals", "attack", "epsilon.audited")
    harmless = [metric.name for metric in METRICS.values() if not metric.reads_models]
    assert harmless
    assert not [name for name in harmless if name.startswith(of_models)]
