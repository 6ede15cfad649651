"""Every figure on a screen, found another way: from the files, from the agents, with a pencil."""

import asyncio
import json
import math
import sys
import time
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from actors.events import Charged, Delivered, Diverged
from scenarios.api import make_plan
from scenarios.conduct import Run
from scenarios.console.deck import Player
from scenarios.console.differences import figures
from scenarios.console.feed import tell
from scenarios.console.ink import HERE
from scenarios.console.orders import carry_out
from scenarios.console.recording import Recording
from scenarios.console.reel import length
from scenarios.console.timing import _from_max
from scenarios.console.viewer import Viewer, viewer_of, viewer_of_recording
from scenarios.folder import events
from scenarios.governor import Hand
from tests.support.builders import Ran, perform, private, scenario
from tests.support.desks import desk_of, watched
from tests.support.screens import HEADER, model, text
from tests.worlds.test_adaptive import OWN, Exploding

HOSTILE = private(
    run={"seed": 5, "horizon": 20.0},
    network={"topology": "complete", "latency": 0.2, "loss": 0.2},
    nodes=[
        {"name": "phones", "count": 8, "budget": {"epsilon": 4.0, "delta": 1e-5}},
        {"name": "hubs", "count": 4, "budget": {"epsilon": 9.0, "delta": 1e-5}},
    ],
    fault=[{"at": 6.0, "crash": [1, 2, 9]}, {"at": 8.0, "for": 3.0, "slow": {"on": [4], "factor": 3}}],
)  # fmt: skip
HOSTILE["nodes"][0]["compute"] = 0.05


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    return perform(HOSTILE, tmp_path_factory.mktemp("hostile"))


def stood(ran: Ran | Run, at: float, speed: float = 4.0) -> tuple[Viewer, Player]:
    """Look at a run as it was at some time."""
    folder = ran.outcome.folder if isinstance(ran, Ran) else ran.folder.path
    viewer, found = viewer_of_recording(folder, speed)
    found.source.seek(round(at * 1e9))
    found.hold()
    return viewer, found


def told(viewer: Viewer, width: int = 130, height: int = 40) -> list[str]:
    return ["".join(text for text, _ in line) for line in viewer.draw(width, height)]


def samples(ran: Ran) -> list[dict[str, Any]]:
    return [e for e in events(ran.outcome.folder) if e["kind"] == "sampled"]


def test_losses_over_time_are_percentiles_of_the_samples(ran: Ran) -> None:
    viewer, _ = stood(ran, 20.0)
    drawn = viewer.desk.source.scene.history()
    expected = [
        (e["t"] / 1e9, *np.percentile(e["values"]["loss"], (10, 50, 90))) for e in samples(ran)
    ]
    assert np.allclose(drawn, expected, rtol=1e-12)
    assert len(drawn) == len(expected) > 20


def test_throughput_is_events_between_samples_and_what_was_lost_of_what_was_sent(ran: Ran) -> None:
    viewer, _ = stood(ran, 20.0)
    sent = lost = 0
    then, expected = {"seq": 0, "t": 0, "sent": 0, "lost": 0}, list[tuple[float, float]]()
    for event in events(ran.outcome.folder):
        sent += len(event["to"]) if event["kind"] == "sent" else 0
        lost += event["kind"] == "lost"
        if event["kind"] == "sampled":
            now = {"seq": event["seq"], "t": event["t"], "sent": sent, "lost": lost}
            if now["t"] > then["t"]:
                share = (lost - then["lost"]) / max(1, sent - then["sent"])
                pace = (now["seq"] - then["seq"]) * 1e9 / (now["t"] - then["t"])
                expected.append((pace, share))
            then = now
    drawn = viewer.desk.source.scene.paces()
    assert np.allclose(drawn, expected[-len(drawn) :])
    assert max(share for _, share in drawn) > 0.1


