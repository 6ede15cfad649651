"""Orders and keys: everything a person can do, without a terminal."""

import asyncio
import json
import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scenarios.api import make_plan
from scenarios.conduct import Run
from scenarios.console import keys
from scenarios.console.deck import LiveDeck
from scenarios.console.desk import Desk
from scenarios.console.keys import KEYS, press
from scenarios.console.look import NotThere
from scenarios.console.orders import ORDERS, carry_out, complete, offers
from scenarios.console.source import LiveSource
from scenarios.console.writing_faults import TEMPLATES, pieces, read_fault
from scenarios.facts import facts_of
from scenarios.governor import Hand
from scenarios.grammar_faults import ACTIONS
from scenarios.steering import Steering
from tests.support.builders import private, scenario

WORLD = private(
    network={"topology": "complete"},
    nodes=[
        {"name": "peers", "count": 5, "compute": 0.1, "budget": {"epsilon": 4.0, "delta": 1e-5}},
        {"name": "late", "count": 1, "present": False, "budget": {"epsilon": 4.0, "delta": 1e-5}},
    ],
)


def desk_of(folder: Path, tree: Any = WORLD, **hand: Any) -> tuple[Run, Desk]:
    run = Run(
        make_plan(tree), folder / "run", Hand(watched=True, looks=True, steers=True, **hand), 1e12
    )
    source = LiveSource(run)
    return run, Desk(source, LiveDeck(source), Steering(run))


async def settle(run: Run) -> None:
    """Wait until the run holds and has looked twice more whether it may go on, or is over."""
    looks = 0

    def look() -> None:
        nonlocal looks
        looks += run.hand.paused

    run.hand.every_rest(look)
    for _ in range(20_000):
        if looks >= 3 or run.hand.ended:
            return
        await asyncio.sleep(0.002)
    raise AssertionError("the run never held")


def watched(run: Run, desk: Desk, *orders: str) -> list[str]:
    """Hold a run at its beginning, give orders, each when the one before has come to rest; and end it."""

    async def person() -> list[str]:
        run.hand.pause()
        task = asyncio.ensure_future(run.perform())
        await asyncio.sleep(0.02)
        said = []
        for order in orders:
            carry_out(desk, order)
            await settle(run)
            said.append(desk.look.says)
        desk.quit()
        await task
        return said

    return asyncio.run(person())


def test_every_order_has_one_name_and_every_key_one_order() -> None:
    names = [*TEMPLATES, *(key.order.partition(" ")[0] for key in KEYS)]
    assert set(names) - {"…"} <= set(ORDERS)
    assert len({key.key for key in KEYS}) == len(KEYS)
    assert set(TEMPLATES) == set(ACTIONS)
    assert {"play", "step", "until", "hold", "pause"} <= set(ORDERS)
    assert ORDERS["hold"].steers
    assert ORDERS["pause"].steers
    assert not ORDERS["play"].steers


@pytest.mark.parametrize("action", TEMPLATES)
def test_what_the_menu_writes_can_be_done(tmp_path: Path, action: str) -> None:
    """The whole vocabulary by hand, as the menu writes it; then the exported file does the same."""
    run, desk = desk_of(tmp_path)
    target = "5" if action == "join" else "0"
    order = TEMPLATES[action][0].format(target)
    said = watched(run, desk, "until 3s", order, "step")
    assert f"{order} at 3.0" in said[1], said
    began = [e for e in desk.source.scene.recent if type(e).__name__ == "FaultBegan"]
    assert [e.action for e in began] == [action]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("text", "table"),
    [
        ("crash 2", {"crash": [2]}),
        ("crash 2,3 for=10s lose=all", {"crash": [2, 3], "for": "10s", "lose": "all"}),
        ("pause 0..2", {"pause": [0, 1, 2]}),
        ("crash peers", {"crash": "peers"}),
        ("leave one for=2", {"leave": "one", "for": 2}),
        ('crash { count = 2, of = "peers" }', {"crash": {"count": 2, "of": "peers"}}),
        ("loss 1-2,0-3 p=0.3", {"loss": {"on": [[1, 2], [0, 3]], "p": 0.3}}),
        ("loss 1 p=0.3 direction=to", {"loss": {"on": [1], "p": 0.3}, "direction": "to"}),
        ("hold 1-2", {"hold": [[1, 2]]}),
        ("partition 0,1|2..4", {"partition": {"groups": [[0, 1], [2, 3, 4]]}}),
        ("partition isolate=3 mode=jam", {"partition": {"isolate": [3], "mode": "jam"}}),
        ("partition groups=[[0, 1], [2]]", {"partition": {"groups": [[0, 1], [2]]}}),
        ('delay 0 latency={ kind = "uniform", min = 0.1, max = 0.2 }',
         {"delay": {"on": [0], "latency": {"kind": "uniform", "min": 0.1, "max": 0.2}}}),
        ("join 5 edges=[0, 1]", {"join": [5], "edges": [0, 1]}),
        ("clock 1 jump=-2s", {"clock": {"on": [1], "jump": "-2s"}}),
    ],
)  # fmt: skip
def test_faults_are_read_as_a_person_writes_them(text: str, table: dict[str, Any]) -> None:
    plan = make_plan(WORLD)
    facts = facts_of(plan, (), numerical=False)
    action, _, rest = text.partition(" ")
    assert read_fault(action, rest, facts) == table


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("crash 9", "no agent 9: ids run from 0 to 5"),
        ("crash peer", "'peer' is no agent; did you mean 'peers'?"),
        ("crash", "crash needs a target"),
        ("crash 1 soon", "'soon' must be KEY=VALUE"),
        ("crash 1 p=3", "crash has no p"),
        ("loss 3..1 p=1", "no agent 3..1"),
        ("loss 1-9 p=1", "no agent 9"),
        ("partition 0|x", "'x' is no agent"),
    ],
)
def test_what_is_wrong_with_a_fault_is_said(text: str, wrong: str) -> None:
    facts = facts_of(make_plan(WORLD), (), numerical=False)
    action, _, rest = text.partition(" ")
    with pytest.raises(NotThere) as error:
        read_fault(action, rest, facts)
    assert wrong in str(error.value)


