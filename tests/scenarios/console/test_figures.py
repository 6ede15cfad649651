"""Every figure on a screen, found another way: from the files, from the agents, with a pencil."""

import math
import time
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from actors.events import Delivered
from scenarios.console.assembly.differences import figures
from scenarios.console.control.time_commands import speed_to_follow
from scenarios.console.drawing.layout import SCALES
from scenarios.console.drawing.styled_text import HERE
from scenarios.console.sources.feed import line_of
from scenarios.records.reader import RunRecord
from tests.support.builders import Ran, perform, private
from tests.support.looks import HOSTILE, samples, stood, told
from tests.support.screens import HEADER, model, text
from tests.support.sessions import session_for, watched


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    return perform(HOSTILE, tmp_path_factory.mktemp("hostile"))


def test_the_story_is_mean_and_percentiles_of_the_samples(ran: Ran) -> None:
    viewer, _ = stood(ran, 20.0)
    points = viewer.session.pane.source.run_state.histories.series("loss")
    drawn = [(p.t_s, p.mean, p.low, p.high) for p in points]
    expected = [
        (e["t"] / 1e9, np.mean(each), *np.percentile(each, (10, 90)))
        for e in samples(ran)
        for each in [e["values"]["loss"]]
    ]
    assert np.allclose(drawn, expected, rtol=1e-12)
    assert len(drawn) == len(expected) > 20


def test_throughput_is_events_between_samples_and_what_was_lost_of_what_was_sent(ran: Ran) -> None:
    viewer, _ = stood(ran, 20.0)
    sent = lost = 0
    then, expected = {"seq": 0, "t": 0, "sent": 0, "lost": 0}, list[tuple[float, float]]()
    for event in RunRecord(ran.outcome.folder).events():
        sent += len(event["to"]) if event["kind"] == "sent" else 0
        lost += event["kind"] == "lost"
        if event["kind"] == "sampled":
            now = {"seq": event["seq"], "t": event["t"], "sent": sent, "lost": lost}
            if now["t"] > then["t"]:
                share = (lost - then["lost"]) / max(1, sent - then["sent"])
                pace = (now["seq"] - then["seq"]) * 1e9 / (now["t"] - then["t"])
                expected.append((pace, share))
            then = now
    drawn = viewer.session.pane.source.run_state.paces()
    assert np.allclose(drawn, expected[-len(drawn) :])
    assert max(share for _, share in drawn) > 0.1


@pytest.mark.parametrize("at", [3.0, 7.5, 9.7])
def test_a_crowd_is_counted_one_by_one(ran: Ran, at: float) -> None:
    """Bins, quantiles, groups and outliers, at this very instant; losses of the last sample."""
    viewer, control = stood(ran, at)
    source = control.source
    viewer.session.pane.change(scale="crowd")
    crowd = viewer.model(130, 40).crowd
    assert crowd is not None
    caps = np.array([4.0] * 8 + [9.0] * 4)
    epsilons = np.array([source.epsilon(i) for i in range(12)])
    states = [source.run_state.state(i) for i in range(12)]
    bins = defaultdict[str, int](int)
    for share, state in zip(epsilons / caps, states, strict=True):
        spent = share >= 0.99 or state == "spent"
        low = min(90, 10 * int(share * 10))
        bins["spent ■" if spent else f"{low}–{99 if low == 90 else low + 10}%"] += 1
    assert {name: count for name, count in crowd.bins if count} == bins
    quantiles = dict(crowd.quantiles)
    assert quantiles["ε spent"][0] == epsilons.min()
    assert quantiles["ε spent"][-1] == epsilons.max()
    assert quantiles["stale s"][-1] == max(source.stale(i) for i in range(12))
    assert quantiles["inbox"][-1] == max(source.inbox(i) for i in range(12))
    assert quantiles["releases"][-1] == max(source.releases(i) for i in range(12))
    losses = np.array([e["values"]["loss"] for e in samples(ran) if e["t"] <= at * 1e9][-1])
    for cohort, ids in zip(crowd.cohorts, (range(8), range(8, 12)), strict=True):
        mine = list(ids)
        assert cohort.count == len(mine)
        assert cohort.up == sum(states[i] in HERE for i in mine)
        assert cohort.epsilon == np.median(epsilons[mine])
        assert cohort.loss == pytest.approx(np.median(losses[mine]))
    assert crowd.outliers[0][1][0][2] == epsilons.max()
    assert crowd.at_s == at
    viewer.session.pane.filter("hubs")
    few = viewer.model(130, 40).crowd
    assert few is not None
    full = [e / 9.0 >= 0.99 or s == "spent" for e, s in zip(epsilons[8:], states[8:], strict=True)]
    assert dict(few.bins)["spent ■"] == sum(full)
    assert sum(count for _, count in few.bins) == 4
    assert sum(dict(few.bins)[f"{10 * i}–{10 * i + 10}%"] for i in range(4)) == sum(
        epsilons[8:] / 9.0 < 0.4
    ) - sum(f for f, e in zip(full, epsilons[8:], strict=True) if e / 9.0 < 0.4)
    viewer.session.pane.filter("")
    title = next(line for line in told(viewer) if "quantiles" in line)
    assert f"exact, at 00:{at:06.3f}" in title
    assert ("of 00:" in title) == (at != 3.0)