@pytest.mark.parametrize("at", [3.0, 7.5, 9.7])
def test_a_crowd_is_counted_one_by_one(ran: Ran, at: float) -> None:
    """Bins, quantiles, groups and outliers, at this very instant; losses of the last sample."""
    viewer, player = stood(ran, at)
    source, look = player.source, viewer.desk.look
    look.scale = "crowd"
    crowd = viewer.model(130, 40).crowd
    assert crowd is not None
    caps = np.array([4.0] * 8 + [9.0] * 4)
    epsilons = np.array([source.epsilon(i) for i in range(12)])
    states = [source.scene.state(i) for i in range(12)]
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
    viewer.desk.filter("hubs")
    few = viewer.model(130, 40).crowd
    assert few is not None
    full = [e / 9.0 >= 0.99 or s == "spent" for e, s in zip(epsilons[8:], states[8:], strict=True)]
    assert dict(few.bins)["spent ■"] == sum(full)
    assert sum(count for _, count in few.bins) == 4
    assert sum(dict(few.bins)[f"{10 * i}–{10 * i + 10}%"] for i in range(4)) == sum(
        epsilons[8:] / 9.0 < 0.4
    ) - sum(f for f, e in zip(full, epsilons[8:], strict=True) if e / 9.0 < 0.4)
    viewer.desk.filter("")
    title = next(line for line in told(viewer) if "quantiles" in line)
    assert f"exact, at 00:{at:06.3f}" in title
    assert ("of 00:" in title) == (at != 3.0)


def test_below_the_agents_stand_all_of_them(ran: Ran) -> None:
    viewer, player = stood(ran, 9.0)
    shown = next(line for line in told(viewer) if "all " in line and " up " in line)
    source = player.source
    epsilons = [source.epsilon(i) for i in range(12)]
    worst = int(np.argmax(epsilons))
    assert "all 9/12 up" in shown
    assert source.scene.state(4) == "slow"
    assert f"ε worst {epsilons[worst]:.2f} ({worst})" in shown
    assert f"median {np.median(epsilons):.2f}" in shown


def test_how_soon_a_run_ends(ran: Ran) -> None:
    """At ×s, what is left over s; at full speed, by the share of the run in each second on the wall."""
    viewer, player = stood(ran, 5.0, speed=4.0)
    player.paused = False
    tempo = viewer.desk.gather.tempo
    player._anchor = None
    assert tempo.left(0.25) == pytest.approx(15.0 / 4.0)
    tempo.real = 2.0  # the machine keeps no more
    assert tempo.left(0.25) == pytest.approx(15.0 / 2.0)
    player.speed, tempo._gain = math.inf, 0.05
    assert tempo.left(0.25) == pytest.approx(15.0)
    player.speed = 4.0
    player.hurry()
    assert tempo.left(0.25) == pytest.approx(15.0)
    player.hold()
    assert math.isnan(tempo.left(0.25))


def test_a_pace_that_is_not_kept_is_told() -> None:
    def head(pace: float, speed: float) -> str:
        lines = text(model(header=replace(HEADER, pace=pace, speed=speed)))
        assert lines[0].index(" t 00:") == 16  # no column moves
        return lines[1]

    assert "keeps ×0.5" in head(0.5, 2.0)
    assert "keeps" not in head(1.7, 2.0) + head(math.nan, 2.0) + head(0.5, math.inf)


