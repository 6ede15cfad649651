"""Pictures say what was recorded: one point for each value of the axis, in its order, inside its own band."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from scenarios.api.result import Result
from scenarios.api.runs import make_plan
from scenarios.auditing.audit import Order, audit
from scenarios.auditing.report import as_json
from scenarios.command.main import main
from scenarios.pictures.curves import curve_of
from scenarios.pictures.draw import Request, save
from scenarios.pictures.picture import Material
from scenarios.planning.context import Options
from scenarios.planning.run_size import extent
from scenarios.records.audit_record import AuditRecord
from tests.support.builders import Ran, perform, private, scenario
from tests.support.records import edit_record, events_of

AXES = ("time", "rounds", "updates", "releases", "bytes", "epsilon")
ROUNDS = 20


@pytest.fixture(scope="module")
def steady(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six agents that wake every second and have made all their releases after eight."""
    nodes = [
        {
            "name": "peers",
            "count": 6,
            "clock": "synchronous",
            "budget": {"epsilon": 4.0, "delta": 1e-5},
        }
    ]
    return perform(private(nodes=nodes), tmp_path_factory.mktemp("runs")).outcome.folder


@pytest.fixture(scope="module")
def still(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """Twenty rounds of barriers without latency: all of them happen at the first instant."""
    made = private(
        run={"seed": 5, "rounds": ROUNDS},
        nodes=[{"count": 6, "clock": "barrier", "budget": {"epsilon": 4.0, "delta": 1e-5}}],
        mechanism={"kind": "dvp", "releases": ROUNDS},
        task={},
    )
    return perform(made, tmp_path_factory.mktemp("runs"))


@pytest.mark.parametrize("x", AXES)
@pytest.mark.parametrize("what", ["loss", "gap", "epsilon", "releases"])
def test_a_curve_lies_in_its_band_and_never_goes_back(steady: Path, what: str, x: str) -> None:
    """After the eighth release ε stands still while losses move: what was reached there is one point."""
    curve = curve_of(Result(steady), what, x)
    assert (np.diff(curve.at) > 0).all()
    assert (curve.low <= curve.middle).all()
    assert (curve.middle <= curve.high).all()
    assert len(curve.at) == (9 if x in {"releases", "epsilon"} else 21)
    last = list(Result(steady).samples())[-1]["values"][what]
    assert curve.mean[-1] == pytest.approx(np.mean(last))


def test_an_epsilon_that_the_end_finds_smaller_holds_for_what_was_before(
    steady: Path, tmp_path: Path
) -> None:
    """ε is 1, 2, 3 in closed form, and the end proves 2.5 for all three releases: 3 was too much, 2 still holds."""
    import shutil

    folder = tmp_path / "run"
    shutil.copytree(steady, folder)
    lines = events_of(folder)
    samples = [event for event in lines if event["kind"] == "sampled"]
    for event, epsilon in zip(samples, [1.0, 2.0, *[3.0] * len(samples)], strict=False):
        event["values"]["epsilon"] = [epsilon] * 6
    samples[-1]["values"]["epsilon"] = [2.5] * 6
    edit_record(folder, lines)
    assert curve_of(Result(folder), "loss", "epsilon").at.tolist() == [1.0, 2.0, 2.5]
    drawn = curve_of(Result(folder), "epsilon", "time")
    assert drawn.mean.tolist() == [1.0, 2.0, *[2.5] * (len(drawn.at) - 2)]


def test_where_time_stands_still_every_round_has_a_sample(still: Ran) -> None:
    samples = [event["values"] for event in still.events("sampled")]
    assert {event["t"] for event in still.events("sampled")} == {0}
    made = [sum(values["releases"]) for values in samples]
    assert made[: ROUNDS + 1] == [6 * k for k in range(ROUNDS + 1)]
    assert set(made[ROUNDS + 1 :]) == {6 * ROUNDS}
    assert extent(still.run.plan).samples == len(samples)


def test_where_time_stands_still_a_line_is_drawn_against_rounds(still: Ran) -> None:
    result = Result(still.outcome.folder)
    for x, per_round in (("rounds", 1), ("updates", 6), ("releases", 6)):
        curve = curve_of(result, "loss", x)
        assert curve.at.tolist() == [per_round * k for k in range(ROUNDS + 1)]
    assert len(set(curve.middle.tolist())) > ROUNDS // 2


def test_a_server_that_takes_no_time_is_sampled_after_each_round(tmp_path: Path) -> None:
    made = perform(
        scenario(
            run={"seed": 5, "rounds": 12},
            nodes=[{"count": 6, "clock": "barrier"}],
            mechanism={"kind": "fedavg"},
            network={},
        ),
        tmp_path,
    )
    curve = curve_of(Result(made.outcome.folder), "loss", "rounds")
    assert curve.at.tolist() == list(range(13))


def test_where_time_passes_there_is_no_sample_but_by_time(steady: Path) -> None:
    at = Counter(
        event["t"] / 1e9 for event in Result(steady).events() if event["kind"] == "sampled"
    )
    assert at == Counter({float(t): 1 for t in range(21)})


@pytest.mark.parametrize(("rounds", "stride"), [(1, 1), (1000, 1), (1001, 2), (2500, 3)])
def test_of_many_rounds_a_thousand_are_sampled(rounds: int, stride: int) -> None:
    plan = make_plan(
        scenario(run={"seed": 1, "rounds": rounds}, nodes=[{"count": 6, "clock": "barrier"}])
    )
    assert extent(plan).stride == stride


def refusal(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Return the one sentence with which a plot is refused."""
    assert main(["plot", *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    (line,) = err.splitlines()
    return line


@pytest.mark.slow
def test_what_has_no_two_points_is_refused_and_something_else_is_offered(
    still: Ran, steady: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(still.outcome.folder)
    said = refusal(capsys, folder, "loss")
    assert (
        said
        == "'loss' against time has one point in this run, and a line needs two; try --x rounds"
    )
    assert not (still.outcome.folder / "loss.png").exists()
    said = refusal(capsys, str(steady), "availability")
    assert said.endswith(
        "has one point in this run, and a line needs two; it was sampled once, at the end"
    )
    assert main(["plot", folder, "loss", "--x", "rounds", "--out", str(tmp_path / "a.png")]) == 0


def test_clocks_without_rounds_have_none_to_draw(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(perform(scenario(), tmp_path).outcome.folder)
    said = refusal(capsys, folder, "loss", "--x", "rounds")
    assert said == (
        "rounds are of synchronous and barrier clocks and of servers, and agents here have clocks of the kind "
        "poisson; --x updates counts wakes"
    )
    assert main(["plot", folder, "loss", "--x", "updates"]) == 0


def test_an_audit_of_one_release_is_drawn_as_an_interval_with_its_numbers(tmp_path: Path) -> None:
    """What a picture holds is in the comments and the classes of its SVG."""
    from scenarios.language.json_numbers import show

    plan = make_plan("errata/e01-dvp-zeta-as-printed")
    order = Order(plan, 20, 0.95, None, "worst", None, 1, Options())
    found = audit(order, lambda _: None)
    ((releases, audited, claimed, charged),) = found.curve
    assert releases == 1
    (tmp_path / "audit.json").write_text(json.dumps(as_json(order, found)), encoding="utf-8")
    save(Request(Material(audits=(AuditRecord(tmp_path),)), ("audit",)), None, "svg")
    picture = (tmp_path / "audit.svg").read_text("utf-8")
    for value in (audited, claimed, charged):
        assert f"<!-- {show(value)} -->" in picture
    assert 'id="LineCollection_1"' in picture  # the interval
    assert "FillBetween" not in picture
    assert "PolyCollection" not in picture


def test_against_its_own_epsilon_every_agent_tells_what_it_had_reached(
    steady: Path, tmp_path: Path
) -> None:
    """Two of six agents spend 1 and 2, the others nothing; what an agent had reached below x is its value at x."""
    import shutil

    folder = tmp_path / "run"
    shutil.copytree(steady, folder)
    lines = events_of(folder)
    samples = [event for event in lines if event["kind"] == "sampled"]
    for place, event in enumerate(samples):
        late = place >= 10
        event["values"]["epsilon"] = [1.0 if late else 0.0, 2.0 if late else 0.0, 0, 0, 0, 0]
        event["values"]["loss"] = [10.0 * late, 20.0 * late, 4.0, 4.0, 4.0, "inf"]
    edit_record(folder, lines)
    curve = curve_of(Result(folder), "loss", "epsilon")
    assert curve.at.tolist() == [0.0, 1.0, 2.0]
    assert curve.mean == pytest.approx([12 / 5, 22 / 5, 42 / 5])
    assert curve.largest.tolist() == [4, 10, 20]
    assert curve.left_out == 1


def test_what_spends_alike_is_one_point(tmp_path: Path) -> None:
    """Two releases of a group with ε = 1 cost what one of a group with twice the budget does, but for rounding."""
    groups = [
        {"count": 3, "clock": "synchronous", "budget": {"epsilon": float(e), "delta": 1e-5}}
        for e in (1, 2)
    ]
    made = private(nodes=groups, mechanism={"kind": "cd", "noise": "laplace", "releases": 5})
    curve = curve_of(Result(perform(made, tmp_path).outcome.folder), "loss", "epsilon")
    assert curve.at == pytest.approx([0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.6, 2.0], abs=1e-3)


@pytest.mark.parametrize(
    ("what", "fold"), [("loss.max", max), ("loss.min", min), ("loss.sum", sum)]
)
def test_an_aggregate_is_drawn_as_one_line(steady: Path, what: str, fold: object) -> None:
    assert callable(fold)
    curve = curve_of(Result(steady), what, "time")
    each = [event["values"]["loss"] for event in Result(steady).samples()]
    assert curve.middle == pytest.approx([fold(values) for values in each])
    assert not curve.per_node


def test_a_band_holds_eighty_percent_of_the_agents(steady: Path) -> None:
    """Of six values the tenth percentile lies half-way between the least and the next, the ninetieth likewise."""
    curve = curve_of(Result(steady), "loss", "time")
    each = np.sort([event["values"]["loss"] for event in Result(steady).samples()], axis=1)
    assert curve.low == pytest.approx((each[:, 0] + each[:, 1]) / 2)
    assert curve.high == pytest.approx((each[:, 4] + each[:, 5]) / 2)
    assert curve.middle == pytest.approx((each[:, 2] + each[:, 3]) / 2)