def test_below_the_agents_stand_all_of_them(ran: Ran) -> None:
    viewer, control = stood(ran, 9.0)
    shown = next(line for line in told(viewer) if "all " in line and " up " in line)
    source = control.source
    epsilons = [source.epsilon(i) for i in range(12)]
    worst = int(np.argmax(epsilons))
    assert "all 9/12 up" in shown
    assert source.run_state.state(4) == "slow"
    assert f"ε worst {epsilons[worst]:.2f} ({worst})" in shown
    assert f"median {np.median(epsilons):.2f}" in shown


def test_how_soon_a_run_ends(ran: Ran) -> None:
    """At ×s, what is left over s; at full speed, by the share of the run in each second on the wall."""
    viewer, control = stood(ran, 5.0, speed=4.0)
    control.paused = False
    meter = viewer.session.pane.builder.pace
    control._anchor = None
    assert meter.left(0.25) == pytest.approx(15.0 / 4.0)
    meter.real = 2.0  # the machine keeps no more
    assert meter.left(0.25) == pytest.approx(15.0 / 2.0)
    control.speed, meter._gain = math.inf, 0.05
    assert meter.left(0.25) == pytest.approx(15.0)
    control.speed = 4.0
    control.hurry()
    assert meter.left(0.25) == pytest.approx(15.0)
    control.hold()
    assert math.isnan(meter.left(0.25))


def test_a_pace_that_is_not_kept_is_told() -> None:
    def head(pace: float, speed: float) -> str:
        lines = text(model(header=replace(HEADER, pace=pace, speed=speed)))
        assert lines[0].index(" t 00:") == 16  # no column moves
        return lines[1]

    assert "keeps ×0.5" in head(0.5, 2.0)
    assert "keeps" not in head(1.7, 2.0) + head(math.nan, 2.0) + head(0.5, math.inf)


