"""Networks, timelines and ages are counted from events: nothing is lost between a record and its picture."""

import json
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scenarios.language.writer import to_toml
from scenarios.pictures.draw import Request, draw
from scenarios.pictures.kinds.gain import sizes_of
from scenarios.pictures.kinds.network import used_budgets, widths
from scenarios.pictures.layout import places
from scenarios.pictures.merged_ages import ages_of, merged_ages
from scenarios.pictures.network_moment import network_at
from scenarios.pictures.picture import Material, Options
from scenarios.pictures.settings import Member
from scenarios.pictures.timeline import timeline_of
from scenarios.records.reader import RunRecord
from tests.support.builders import private
from tests.support.finished_runs import finished
from tests.support.records import RUNNING, write_record

CUT = {"name": "cut", "at": "4s", "for": "5s", "partition": {"groups": [[0, 1, 2], [3, 4, 5]]}}
CRASH = {"at": "8s", "for": "3s", "crash": [1]}
WORLD = private(fault=[CUT, CRASH], network={"topology": "ring", "latency": "300ms", "loss": 0.1})


@pytest.fixture(scope="module")
def run() -> RunRecord:
    return RunRecord(finished(WORLD).outcome.folder)


def test_edges_carry_every_message_that_was_sent(run: RunRecord) -> None:
    """Σ over edges = the metric messages.sent, at every sample, and widths are in proportion to counts."""
    for event in list(run.samples())[::4]:
        moment = network_at(run, event["t"])
        assert moment.sent.total() == event["values"]["messages.sent"]
    width = widths(moment, moment.edges)
    counts = np.array([moment.sent[edge] for edge in moment.edges])
    assert width * counts.max() == pytest.approx(3.0 * counts)
    assert set(moment.edges) == {(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (0, 5)}


def test_a_partition_cuts_the_edges_between_its_groups(run: RunRecord) -> None:
    across = {(2, 3), (0, 5)}
    sent = Counter(
        tuple(sorted((e["node"], to)))
        for e in run.events()
        if e["kind"] == "sent" and 4e9 <= e["t"] <= 9e9
        for to in e["to"]
    )
    used = {edge for edge in across if sent[edge]}
    assert used
    assert used <= network_at(run, 8_999_999_999).cut


def test_agents_are_as_their_last_event_left_them(run: RunRecord) -> None:
    assert network_at(run, 7_900_000_000).states == {}
    assert network_at(run, 9_000_000_000).states == {1: "down"}
    assert network_at(run, None).states == {}


def test_used_budgets_are_epsilon_over_its_cap(run: RunRecord) -> None:
    moment = network_at(run, None)
    used, label = used_budgets(Member(run), moment)
    assert label == "share of the cap used"
    assert used == pytest.approx(moment.epsilon / 4.0)
    assert (used <= 1).all()


def test_a_timeline_holds_every_wake_and_message_of_its_window(run: RunRecord) -> None:
    line = timeline_of(run, range(3), 2.0, 9.0)
    events = [e for e in run.events() if 2e9 <= e["t"] <= 9e9 and e["node"] in {0, 1, 2}]
    assert len(line.wakes) == sum(e["kind"] == "woke" for e in events)
    assert len(line.releases) == sum(e["kind"] == "released" for e in events)
    ways = [to for e in events if e["kind"] == "sent" for to in e["to"] if to < 3]
    assert len(line.ways) == len(ways)
    assert [way.arrives - way.leaves for way in line.ways if way.arrives] == pytest.approx(
        [0.3] * sum(way.arrives is not None for way in line.ways)
    )
    assert line.away == [(1, 8.0, 9.0)]
    assert timeline_of(run, range(3), 8.5, 20.0).away == [(1, 8.5, 11.0)]


def test_a_timeline_ends_where_it_is_full(run: RunRecord) -> None:
    line = timeline_of(run, range(6), 0.0, 20.0)
    assert line.cut_short == (line.ends < 20.0)
    assert len(line.wakes) <= 120


def test_a_merged_model_is_as_old_as_its_way_was_long_and_older(run: RunRecord) -> None:
    """Latency is 0.3 s, so no model is younger when it is merged; every model that was merged is counted."""
    ages = merged_ages(run)
    merged = sum(len(e["senders"]) for e in run.events() if e["kind"] == "merged")
    assert len(ages) == merged
    assert min(age for _, age in ages) >= 0.3 - 1e-9
    bands = ages_of(run)
    assert bands.merges == merged
    assert (bands.low <= bands.middle).all()
    assert (bands.middle <= bands.high).all()


def test_sizes_are_those_of_the_plan(run: RunRecord) -> None:
    assert sizes_of(Member(run)).tolist() == list(finished(WORLD).run.plan.shards.sizes)


@pytest.mark.parametrize("size", [1, 2, 3, 12, 60, 401])
def test_places_are_the_same_each_time_and_apart(size: int) -> None:
    edges = [(i, i + 1) for i in range(size - 1)]
    at = places(size, edges)
    assert at.tolist() == places(size, edges).tolist()
    assert at.shape == (size, 2)
    assert np.abs(at).max() <= 0.5 + 1e-9
    if size > 1:
        apart = np.sqrt(((at[:, None] - at[None]) ** 2).sum(axis=2))[np.triu_indices(size, 1)]
        assert apart.min() > 0.1 / size


def test_a_ring_is_a_circle() -> None:
    at = places(6, [(i, (i + 1) % 6) if i < 5 else (0, 5) for i in range(6)])
    assert np.sqrt((at**2).sum(axis=1)) == pytest.approx([0.5] * 6)


def test_springs_pull_neighbours_together() -> None:
    """Two groups of five, each complete, and one edge between them: neighbours are nearer than others."""
    edges = [(i, j) for g in (0, 5) for i in range(g, g + 5) for j in range(i + 1, g + 5)] + [
        (4, 5)
    ]
    at = places(10, edges)
    apart = np.sqrt(((at[:, None] - at[None]) ** 2).sum(axis=2))
    near = np.mean([apart[e] for e in edges])
    assert near < 0.6 * np.mean(apart[np.triu_indices(10, 1)])


@pytest.mark.slow
def test_ten_thousand_agents_are_drawn(tmp_path: Path) -> None:
    """A record of one sample and one message each: the picture of it is an image of bounded size."""
    n = 10_000
    source = finished(WORLD).outcome.folder
    world = json.loads((source / "world.json").read_text("utf-8"))
    budget = world["budgets"][0] | {"count": n}
    world |= {"size": n, "seats": n, "groups": [["peers", n]], "budgets": [budget], "faults": []}
    resolved = tomllib.loads((source / "resolved.toml").read_text("utf-8"))
    resolved["nodes"][0]["count"] = n
    (tmp_path / "resolved.toml").write_text(to_toml(resolved), "utf-8")
    world["edges"] = [(i, i + 1) for i in range(n - 1)]
    (tmp_path / "world.json").write_text(json.dumps(world), "utf-8")
    manifest = json.loads((source / "manifest.json").read_text("utf-8"))
    (tmp_path / "manifest.json").write_text(json.dumps(manifest | RUNNING), "utf-8")
    events = []
    for t in range(3):
        values = {name: [t * i / n for i in range(n)] for name in ("loss", "epsilon")}
        events += [{"kind": "woke", "t": t * 10**9, "node": 7}]
        events += [{"kind": "sampled", "t": t * 10**9, "node": None, "values": values}]
    write_record(tmp_path, [e | {"seq": k + 1, "cause": None} for k, e in enumerate(events)])
    material = Material(runs=(RunRecord(tmp_path),))
    told = {"network": "10,000", "budgets": "10,000", "loss": "10,000", "timeline": "9,988 agents"}
    for what, words in told.items():
        figure, caption = draw(Request(material, (what,), Options()))
        assert len(figure._repr_png_()) < 2_000_000
        assert any(words in line for line in caption)


def test_a_record_that_a_reader_can_follow(tmp_path: Path, run: RunRecord) -> None:
    """Agent 0 sends at 1 s, again at 2 s, and loses a message at 6 s; agent 1 merges at 5 s what is 4 s old then."""
    manifest = json.loads((run.path / "manifest.json").read_text("utf-8"))
    (tmp_path / "manifest.json").write_text(json.dumps(manifest | RUNNING), "utf-8")
    (tmp_path / "world.json").write_bytes((run.path / "world.json").read_bytes())
    sent: dict[str, Any] = {"kind": "sent", "node": 0, "version": 1, "to": [1], "bytes": 8}
    merged: dict[str, Any] = {"kind": "merged", "node": 1, "senders": [0], "versions": [1]}
    events: list[dict[str, Any]] = [
        sent | {"t": 1, "arrives": [3 * 10**9]},
        sent | {"t": 2, "arrives": [4 * 10**9], "resent": True},
        merged | {"t": 5},
        sent | {"t": 6, "arrives": [-1], "version": 2},
        merged | {"t": 7},
        sent | {"t": 8, "arrives": [9 * 10**9], "version": 3},
    ]
    told = [e | {"seq": k + 1, "t": e["t"] * 10**9, "cause": None} for k, e in enumerate(events)]
    write_record(tmp_path, told)
    record = RunRecord(tmp_path)
    assert merged_ages(record) == [(5.0, 4.0), (7.0, 6.0)]
    for second, cut, messages in ((5, set(), 2), (6, {(0, 1)}, 3), (8, set(), 4)):
        moment = network_at(record, second * 10**9)
        assert (moment.cut, moment.sent) == (cut, {(0, 1): messages})
