"""The network: places without chance, cuts from the instant that they begin, and agents where a click finds them."""

import statistics
import time
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scenarios.console.assembly.places import places
from scenarios.console.drawing.network import Geometry, network
from scenarios.console.drawing.styled_text import (
    CUT,
    DIM,
    HEATS,
    Spot,
    brief,
    heat,
    target_at,
    width_of,
)
from tests.support.builders import perform, private
from tests.support.looks import stood, told
from tests.support.screens import model, network_view
from tests.support.sessions import session_for, watched

Edges = list[tuple[int, int]]


@given(st.integers(1, 40), st.data())
@settings(max_examples=30)
def test_places_are_a_function_of_the_graph(size: int, data: st.DataObject) -> None:
    pairs = list(combinations(range(size), 2))
    edges = data.draw(st.lists(st.sampled_from(pairs), max_size=80)) if pairs else []
    found = places(size, edges)
    assert found == places(size, edges)
    assert len(found) == size
    assert all(0 <= x <= 1 and 0 <= y <= 1 for x, y in found)


def test_neighbours_stand_closer_than_strangers() -> None:
    """On a ring of 60: the mean distance of neighbours is below a third of that of all."""
    size = 60
    found = places(size, [(i, (i + 1) % size) for i in range(size)])

    def apart(i: int, j: int) -> float:
        (x, y), (u, v) = found[i], found[j]
        return float(((x - u) ** 2 + (y - v) ** 2) ** 0.5)

    near = sum(apart(i, (i + 1) % size) for i in range(size)) / size
    every = [apart(i, j) for i, j in combinations(range(size), 2)]
    assert near < sum(every) / len(every) / 3


@pytest.mark.parametrize("width", range(1, 12))
@pytest.mark.parametrize("height", [1, 2, 3, 4, 9])
def test_a_network_fills_the_smallest_screen(width: int, height: int) -> None:
    for count in (1, 5):
        drawn = network(model(count, "network"), width, height)
        assert [width_of(line) for line in drawn] == [width] * height


@pytest.mark.parametrize(("width", "height"), [(40, 10), (100, 30), (200, 60)])
def test_every_agent_is_found_by_a_click_once(width: int, height: int) -> None:
    drawn = network(model(60, "network"), width, height)
    assert len(drawn) == height
    assert {width_of(line) for line in drawn} == {width}
    hits = [
        hit[0].value
        for line in drawn
        for column in range(width)
        if (hit := target_at(line, column)) is not None and hit[0].kind == "agent"
    ]
    assert sorted(map(int, map(str, hits))) == list(range(60))


@given(st.tuples(*[st.floats(0, 1)] * 4), st.integers(30, 150), st.integers(8, 50))
def test_an_edge_is_a_line_from_agent_to_agent(
    ends: tuple[float, float, float, float], width: int, height: int
) -> None:
    """A cell of dots in every column, or in every row, between the two, beside the straight line; none elsewhere."""
    (x0, y0, x1, y1) = ends
    shown = replace(network_view(2), geometry=Geometry([(x0, y0), (x1, y1)], [(0, 1)]), cursor=None)
    lines = network(replace(model(2, "network"), network=shown), width, height)[1:-2]
    agents, cells, labels = {}, set(), set()
    for row, line in enumerate(lines):
        column = 0
        for text, style in line:
            for at, c in enumerate(text, column):
                if isinstance(style, Spot):
                    agents[style.target.value] = at, row
                elif "\u2800" < c <= "\u28ff":
                    cells.add((at, row))
                elif c in "01":
                    labels.add((at, row))
            column += len(text)
    (c0, r0), (c1, r1) = agents[0], agents[1]
    across, down = abs(c1 - c0), abs(r1 - r0)
    for x, y in cells:
        assert min(c0, c1) <= x <= max(c0, c1)
        assert min(r0, r1) <= y <= max(r0, r1)
        assert abs((x - c0) * (r1 - r0) - (y - r0) * (c1 - c0)) <= across + down
    covered = cells | labels | {(c0, r0), (c1, r1)}
    if across >= down:
        assert {x for x, _ in covered} >= set(range(min(c0, c1), max(c0, c1) + 1))
    else:
        assert {y for _, y in covered} >= set(range(min(r0, r1), max(r0, r1) + 1))


