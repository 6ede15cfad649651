"""What `check` expects of a run: bytes within a factor of 2, whatever ends it; and what it refuses for its length."""

from pathlib import Path
from typing import Any

import pytest

from scenarios.api.runs import make_plan
from scenarios.experiments.scenario_tests import collect
from scenarios.language.problems import ScenarioError
from scenarios.language.reader import library_names
from scenarios.planning.forecast import forecast
from scenarios.planning.run_size import extent
from tests.support.builders import Ran, perform, scenario
from tests.support.catalogue import EVERY, world
from tests.support.finished_runs import finished


def judge(ran: Ran) -> None:
    """Compare the size of the events with what was promised before the run."""
    promised = forecast(ran.run.plan)["expected"]["events_file_bytes"]
    written = sum(p.stat().st_size for p in ran.outcome.folder.glob("record-*.hush"))
    assert promised / 2 < written < promised * 2


_QUICK = {name for name in library_names() if name.startswith("errata/e0")} | {"ring5-dropout"}


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=() if n in _QUICK else pytest.mark.slow) for n in collect(["library:"])],
)
def test_a_world_of_the_library_writes_what_was_promised(name: str, tmp_path: Path) -> None:
    judge(perform(make_plan(name, set={"expect": []}), tmp_path))


@pytest.mark.parametrize("name", EVERY)
def test_every_kind_writes_what_was_promised(name: str) -> None:
    judge(finished(world(name)))


_BARRIER = {"kind": "barrier", "timeout": "100s"}
_SERVER: dict[str, Any] = {
    "mechanism": {"kind": "fedavg"},
    "nodes": [{"count": 4, "clock": "barrier"}],
    "server": {"deadline": "1000s"},
}
LONG: dict[str, dict[str, Any]] = {
    "updates of slow clocks": {
        "run": {"seed": 1, "updates": 12, "sample_every": "1m"},
        "nodes": [{"count": 4, "clock": {"kind": "poisson", "rate": "1/h"}}],
    },
    "rounds of slow clocks": {
        "run": {"seed": 1, "rounds": 3, "sample_every": "10s"},
        "nodes": [{"count": 4, "clock": {"kind": "synchronous", "period": "1h"}}],
    },
    "rounds that wait for their timeout": {
        "run": {"seed": 1, "rounds": 10},
        "nodes": [{"count": 4, "clock": _BARRIER}],
        "network": {"topology": "complete", "loss": 0.5},
    },
    "rounds that wait for a silent agent": {
        "run": {"seed": 1, "rounds": 10},
        "nodes": [{"count": 4, "clock": _BARRIER}],
        "network": {"topology": "complete"},
        "fault": [{"at": 0.0, "crash": [2]}],
    },
    "rounds of a server that lose messages": _SERVER
    | {"run": {"seed": 1, "rounds": 4}, "network": {"loss": 0.5}},
    "rounds of a server with a silent client": _SERVER
    | {"run": {"seed": 1, "rounds": 4}, "fault": [{"at": 0.0, "crash": [2]}]},
    "samples all the time": {"run": {"seed": 1, "horizon": "20s", "sample_every": "5ms"}},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", LONG)
def test_samples_are_counted_whatever_ends_a_run(name: str, tmp_path: Path) -> None:
    judge(perform(scenario(**LONG[name]), tmp_path))


TOO_LONG: dict[str, dict[str, Any]] = {
    name: sections | {"run": sections["run"] | {"sample_every": "1ms"}}
    for name, sections in LONG.items()
    if name != "samples all the time"
}


@pytest.mark.parametrize("name", TOO_LONG)
def test_more_than_a_million_samples_need_allow_large(name: str) -> None:
    tree = scenario(**TOO_LONG[name])
    tree["run"] = tree["run"] | ({"rounds": 100} if "rounds" in tree["run"] else {"updates": 100})
    with pytest.raises(ScenarioError, match=r"run\.sample_every: gives up to .* samples; above"):
        make_plan(tree)
    assert extent(make_plan(tree, allow_large=True)).samples > 0


SELDOM: dict[str, dict[str, Any]] = {
    "a message in a million": {
        "nodes": [{"count": 4, "clock": _BARRIER}],
        "network": {"topology": "complete", "loss": 1e-6, "latency": "1ms"},
    },
    "a server that a fault may silence": _SERVER
    | {"network": {"latency": "1ms"}, "fault": [{"when": "node == 3", "for": "1s", "crash": [2]}]},
}


@pytest.mark.parametrize("name", SELDOM)
def test_deadlines_that_may_be_waited_for_are_counted(name: str) -> None:
    """A run of a fraction of a second is expected, of at most 10,000 s or more: it is the longest that is judged."""
    tree = scenario(**SELDOM[name], run={"seed": 1, "rounds": 100, "sample_every": "1ms"})
    assert extent(make_plan(tree, allow_large=True)).seconds < 10.0
    with pytest.raises(ScenarioError, match=r"run\.sample_every: gives up to .* samples; above"):
        make_plan(tree)


def test_rounds_that_take_no_time_wait_for_no_deadline(tmp_path: Path) -> None:
    """Samples come by rounds then: a deadline of a day that nothing waits for adds none."""
    tree = scenario(**_SERVER | {"run": {"seed": 1, "rounds": 3}, "server": {"deadline": "1d"}})
    promised = extent(make_plan(tree)).samples
    assert promised == len(perform(tree, tmp_path).events("sampled")) < 10
