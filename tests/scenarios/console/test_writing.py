"""What a person writes: keys, lines, faults; read without a world that runs."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scenarios.api.runs import make_plan
from scenarios.console.control import keys
from scenarios.console.control.commands import COMMANDS, complete, offers
from scenarios.console.control.fault_syntax import pieces, read_fault
from scenarios.console.control.keys import KEYS, press
from scenarios.console.control.line_editor import PASTED
from scenarios.console.sources.view_state import CommandError
from scenarios.planning.fault_kinds import FAULTS
from scenarios.records.world_facts import facts_of
from tests.support.builders import scenario
from tests.support.sessions import WORLD, session_for


def test_every_order_has_one_name_and_every_key_one_order() -> None:
    names = [*FAULTS, *(key.command.partition(" ")[0] for key in KEYS)]
    assert set(names) - {"…"} <= set(COMMANDS)
    assert len({key.key for key in KEYS}) == len(KEYS)
    assert {"play", "step", "until", "hold", "pause"} <= set(COMMANDS)
    assert COMMANDS["hold"].steers
    assert COMMANDS["pause"].steers
    assert not COMMANDS["play"].steers


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
        (
            'delay 0 latency={ kind = "uniform", min = 0.1, max = 0.2 }',
            {"delay": {"on": [0], "latency": {"kind": "uniform", "min": 0.1, "max": 0.2}}},
        ),
        ("join 5 edges=[0, 1]", {"join": [5], "edges": [0, 1]}),
        ("clock 1 jump=-2s", {"clock": {"on": [1], "jump": "-2s"}}),
    ],
)
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
    with pytest.raises(CommandError) as error:
        read_fault(action, rest, facts)
    assert wrong in str(error.value)


def test_the_server_has_a_name_on_links_and_in_groups() -> None:
    """Its seat is the one behind the agents."""
    plan = make_plan("federated-dropout")
    facts = facts_of(plan, (), numerical=False)
    size = facts.size
    for text, table in (
        ("loss 0-server p=1", {"loss": {"on": [[0, size]], "p": 1}}),
        ("partition 1..2|0,server", {"partition": {"groups": [[1, 2], [0, size]]}}),
        ("crash server", {"crash": "server"}),
    ):
        action, _, rest = text.partition(" ")
        assert read_fault(action, rest, facts) == table
    nobody = facts_of(make_plan(WORLD), (), numerical=False)
    with pytest.raises(CommandError, match="'server' is no agent"):
        read_fault("loss", "0-server p=1", nobody)


def test_what_is_pasted_is_written_where_something_is_written_and_else_ignored(
    tmp_path: Path,
) -> None:
    _, session = session_for(tmp_path)
    press(session, f"{PASTED}sq\n?")
    assert (session.pane.view.sort, session.shows_help, session.stays) == ("id", False, True)
    press(session, ":")
    press(session, f"{PASTED}sort\nloss\x1b[2J")
    assert session.editor is not None
    assert session.editor.text == "sort loss[2J"


def test_completion_goes_as_far_as_all_offers_agree(tmp_path: Path) -> None:
    _, session = session_for(tmp_path)
    assert complete(session, "cra") == "crash "
    assert complete(session, "s") == "s"
    assert set(offers(session, "s")) == {n for n in COMMANDS if n.startswith("s")}
    assert complete(session, "crash pee") == "crash peers "
    assert complete(session, "loss 1 dir") == "loss 1 direction="
    assert complete(session, "loss 1 p") == "loss 1 pee" or "p=" in offers(session, "loss 1 p")
    assert complete(session, "loss 1 direction=f") == "loss 1 direction=from "
    assert complete(session, "privacy 1 kind=tw") == "privacy 1 kind=twin "
    assert "lose=" in offers(session, "crash 1 l")
    assert "lose=all" not in offers(session, "crash 1 l")
    assert "lose=all" in offers(session, "crash 1 lose=")
    assert "lose=" not in offers(session, "pause 1 l")
    assert "edges=" in offers(session, "join 1 ")
    assert complete(session, "sort eps") == "sort epsilon "
    assert "released" in offers(session, "next rel")
    assert complete(session, "nothing at all") == "nothing at all"


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                *(key.key for key in KEYS if key.key != "q"),
                "up",
                "down",
                "left",
                "right",
                "tab",
                "enter",
                "escape",
                "backspace",
                "home",
                "end",
                "clear",
                "page-down",
                "page-up",
                "a",
                "1",
                "é",
                "=",
                ",",
                "c",
                "r",
            ]
        ),
        max_size=40,
    )
)
def test_no_keys_can_break_the_screen(
    tmp_path_factory: pytest.TempPathFactory, pressed: list[str]
) -> None:
    """Whatever is pressed before a run begins: every frame can be drawn, nothing is raised."""
    from scenarios.console.screens.viewer import Viewer

    folder = tmp_path_factory.mktemp("keys")
    run, session = session_for(folder, scenario())
    session.pane.steering = None  # nothing may be written into the folder of the tests
    viewer = Viewer(session)
    session.save_picture = lambda _: folder / "x.svg"
    for key in pressed:
        viewer.press(key)
        lines = viewer.draw(70, 20)
        assert len(lines) == 20
    run.recorder.close()


def test_help_names_every_key_and_every_order(tmp_path: Path) -> None:
    _, session = session_for(tmp_path)
    manual = keys.manual(session)
    said = " ".join(text for _, text in manual)
    assert all(f"{name}" in said for name in COMMANDS)
    shown = " ".join(key for key, _ in manual)
    assert all(key.shown in shown for key in KEYS)


def test_keys_write_a_line_as_a_line_editor_does(tmp_path: Path) -> None:
    _, session = session_for(tmp_path)

    def type_(*pressed: str) -> str:
        for key in pressed:
            press(session, key)
        return session.editor.text if session.editor is not None else ""

    assert type_(":", *"sort ix", "backspace", "d") == "sort id"
    assert type_("home", "X", "end", "Y", "left", "Z") == "Xsort idZY"
    assert type_("clear") == ""
    assert type_(*"sort loss", "enter") == ""
    assert session.pane.view.sort == "loss"
    assert type_(":", "up") == "sort loss"
    assert type_("clear", "backspace") == ""
    assert session.editor is None


def test_pieces_split_only_outside_of_brackets() -> None:
    assert pieces("a {b = 1, c = 2} d=[1, 2] 'e f'") == ["a", "{b = 1, c = 2}", "d=[1, 2]", "'e f'"]
    assert pieces("  ") == []