def test_a_cut_edge_is_dotted_and_has_its_colour_and_others_are_whole() -> None:
    """A third of its dots: without colours, too, it is told from one that is whole."""
    places_ = [(0.1, 0.2), (0.9, 0.2), (0.1, 0.8), (0.9, 0.8)]
    geometry = Geometry(places_, [(0, 1), (2, 3)])
    view = replace(network_view(4), geometry=geometry, cut=frozenset({(2, 3)}), cursor=None)
    lines = network(replace(model(4, "network"), network=view), 100, 30)[1:-2]
    counts = dict.fromkeys((DIM, CUT), 0)
    for row, line in enumerate(lines):
        for text, style in line:
            dots = sum((ord(c) - 0x2800).bit_count() for c in text if "\u2800" < c <= "\u28ff")
            if dots:
                assert style == (DIM if row < 15 else CUT)
                counts[str(style)] += dots
    assert counts[DIM] > 100
    assert abs(counts[CUT] - counts[DIM] / 3) <= 0.05 * counts[DIM]


@pytest.mark.parametrize("width", range(20, 120, 7))
def test_the_legend_has_no_mark_without_its_words(width: int) -> None:
    legend = "".join(text for text, _ in network(model(60, "network"), width, 12)[-2])
    assert legend.rstrip(" │")[-1] not in "╱✕"


def test_a_colour_is_a_step_of_its_share() -> None:
    assert [heat((k + 0.5) / 9) for k in range(9)] == list(HEATS)
    assert heat(2.0) == HEATS[-1]
    assert heat(-1.0) == HEATS[0]
    assert heat(float("nan")) == "plain"


def _world(partition: dict[str, Any]) -> dict[str, Any]:
    return private(
        run={"seed": 3, "horizon": 20.0},
        network={"topology": "complete", "latency": 0.05},
        fault=[{"at": 8.0, "for": 4.0, "partition": partition}],
    )


@pytest.mark.parametrize(
    ("partition", "sides"),
    [
        ({"isolate": [0, 1]}, ({0, 1}, {2, 3, 4, 5})),
        ({"groups": [[0, 1], [2, 3]]}, ({0, 1}, {2, 3}, {4, 5})),
        ({"groups": [[0, 1, 2], [3, 4, 5]]}, ({0, 1, 2}, {3, 4, 5})),
    ],
)
def test_what_is_cut_is_seen_as_long_as_it_is(
    tmp_path: Path, partition: dict[str, Any], sides: tuple[set[int], ...]
) -> None:
    """At the instant at which it begins, before anything is lost; and no longer when it is healed."""
    ran = perform(_world(partition), tmp_path)
    viewer, control = stood(ran, 7.999)
    viewer.session.pane.change(scale="network")
    part = {i: k for k, side in enumerate(sides) for i in side}
    expected = {(i, j) for i, j in combinations(range(6), 2) if part[i] != part[j]}

    def cut() -> set[tuple[int, int]]:
        shown = viewer.model(120, 40).network
        assert shown is not None
        return set(shown.cut)

    assert cut() == set()
    control.source.seek(8 * 10**9)
    assert cut() == expected
    assert f"{len(expected)} edges cut" in "\n".join(told(viewer, 120, 40))
    assert any(
        style == CUT and text.strip() for line in viewer.draw(120, 40)[3:20] for text, style in line
    )
    control.source.seek(12 * 10**9)
    assert cut() == set()


@pytest.mark.parametrize("mode", [{"mode": "slow", "latency": 2.0}, {"mode": "jam"}])
def test_what_is_slow_or_held_is_not_cut_and_is_held_until_it_is_healed(
    tmp_path: Path, mode: dict[str, Any]
) -> None:
    ran = perform(_world({"isolate": [0, 1]} | mode), tmp_path)
    sent = ran.events("sent")
    for at in (7.9, 8.5, 11.9, 12.0, 12.5, 15.0):
        viewer, _ = stood(ran, at)
        viewer.session.pane.change(scale="network")
        shown = viewer.model(120, 40).network
        assert shown is not None
        assert not shown.cut
        before = [e for e in sent if e["t"] <= at * 1e9]
        held = sum(e["arrives"].count(-2) for e in before) if 8 <= at < 12 else 0
        assert shown.lost == held or (shown.is_least and 0 < shown.lost < held)
    assert any(-2 in e["arrives"] for e in sent) == (mode["mode"] == "jam")