@pytest.mark.parametrize(
    ("order", "wrong"),
    [
        ("loss 0 p=1.5", "must be a number from 0 to 1"),
        ("loss 0 q=1", "q"),
        ("crash 1 for=-3", "for: must be > 0 and finite, got -3"),
        ("restart 1 for=3s", "restart is done once"),
        ("clock 0 drift=0.1 jump=1s", "needs exactly one of offset, drift, jump, freeze"),
        ("privacy 0 kind=nothing", "nothing"),
        ("crash server", "this kind has no server"),
        ("heal 0", "no fault 0"),
        ("heal x", "heal needs the number of a fault"),
        ("until yesterday", "'yesterday' is no time, such as 42s or +5s, and no condition"),
        ("until 1h", "after the end, at 20 s"),
        ("seek 0", "that is past"),
        ("speed -1", "speed needs a number > 0"),
        ("sort nothing", "no column 'nothing'"),
        ("view nothing", "no view 'nothing'"),
        ("filter nobody", "'nobody' is no agent"),
        ("events nothing", "no event is of kind 'nothing'"),
        ("break loss.maen > 3", "no field of events and no metric is named 'loss.maen'"),
        ("break node ==", "ends too early"),
        ("clear 7", "no breakpoint '7'"),
        ("open 77", "no agent 77"),
        ("export /nowhere/at/all.toml", "cannot be written"),
        ("svg /nowhere/at/all.svg", "nobody draws this"),
        ("nonsense", "no order 'nonsense'"),
    ],
)
def test_a_wrong_order_is_answered_and_nothing_happens(
    tmp_path: Path, order: str, wrong: str
) -> None:
    run, desk = desk_of(tmp_path)
    said = watched(run, desk, "until 3s", order)
    assert wrong in said[-1]
    assert not run.steered
    assert [e for e in desk.source.scene.recent if type(e).__name__ == "FaultBegan"] == []


def test_a_step_is_one_event_or_all_that_one_entry_tells(tmp_path: Path) -> None:
    run, desk = desk_of(tmp_path)
    seqs: list[int] = []

    async def person() -> None:
        run.hand.pause()
        task = asyncio.ensure_future(run.perform())
        await asyncio.sleep(0.02)
        for _ in range(12):
            carry_out(desk, "step")
            await settle(run)
            seqs.append(run.log.seq)
        desk.quit()
        await task

    asyncio.run(person())
    assert all(b > a for a, b in pairwise(seqs))


def test_until_holds_at_the_instant_and_next_at_the_event(tmp_path: Path) -> None:
    run, desk = desk_of(tmp_path)
    watched(run, desk, "until 7s")
    assert run.clock.now <= 7_000_000_000
    later, desk = desk_of(tmp_path / "b")
    watched(later, desk, "until 7s", "next refused or released")
    run, desk = desk_of(tmp_path / "c")
    said = watched(run, desk, "until 2s", "next kind == 'released' and node == 3", "until +1s")
    assert "BREAK at event" in said[1]
    found = [e for e in desk.source.scene.recent if f"event {e.seq}," in said[1]]
    assert [(type(e).__name__, e.node) for e in found] == [("Released", 3)]
    assert desk.look.breaks == []


def test_a_breakpoint_holds_every_time_until_it_is_cleared(tmp_path: Path) -> None:
    run, desk = desk_of(tmp_path)
    said = watched(
        run,
        desk,
        "break kind == 'sampled' and t > 3000000000",
        "until 9s",
        "until 9s",
        "clear",
        "until 9s",
    )
    assert ["BREAK" in s for s in said] == [False, True, True, False, False]
    assert "sampled" in said[1]


def test_a_condition_on_a_metric_holds_a_run(tmp_path: Path) -> None:
    run, desk = desk_of(tmp_path)
    watched(run, desk, "until epsilon.max > 1")
    assert float(desk.source.epsilons().max()) > 1
    history = run.last.values["epsilon"] if run.last is not None else []
    assert max(float(e) for e in history) > 1