def test_a_player_is_where_its_pace_has_come_to(ran: Ran, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock on the wall that the test moves."""
    _, player = stood(ran, 5.0, speed=4.0)
    wall = 100.0
    monkeypatch.setattr("scenarios.console.deck.time.perf_counter", lambda: wall)
    player.play()
    assert player._due() == 5e9
    wall = 101.5
    assert player._due() == pytest.approx(11e9)
    player._advance()
    assert player.source.now == pytest.approx(11e9)
    wall = 200.0
    player._advance()
    assert player.source.now == player.source.length == 20_000_000_000


def test_speeds_double_and_halve(tmp_path: Path) -> None:
    run, desk = desk_of(tmp_path)
    watched(run, desk, "until 2s", "speed 3", "faster", "faster", "slower")
    assert desk.deck.speed == 6.0
    watched_run, desk = desk_of(tmp_path / "b")
    watched(watched_run, desk, "until 2s", "speed max", "slower")
    assert desk.deck.speed == _from_max(desk.source) == 20.0 / 40.0


@pytest.mark.parametrize(
    ("law", "unit"), [("gaussian", "μ"), ("laplace", "ε"), ("norm-gamma", "ε")]
)
def test_a_ledger_says_in_what_it_counts(tmp_path: Path, law: str, unit: str) -> None:
    mechanism = {"kind": "cd", "mu": 1.0, "noise": law, "releases": 4}
    ran = perform(private(mechanism=mechanism), tmp_path)
    viewer, player = stood(ran, 20.0)
    viewer.desk.look.opened = 0
    found = viewer.model(130, 40).opened
    assert found is not None
    assert len(found.ledger) == 4
    spend = player.source.ledger(0, 1)[0][1]
    assert f"costs {unit} {spend.charged:.4g}" in found.ledger[-1]


def test_what_a_hand_did_and_what_an_oracle_chose_is_not_covered(tmp_path: Path) -> None:
    run, desk = desk_of(tmp_path)
    watched(run, desk, "until 3s", "crash 1", "until 5s")
    manifest = json.loads((run.folder.path / "manifest.json").read_text())
    assert manifest["steered_by_hand"]
    heads = [told(Viewer(desk))[1], told(stood(run, 5.0)[0])[1]]
    for head in heads:
        assert head.startswith(" BY HAND ε NOT COVERED  ε: ")
    oracle = {"at": 5.0, "crash": {"highest": "loss", "count": 1}, "oracle": True}
    chosen = perform(private(fault=[oracle]), tmp_path / "chosen")
    assert told(stood(chosen, 9.0)[0])[1].startswith(" ε NOT COVERED  ε: ")
    assert told(stood(perform(private(), tmp_path / "fair"), 9.0)[0])[1].startswith(" ε: ")


def test_whoever_kills_a_steered_run_finds_that_it_was_steered(tmp_path: Path) -> None:
    run, desk = desk_of(tmp_path)
    found: list[bool] = []

    def look() -> None:
        manifest = json.loads((run.folder.path / "manifest.json").read_text())
        found.append(manifest["steered_by_hand"])

    run.hand.every_rest(look)
    watched(run, desk, "until 3s", "crash 1", "until 5s")
    assert found[0] is False
    assert found[-2] is True


def test_what_was_lost_was_paid_for_where_it_was(tmp_path: Path) -> None:
    """Releases are charged, whatever becomes of them; what follows from others is free."""
    ran = perform(HOSTILE | {"run": {"seed": 5, "horizon": 40.0}}, tmp_path)
    all_of_them = list(events(ran.outcome.folder))
    released = {e["seq"] for e in all_of_them if e["kind"] == "released"}
    paid = {
        (e["node"], e["version"])
        for e in all_of_them
        if e["kind"] == "sent" and e["cause"] in released
    }
    viewer, _ = stood(ran, 11.0)
    viewer.desk.events("lost")
    lost = [e for e in all_of_them if e["kind"] == "lost" and e["t"] <= 11e9][-40:]
    shown = viewer.desk.gather.model(viewer.desk.look).feed.lines
    said = [" charged ✓" in text for text, _ in shown]
    assert said == [(e["node"], e["version"]) in paid for e in lost]
    assert {True, False} == set(said)


def test_what_was_noticed_late_is_told_in_milliseconds() -> None:
    event = Delivered(9, 5_250_000_000, 3, None, 1, 7, 5_000_000_000)
    assert tell(event, 20)[0].endswith("3 ←1 #7 noticed 250ms later")


def test_a_rare_event_is_listed_however_long_ago_it_was(ran: Ran) -> None:
    viewer, player = stood(ran, 20.0)
    scene = player.source.scene
    for kept in (scene.recent,):
        while kept and kept[0].t < 15e9:
            kept.popleft()
    viewer.desk.events("crashed")
    lines = viewer.desk.gather.model(viewer.desk.look).feed.lines
    assert [text.split()[2] for text, _ in lines] == ["1", "2", "9"]


def test_every_epsilon_is_that_of_all(tmp_path: Path) -> None:
    """One agent's, everybody's, the summary's, and a replay's: also of who diverged, or composes at the end only."""

    def check(run: Run, tree_rel: float = 1e-7) -> None:
        recording = Recording(run.folder.path)
        recording.seek(recording.length)
        told = [node["epsilon"] for node in recording.result.summary["nodes"]]
        rows = [recording.epsilon(i) for i in range(run.plan.size)]
        live = [run.budget.epsilon_of(i) for i in range(run.plan.size)]
        assert rows == pytest.approx(told, rel=tree_rel)
        assert live == list(run.budget.headline())
        assert rows == list(recording.epsilons())

    exploding = Run(make_plan(private()), tmp_path / "exploding", Hand(looks=True), 1e12)

    def spoil(event: Charged) -> None:
        if event.node == 2 and event.k == 2:
            exploding.agents[2].mechanism = Exploding(exploding.agents[2].mechanism)

    seen: list[tuple[float, float]] = []

    def look(_: Diverged) -> None:
        budget = exploding.budget
        seen.append((budget.epsilon_of(2), float(budget.headline()[2])))

    def remember(_: Charged) -> None:
        exploding.budget.headline()

    exploding.log.watch(remember, (Charged,))
    exploding.log.watch(look, (Diverged,))
    exploding.log.watch(spoil, (Charged,))
    asyncio.run(exploding.perform())
    assert exploding.agents[2].diverged
    assert [one == all_of_them for one, all_of_them in seen] == [True]
    check(exploding)
    many = {"kind": "cd", "mu": 1.0, "noise": "laplace", "releases": 600, "clip": 1.0}
    nodes = [
        {
            "count": 3,
            "clock": {"kind": "poisson", "rate": 20.0},
            "budget": {"epsilon": 4.0, "delta": 1e-5},
        }
    ]
    often = private(
        run={"seed": 5, "horizon": 40.0}, nodes=nodes, mechanism=many, privacy={"calibrate": "kov"},
        network={"topology": "complete"},
    )  # fmt: skip
    ran = perform(often, tmp_path / "often")
    assert not ran.run.budget.is_live
    check(ran.run)


def test_an_adaptive_cap_is_what_a_row_says_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own_rows.py").write_text(OWN)
    monkeypatch.syspath_prepend(str(tmp_path))
    sys.modules.pop("own_rows", None)
    tree = scenario(
        mechanism={"kind": "own_rows:Moody"}, run={"seed": 3, "horizon": 100.0, "sample_every": 50.0},
        nodes=[{"count": 4, "budget": {"epsilon": 2.0, "delta": 1e-5}}],
    )  # fmt: skip
    ran = perform(tree, tmp_path / "run", allow_code=True)
    budget = ran.run.budget
    assert [budget.epsilon_of(i) for i in range(4)] == list(budget.headline())
    assert max(budget.headline()) <= 2.0
    recording = Recording(ran.outcome.folder)
    recording.seek(recording.length)
    assert [recording.epsilon(i) for i in range(4)] == list(recording.epsilons())


def test_a_table_of_hundreds_says_what_is_spent_now(tmp_path: Path) -> None:
    """Above four hundred, too: in the first frame as in the second, live and replayed."""
    nodes = [{"name": "peers", "count": 401, "budget": {"epsilon": 4.0, "delta": 1e-5}}]
    ran = perform(private(nodes=nodes, run={"seed": 5, "horizon": 6.0}), tmp_path)
    viewer, player = stood(ran, 5.5)
    viewer.desk.look.scale = "table"
    frames = [told(viewer, 100, 40) for _ in range(2)]
    assert frames[0][3:-3] == frames[1][3:-3]
    source = player.source
    rows = viewer.model(100, 40).nodes.rows
    assert [row.epsilon for row in rows] == [source.epsilons()[row.id] for row in rows]
    assert max(row.epsilon for row in rows) > 1.0
    assert viewer.model(100, 40).nodes.epsilon_worst == source.epsilons().max()


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


def test_a_recording_is_as_long_as_its_last_whole_event(ran: Ran, tmp_path: Path) -> None:
    """However long a line, whatever was cut off behind it, and where a last segment has nothing whole."""
    lines = (ran.outcome.folder / "events-00000.jsonl").read_bytes().splitlines(keepends=True)[:50]
    last = json.loads(lines[-1])["t"]
    long = b'{"kind":"woke","seq":51,"t":%d,"node":1,"cause":null,"x":"%s"}\n' % (
        last + 5,
        b"y" * (3 << 20),
    )

    def write(name: str, *pieces: bytes) -> Path:
        folder = tmp_path / name
        folder.mkdir()
        for number, piece in enumerate(pieces):
            (folder / f"events-{number:05d}.jsonl").write_bytes(piece)
        return folder

    whole = b"".join(lines)
    assert length(write("whole", whole)) == last
    assert length(write("torn", whole + b'{"kind":"wo')) == last
    assert length(write("long", whole + long)) == last + 5
    assert length(write("long-torn", whole + long + long[:-9])) == last + 5
    assert length(write("two", whole, b'{"kind":"wo')) == last
    assert length(write("none", b"")) == 0


def test_the_server_is_hit_by_its_name(tmp_path: Path) -> None:
    run, desk = desk_of(tmp_path, "federated-dropout")
    watched(run, desk, "until 1s", "crash server for=500ms", "step")
    assert desk.source.scene.state(12) == "down"
    assert [desk.source.scene.state(i) for i in range(3)] == ["up"] * 3


def test_nothing_is_undone_twice(tmp_path: Path) -> None:
    """Also where nobody had time to serve the first."""
    run, desk = desk_of(tmp_path)
    said: list[str] = []

    def twice() -> None:
        if run.clock.now > 3e9 and not said and desk.source.scene.windows.lasting():
            for _ in range(2):
                carry_out(desk, "heal 0")
                said.append(desk.look.says)

    run.hand.every_rest(twice)
    watched(run, desk, "until 4s", "crash 1", "until 6s")
    assert "is undone" in said[0]
    assert "does nothing now that could be undone" in said[1]


def test_what_hit_nobody_says_so(tmp_path: Path) -> None:
    run, desk = desk_of(tmp_path)
    viewer = Viewer(desk)
    watched(run, desk, "until 4s", "crash 1", "step")
    viewer.draw(100, 30)
    assert "hit nobody" not in desk.look.says
    run, desk = desk_of(tmp_path / "b")
    viewer = Viewer(desk)
    watched(run, desk, "until 4s", "crash 1", "restart 2")
    lines = told(viewer, 100, 30)
    assert desk.look.says.endswith("it hit nobody")
    assert any("#1 restart 2" in line and "hit nobody" in line for line in lines)
    assert any("1 active, 2 known" in line for line in lines)


@pytest.mark.parametrize("action", ["crash", "pause"])
def test_who_is_held_by_two_faults_is_hit_by_both(tmp_path: Path, action: str) -> None:
    """The second keeps it there when the first is over."""
    run, desk = desk_of(tmp_path)
    viewer = Viewer(desk)
    watched(run, desk, "until 4s", f"{action} 1 for=1s", f"{action} 1 for=9s", "until 7s")
    lines = told(viewer, 100, 30)
    assert desk.source.scene.state(1) in {"down", "paused"}
    assert "hit nobody" not in "".join(lines) + desk.look.says
    assert any("1 active, 2 known" in line for line in lines)


def test_a_pace_is_measured_anew_when_it_changes(ran: Ran) -> None:
    """What was held, or went at another pace, does not count."""
    viewer, player = stood(ran, 5.0)
    tempo = viewer.desk.gather.tempo
    for change in (
        player.hold,
        player.play,
        lambda: player.pace(7.0),
        player.hurry,
        viewer.set_out,
    ):
        tempo.real, tempo.events_per_s = 0.01, 3.0
        tempo._seen = time.perf_counter() - 10, 0, 0.0, 0
        change()
        head = viewer.model(100, 30).header
        assert math.isnan(head.pace)
        assert head.events_per_s == 0


def test_what_did_not_begin_in_time_does_not(tmp_path: Path) -> None:
    never = {"name": "unlikely", "at": 4.0, "crash": [1], "probability": 1e-9}
    late = {"name": "late", "at": 30.0, "crash": [1]}
    tree = private(fault=[never, late], run={"seed": 5, "horizon": 60.0})
    ran = perform(tree, tmp_path, until=20.0)
    for at, names in ((3.0, ["unlikely"]), (5.0, []), (20.0, [])):
        viewer, _ = stood(ran, at)
        windows = viewer.model(100, 30).windows
        assert [w.name for w in windows] == names
        shown = "\n".join(told(viewer, 100, 30))
        assert ("unlikely" in shown) == bool(names)


def test_a_live_screen_draws_what_an_open_ledger_says(tmp_path: Path) -> None:
    """Opened, an agent's ledger has as many lines as it made releases, the last one last."""
    run = Run(make_plan(private()), tmp_path / "run", Hand(looks=True), 1e12)
    viewer = viewer_of(run)
    viewer.desk.look.opened = 3
    asyncio.run(run.perform())
    found = viewer.model(120, 50).opened
    assert found is not None
    assert [int(line.split()[0]) for line in found.ledger] == list(
        range(len(run.agents[3].store.ledger))
    )