@pytest.mark.parametrize(
    ("loss", "cut"),
    [
        ({"on": [[1, 0], [2, 5]], "p": 1}, {(0, 1), (2, 5)}),
        ({"on": [[0, 1]], "p": 0.9}, set()),
        ({"on": [0, 1], "p": 1}, set()),
    ],
)
def test_a_link_that_loses_every_message_is_cut(
    tmp_path: Path, loss: dict[str, Any], cut: set[tuple[int, int]]
) -> None:
    """As the order `cut 0-1` does it, whose fault the session's file holds."""
    tree = _world({"isolate": [0]}) | {"fault": [{"at": 8.0, "for": 4.0, "loss": loss}]}
    ran = perform(tree, tmp_path)
    for at, expected in ((7.9, set()), (8.0, cut), (11.9, cut), (12.0, set())):
        viewer, _ = stood(ran, at)
        viewer.session.pane.change(scale="network")
        shown = viewer.model(120, 40).network
        assert shown is not None
        assert shown.cut == expected


def test_what_is_cut_by_hand_is_seen_at_once(tmp_path: Path) -> None:
    run, session = session_for(tmp_path, _world({"isolate": [0]}))
    builder, seen = session.pane.builder, list[set[tuple[int, int]]]()

    def look() -> None:
        built = builder.build(replace(session.pane.view, scale="network"))
        assert built.model.network is not None
        seen.append(set(built.model.network.cut))

    run.between.append(look)
    watched(run, session, "until 3", "cut 2-4", "until 5", "heal", "until 6")
    assert {(2, 4)} in seen
    assert seen[0] == seen[-1] == set()


def test_what_is_counted_is_counted_in_full_or_marked(tmp_path: Path) -> None:
    """Four messages of each sender are remembered; where more may be on their way, the number says so."""
    told_more = set()
    for latency in (0.2, 5.0):
        network = {"topology": "complete", "latency": latency}
        ran = perform(private(network=network), tmp_path / str(latency))
        for at in (3.0, 9.0, 15.0):
            viewer, _ = stood(ran, at)
            viewer.session.pane.change(scale="network")
            shown = viewer.model(120, 40).network
            assert shown is not None
            before = [e for e in ran.events("sent") if e["t"] <= at * 1e9]
            flying = sum(arrives > at * 1e9 for e in before for arrives in e["arrives"])
            if shown.is_least:
                assert 0 < shown.flying <= flying
                assert f"{shown.flying}+ on their way" in "\n".join(told(viewer, 120, 40))
            else:
                assert shown.flying == flying
            told_more.add(shown.is_least)
    assert told_more == {False, True}


def test_an_oracle_s_metric_bears_its_star(tmp_path: Path) -> None:
    viewer, _ = stood(perform(private(), tmp_path), 10.0)
    for name, shown in (("loss", "loss*"), ("epsilon", "epsilon"), ("ε/cap", "ε/cap")):
        viewer.session.pane.change(scale="network", color=name)
        view = viewer.model(120, 40).network
        assert view is not None
        assert view.metric == shown


def test_messages_on_their_way_are_those_of_the_identity(tmp_path: Path) -> None:
    ran = perform(private(network={"topology": "ring", "latency": 0.4}), tmp_path)
    for at in (3.0, 6.5, 11.0):
        viewer, control = stood(ran, at)
        viewer.session.pane.change(scale="network")
        shown = viewer.model(100, 40).network
        assert shown is not None
        arrived = {
            (sent.node, j)
            for i in range(6)
            for sent in control.source.traffic.last_sent(i)
            for j, arrives in zip(sent.to, sent.arrives, strict=True)
            if arrives > control.source.now
        }
        assert {(min(p), max(p)) for p in arrived if p[0] is not None} == set(shown.flows)  # type: ignore[type-var]