def test_a_player_is_where_its_pace_has_come_to(ran: Ran, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock on the wall that the test moves."""
    _, control = stood(ran, 5.0, speed=4.0)
    wall = 100.0
    monkeypatch.setattr("scenarios.console.control.replay_control.time.perf_counter", lambda: wall)
    control.play()
    assert control._reached() == 5e9
    wall = 101.5
    assert control._reached() == pytest.approx(11e9)
    control._advance()
    assert control.source.now == pytest.approx(11e9)
    wall = 200.0
    control._advance()
    assert control.source.now == control.source.length == 20_000_000_000


def test_speeds_double_and_halve(tmp_path: Path) -> None:
    run, session = session_for(tmp_path)
    watched(run, session, "until 2s", "speed 3", "faster", "faster", "slower")
    assert session.control.speed == 6.0
    watched_run, session = session_for(tmp_path / "b")
    watched(watched_run, session, "until 2s", "speed max", "slower")
    assert session.control.speed == speed_to_follow(session.pane) == 20.0 / 40.0


def test_what_was_noticed_late_is_told_in_milliseconds() -> None:
    event = Delivered(9, 5_250_000_000, 3, None, 1, 7, 5_000_000_000)
    assert line_of(event, 20)[0].endswith("3 ←1 #7 noticed 250ms later")


def test_a_rare_event_is_listed_however_long_ago_it_was(ran: Ran) -> None:
    viewer, control = stood(ran, 20.0)
    state = control.source.run_state
    for kept in (state.recent,):
        while kept and kept[0].t < 15e9:
            kept.popleft()
    viewer.session.pane.events("crashed")
    lines = viewer.session.pane.builder.build(viewer.session.pane.view).model.feed.lines
    assert [text.split()[2] for text, _ in lines] == ["1", "2", "9"]


def test_what_differs_is_found_with_a_pencil(tmp_path: Path) -> None:
    one = perform(HOSTILE, tmp_path / "a")
    other = perform(HOSTILE | {"run": {"seed": 6, "horizon": 20.0}}, tmp_path / "b")
    sources = [stood(ran, 20.0)[1].source for ran in (one, other)]
    found = {figure.name: figure for figure in figures(*sources)}
    for at, source in enumerate(sources):

        def of(name: str, at: int = at) -> float:
            return (found[name].one, found[name].other)[at]

        epsilons = [source.epsilon(i) for i in range(12)]
        sums = source.messages()
        assert of("ε median") == sorted(epsilons)[5] / 2 + sorted(epsilons)[6] / 2
        assert of("stale s p50") == np.median([source.stale(i) for i in range(12)])
        assert (of("lost"), of("in flight")) == (sums.lost, sums.flying)
        assert of("releases") == sum(source.releases(i) for i in range(12))
        losses = samples((one, other)[at])[-1]["values"]["loss"]
        assert of("loss* p90") == pytest.approx(np.percentile(losses, 90))


def test_a_pace_is_measured_anew_when_it_changes(ran: Ran) -> None:
    """What was held, or went at another pace, does not count."""
    viewer, control = stood(ran, 5.0)
    meter = viewer.session.pane.builder.pace
    for change in (
        control.hold,
        control.play,
        lambda: control.set_speed(7.0),
        control.hurry,
        viewer.restart_pace,
    ):
        meter.real, meter.events_per_s = 0.01, 3.0
        meter._start = time.perf_counter() - 10, 0, 0.0, 0
        change()
        head = viewer.model(100, 30).header
        assert math.isnan(head.pace)
        assert head.events_per_s == 0


MANY = 420
"""More agents than a grid holds: a crowd."""


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """A crowd of which a hundred crash between 5 and 6 s."""
    made = private(
        run={"seed": 5, "horizon": 8.0},
        data={"source": "separators", "dimension": 2, "points": 5, "test_points": 0},
        network={"topology": "ring", "latency": 0.1},
        nodes=[{"count": MANY, "budget": {"epsilon": 4.0, "delta": 1e-5}}],
        fault=[{"at": 5.5, "crash": list(range(100))}],
    )
    return perform(made, tmp_path_factory.mktemp("many"))


@pytest.mark.slow
@pytest.mark.parametrize("scale", SCALES)
def test_a_panel_of_a_crowd_is_of_one_instant_while_time_goes_on(many: Ran, scale: str) -> None:
    """Everybody is looked at twice a second of the wall: at 6 s, figures are still those of 5 s, all of them."""
    viewer, control = stood(many, 5.0)
    viewer.session.pane.change(scale=scale)
    then = viewer.model(130, 40)
    control.play()
    viewer.session.pane.builder._due = math.inf  # the next look at everybody is far away
    control.source.seek(6 * 10**9)
    now = viewer.model(130, 40)
    assert now.header.now_s == 6.0
    assert now.nodes.at_s == 5.0
    assert [control.source.run_state.state(i) for i in range(100)] == ["down"] * 100
    assert "down" not in now.nodes.states
    assert now.nodes.rows == [
        replace(row, trend=now.nodes.rows[i].trend) for i, row in enumerate(then.nodes.rows)
    ]
    for name in ("states", "epsilon_worst", "epsilon_median", "worst", "losses"):
        assert getattr(now.nodes, name) == getattr(then.nodes, name), name
    assert now.crowd == then.crowd
    control.hold()  # while nothing goes on, everybody is looked at now
    held = viewer.model(130, 40)
    assert held.nodes.at_s == 6.0
    assert held.nodes.states.count("down") == 100


@pytest.mark.slow
def test_states_of_a_crowd_are_of_those_who_pass_the_filter(many: Ran) -> None:
    viewer, _ = stood(many, 6.0)
    viewer.session.pane.filter("50..149")
    crowd = viewer.model(130, 40).crowd
    assert crowd is not None
    assert crowd.states["down"] == 50
    assert sum(crowd.states.values()) == sum(count for _, count in crowd.bins) == 100
    assert any("✕ down 50" in line for line in told(viewer))