def test_sorting_and_filtering_show_the_right_agents(tmp_path: Path) -> None:
    run, desk = desk_of(tmp_path)
    watched(run, desk, "until 5s", "crash 1", "until 9s")
    for sort in ("epsilon", "loss", "releases", "inbox", "stale", "left"):
        carry_out(desk, f"sort {sort}")
        rows = desk.gather.model(desk.look).nodes.rows
        values = [
            {
                "epsilon": r.epsilon, "loss": r.loss, "releases": r.releases, "inbox": r.inbox, "stale": r.stale_s,
                "left": (r.cap or math.nan) - r.epsilon,
            }[sort]
            for r in rows
        ]  # fmt: skip
        known = [v for v in values if not math.isnan(v)]
        assert known == sorted(known, reverse=sort != "left")
    carry_out(desk, "sort id")
    for text, ids in (
        ("down", [1]),
        ("late", [5]),
        ("0,3..4", [0, 3, 4]),
        ("down,2", [1, 2]),
        ("", list(range(6))),
    ):
        carry_out(desk, f"filter {text}")
        assert [row.id for row in desk.gather.model(desk.look).nodes.rows] == ids


def test_completion_goes_as_far_as_all_offers_agree(tmp_path: Path) -> None:
    _, desk = desk_of(tmp_path)
    assert complete(desk, "cra") == "crash "
    assert complete(desk, "s") == "s"
    assert set(offers(desk, "s")) == {n for n in ORDERS if n.startswith("s")}
    assert complete(desk, "crash pee") == "crash peers "
    assert complete(desk, "loss 1 dir") == "loss 1 direction="
    assert complete(desk, "loss 1 p") == "loss 1 pee" or "p=" in offers(desk, "loss 1 p")
    assert complete(desk, "sort eps") == "sort epsilon "
    assert "released" in offers(desk, "next rel")
    assert complete(desk, "nothing at all") == "nothing at all"


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from([
    *(key.key for key in KEYS if key.key != "q"), "up", "down", "left", "right", "tab", "enter", "escape", "backspace",
    "home", "end", "clear", "page-down", "page-up", "a", "1", "é", "=", ",", "c", "r",
]), max_size=40))  # fmt: skip
def test_no_keys_can_break_the_screen(
    tmp_path_factory: pytest.TempPathFactory, pressed: list[str]
) -> None:
    """Whatever is pressed before a run begins: every frame can be drawn, nothing is raised."""
    from scenarios.console.viewer import Viewer

    folder = tmp_path_factory.mktemp("keys")
    run, desk = desk_of(folder, scenario())
    desk.hands.steering = None  # nothing may be written into the folder of the tests
    desk.steering = None
    viewer = Viewer(desk)
    desk.save = lambda _: folder / "x.svg"
    for key in pressed:
        viewer.press(key)
        lines = viewer.draw(70, 20)
        assert len(lines) == 20
    run.recorder.close()


def test_help_names_every_key_and_every_order(tmp_path: Path) -> None:
    _, desk = desk_of(tmp_path)
    manual = keys.manual(desk)
    said = " ".join(text for _, text in manual)
    assert all(f"{name}" in said for name in ORDERS)
    shown = " ".join(key for key, _ in manual)
    assert all(key.shown in shown for key in KEYS)


def test_every_action_is_in_the_journal_with_the_number_of_an_event(tmp_path: Path) -> None:
    run, desk = desk_of(tmp_path)
    watched(
        run, desk, "step", "until 2s", "speed 7", "crash 1", "heal", "break node == 2", "next woke"
    )
    done = [
        json.loads(line) for line in (run.folder.path / "inputs.jsonl").read_text().splitlines()
    ]
    assert [d["what"] for d in done] == [
        "step",
        "until",
        "speed",
        "fault",
        "heal",
        "break",
        "next",
        "quit",
    ]
    seqs = [d["seq"] for d in done]
    assert seqs == sorted(seqs)
    assert seqs[-1] > 0
    assert done[3]["at"] == done[3]["t"] + 1


def test_keys_write_a_line_as_a_line_editor_does(tmp_path: Path) -> None:
    _, desk = desk_of(tmp_path)

    def type_(*pressed: str) -> str:
        for key in pressed:
            press(desk, key)
        return desk.look.writing.text if desk.look.writing is not None else ""

    assert type_(":", *"sort ix", "backspace", "d") == "sort id"
    assert type_("home", "X", "end", "Y", "left", "Z") == "Xsort idZY"
    assert type_("clear") == ""
    assert type_(*"sort loss", "enter") == ""
    assert desk.look.sort == "loss"
    assert type_(":", "up") == "sort loss"
    assert type_("clear", "backspace") == ""
    assert desk.look.writing is None


def test_pieces_split_only_outside_of_brackets() -> None:
    assert pieces("a {b = 1, c = 2} d=[1, 2] 'e f'") == ["a", "{b = 1, c = 2}", "d=[1, 2]", "'e f'"]
    assert pieces("  ") == []