def test_a_share_is_that_of_the_cap_or_lies_between_the_least_and_the_most(tmp_path: Path) -> None:
    ran = perform(private(), tmp_path)
    viewer, _ = stood(ran, 10.0)
    (sample,) = (e["values"] for e in ran.events("sampled") if e["t"] == 10 * 10**9)
    viewer.session.pane.change(scale="network")
    shown = viewer.model(120, 40).network
    assert shown is not None
    assert (shown.low, shown.high) == (0.0, 1.0)
    assert [dot.share for dot in shown.dots] == pytest.approx([e / 4 for e in sample["epsilon"]])
    viewer.session.pane.change(color="loss")
    shown = viewer.model(120, 40).network
    assert shown is not None
    low, high = min(sample["loss"]), max(sample["loss"])
    assert (shown.low, shown.high) == (low, high)
    found = [dot.share for dot in shown.dots]
    assert found == pytest.approx([(v - low) / (high - low) for v in sample["loss"]])


def test_a_lost_message_is_shown_for_a_third_of_a_second_on_the_wall(tmp_path: Path) -> None:
    """At four times the pace of time itself that is 1.2 simulated seconds."""
    network = {"topology": "complete", "latency": 0.05, "loss": 0.5}
    ran = perform(private(network=network), tmp_path)
    for at in (2.0, 3.3, 6.1):
        viewer, _ = stood(ran, at, 4.0)
        viewer.session.pane.change(scale="network")
        shown = viewer.model(120, 40).network
        assert shown is not None
        sent = [e for e in ran.events("sent") if at - 1.2 <= e["t"] / 1e9 <= at]
        lost = sum(e["arrives"].count(-1) for e in sent)
        assert shown.lost == lost or (shown.is_least and shown.lost < lost)


def test_thousands_are_groups(tmp_path: Path) -> None:
    group = {"clock": {"kind": "poisson", "rate": 0.2}, "budget": {"epsilon": 4.0, "delta": 1e-5}}
    tree = private(
        run={"seed": 1, "horizon": 1.0},
        nodes=[
            group | {"name": "phones", "count": 450},
            group | {"name": "hubs", "count": 50, "clock": {"kind": "poisson", "rate": 3.0}},
        ],
    )
    viewer, _ = stood(perform(tree, tmp_path), 1.0)
    viewer.session.pane.change(scale="network")
    shown = "\n".join(told(viewer, 120, 40))
    assert "2 groups, 1 edge " in shown
    assert "phones 450" in shown
    assert "50 of 50 up" in shown
    assert "on their way" not in shown  # no message is drawn among groups
    view = viewer.model(120, 40).network
    assert view is not None
    epsilons = viewer.session.pane.source.epsilons()
    for dot, ids in zip(view.dots, (range(450), range(450, 500)), strict=True):
        median = statistics.median(epsilons[i] / 4 for i in ids)
        assert (median > 0) == (len(ids) == 50)
        assert dot.share == pytest.approx(median)
        assert dot.note.startswith(f"median {brief(median)},")


def test_arrows_go_to_the_nearest_agent_in_their_direction(tmp_path: Path) -> None:
    ran = perform(private(), tmp_path)
    viewer, _ = stood(ran, 10.0)
    viewer.session.pane.change(scale="network")
    viewer.draw(100, 40)
    pane = viewer.session.pane
    found = pane.builder.networks._placed().places
    for key, axis, sign in (("right", 0, 1), ("left", 0, -1), ("down", 1, 1), ("up", 1, -1)):
        before = pane.agent_at_cursor()
        viewer.press(key)
        after = pane.agent_at_cursor()
        assert after == before or sign * (found[after][axis] - found[before][axis]) > 0


@pytest.mark.slow
def test_a_frame_of_a_hundred_agents_costs_little(tmp_path: Path) -> None:
    """A bound ten times what it takes: work that is done again for every frame would show."""
    group: dict[str, Any] = {"count": 100, "budget": {"epsilon": 4.0, "delta": 1e-5}}
    group["clock"] = {"kind": "poisson", "rate": 1.0}
    ran = perform(private(run={"seed": 1, "horizon": 5.0}, nodes=[group]), tmp_path)
    viewer, control = stood(ran, 1.0)
    viewer.session.pane.change(scale="network")
    viewer.draw(120, 36)
    costs = []
    for _ in range(20):
        control.source.step()
        begun = time.process_time()
        viewer.draw(120, 36)
        costs.append(time.process_time() - begun)
    assert sorted(costs)[10] < 0.03
