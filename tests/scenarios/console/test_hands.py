"""Mouse, themes and the newer keys: in the pure screen first, then at a real terminal."""

import asyncio
import os
import re
import time
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest

from scenarios.console.control.commands import COMMANDS, complete, matching, offers
from scenarios.console.control.keys import KEYS, MOVES, PAGES, manual, press
from scenarios.console.drawing.layout import SCALES
from scenarios.console.drawing.styled_text import EVENT_HEAD, STATE_WORDS, STATES, Spot, target_at
from scenarios.console.screens.keyboard import CLICK, ConsoleKeys, Keyboard
from scenarios.console.screens.viewer import Viewer
from tests.support.builders import Ran, perform, private
from tests.support.looks import stood, told
from tests.support.page_blocks import page_text, pages
from tests.support.rings import started, write
from tests.support.terminal import ENTER, ESCAPE, Terminal

MECHANISM = {"kind": "cd", "mu": 1.0, "noise": "norm-gamma"}
PARTITION = [{"name": "a cut", "at": 8.0, "for": 4.0, "partition": {"isolate": [0, 1]}}]


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    tree = private(run={"seed": 3, "horizon": 20.0}, fault=PARTITION)
    return perform(tree, tmp_path_factory.mktemp("ran"))


@pytest.fixture
def viewer(ran: Ran) -> Viewer:
    return stood(ran, 10.0)[0]


def place_of(viewer: Viewer, kind: str, value: object = None, *, nth: int = 0) -> tuple[int, int]:
    """Return a column and a line of the last frame where something can be clicked."""
    found = [
        (column, line)
        for line, spans in enumerate(viewer.lines)
        for column in range(sum(len(text) for text, _ in spans))
        if (hit := target_at(spans, column)) is not None
        and hit[0].kind == kind
        and (value is None or hit[0].value == value)
    ]
    assert found, f"nothing to click for {kind} {value}"
    return found[nth]


def click(viewer: Viewer, kind: str, value: object = None, *, nth: int = 0) -> None:
    column, line = place_of(viewer, kind, value, nth=nth)
    viewer.press(f"{CLICK}{column} {line}")
    viewer.draw(100, 36)


@pytest.mark.parametrize("scale", ["table", "grid", "network"])
def test_a_click_chooses_an_agent_and_another_opens_it(viewer: Viewer, scale: str) -> None:
    viewer.session.pane.change(scale=scale)
    viewer.draw(100, 36)
    click(viewer, "agent", 3)
    assert viewer.session.pane.agent_at_cursor() == 3
    assert viewer.session.pane.view.opened is None
    click(viewer, "agent", 3)
    assert viewer.session.pane.view.opened == 3


def test_a_click_on_an_axis_goes_to_its_time(viewer: Viewer) -> None:
    viewer.draw(100, 36)
    source = viewer.session.pane.source
    column, line = place_of(viewer, "time")
    hit = target_at(viewer.lines[line], column + 20)
    assert hit is not None
    target, at = hit
    viewer.press(f"{CLICK}{column + 20} {line}")
    assert viewer.session.message == ""
    asked = 20.0 * (at + 0.5) / target.width
    control: Any = viewer.session.control
    reached = source.now / 1e9 if asked < 10 else control._edge / 1e9
    assert reached == pytest.approx(asked, abs=1e-6)


def test_a_click_on_a_fault_a_key_an_entry_and_a_link(viewer: Viewer) -> None:
    viewer.draw(100, 36)
    click(viewer, "fault", 0)
    assert viewer.session.pane.view.focus == "faults"
    click(viewer, "key", "?")
    assert viewer.session.shows_help
    viewer.press("escape")
    viewer.session.pane.change(scale="table")
    viewer.draw(100, 40)
    click(viewer, "link", (2, 3))
    assert viewer.session.pane.builder.link_at_cursor(viewer.session.pane.view) == (2, 3)


def test_a_click_on_nothing_does_nothing(viewer: Viewer) -> None:
    viewer.draw(100, 36)
    before = viewer.session.pane.view
    for column, line in ((0, 0), (99, 35), (500, 500), (-1, -1)):
        viewer.press(f"{CLICK}{column} {line}")
    assert viewer.session.pane.view == before


def test_every_target_that_is_drawn_means_something(viewer: Viewer) -> None:
    """Whatever can be clicked at any scale is carried out, or answered in words."""
    for scale in SCALES:
        for setting in ({}, {"opened": 2}):
            viewer.session.pane.change(scale=scale, opened=None, focus="agents")
            viewer.session.pane.change(**setting)
            lines = viewer.draw(120, 40)
            targets = {}
            for row, line in enumerate(lines):
                column = 0
                for text, style in line:
                    if isinstance(style, Spot):
                        targets[style.target.kind, str(style.target.value)] = column, row
                    column += len(text)
            for (kind, value), (column, row) in targets.items():
                if (kind, value) == ("key", "q"):
                    continue
                viewer.press(f"{CLICK}{column} {row}")
                viewer.session.editor, viewer.session.menu = None, None
                viewer.session.shows_help = False
                viewer.session.pane.change(scale=scale, opened=None, focus="agents")
                viewer.session.pane.change(**setting)
                viewer.draw(120, 40)


def test_letters_move_as_arrows_do(viewer: Viewer) -> None:
    for letter, arrow in (("h", "left"), ("j", "down"), ("k", "up"), ("l", "right")):
        assert MOVES[letter] == MOVES[arrow]
    taken = {key.key for key in KEYS} & (MOVES.keys() | PAGES.keys())
    assert not taken
    viewer.session.pane.change(scale="table")
    viewer.draw(100, 36)
    viewer.press("j")
    viewer.press("j")
    viewer.press("k")
    assert viewer.session.pane.agent_at_cursor() == 1


def test_half_a_page_is_half_of_a_page(viewer: Viewer) -> None:
    viewer.session.pane.change(scale="table", page=6, row=1)
    press(viewer.session, "half-down")
    assert viewer.session.pane.view.cursor == 3
    press(viewer.session, "clear")  # Ctrl-U, where no line is written
    assert viewer.session.pane.view.cursor == 0


@pytest.mark.parametrize("key", ["y", "Z", "é", "delete", "7"])
def test_an_unknown_key_says_where_keys_are_listed(viewer: Viewer, key: str) -> None:
    viewer.press(key)
    assert viewer.session.message == "? lists the keys"


def test_a_failed_order_gives_the_keyboard_back(viewer: Viewer) -> None:
    for key in (":", *"nonsense", "enter"):
        viewer.press(key)
    assert viewer.session.editor is None
    assert "no order 'nonsense'" in viewer.session.message
    viewer.press(":")
    viewer.press("up")
    editor: Any = viewer.session.editor
    assert editor.text == "nonsense"
    viewer.press("escape")
    viewer.press("?")
    assert viewer.session.shows_help


def test_scrubbing_goes_by_a_fiftieth_and_back(viewer: Viewer) -> None:
    source, control = viewer.session.pane.source, viewer.session.control
    before = source.now
    viewer.press("[")
    assert source.now == before - round(source.end / 50)  # type: ignore[operator] # a recording ends
    viewer.press("]")
    assert control._edge == before  # type: ignore[attr-defined]
    viewer.press("{")
    assert source.now == 8 * 10**9  # where the partition began
    viewer.press("{")
    assert "no fault begins before" in viewer.session.message


def test_tab_goes_from_agents_to_links_to_faults(viewer: Viewer) -> None:
    seen = []
    for _ in range(3):
        viewer.press("tab")
        viewer.draw(100, 36)
        seen.append(viewer.session.pane.view.focus)
    assert seen == ["links", "faults", "agents"]
    viewer.press("tab")
    viewer.press("down")
    agent, other = viewer.session.pane.builder.link_at_cursor(viewer.session.pane.view) or (0, 0)
    assert other == viewer.session.pane.builder.near[agent][1]


def test_a_metric_is_chosen_for_the_chart_and_the_colours(viewer: Viewer) -> None:
    first = viewer.model(100, 36).story.metric
    viewer.press("m")
    assert viewer.model(100, 36).story.metric != first
    viewer.session.set_metric("loss")
    assert viewer.model(100, 36).story.metric == "loss*"
    viewer.session.do(lambda: viewer.session.set_metric("losss"))
    assert "nearest" in viewer.session.message or "loss" in viewer.session.message
    viewer.session.set_color("loss")
    viewer.session.pane.change(scale="network")
    assert viewer.model(100, 36).network.metric == "loss*"  # type: ignore[union-attr]
    viewer.press("c")
    assert "coloured by" in viewer.session.message


@pytest.mark.parametrize(
    ("fault", "at", "said"),
    [
        (
            {"at": 8.0, "for": 4.0, "crash": [3], "name": "a power cut"},
            10.0,
            "since 8.000 s: crashed",
        ),
        (
            {"at": 8.0, "for": 4.0, "pause": [3], "name": "a power cut"},
            10.0,
            "since 8.000 s: paused",
        ),
        ({"at": 8.0, "leave": [3], "name": "a power cut"}, 10.0, "since 8.000 s: left"),
    ],
)
def test_an_opened_agent_says_why_it_stopped(
    tmp_path: Path, fault: dict[str, Any], at: float, said: str
) -> None:
    opened, control = stood(
        perform(private(run={"seed": 3, "horizon": 20.0}, fault=[fault]), tmp_path), at
    )
    opened.session.pane.change(opened=3)
    shown = "\n".join(told(opened, 120, 40))
    assert said in shown
    assert "by fault #0 a power cut" in shown
    control.source.seek(7 * 10**9)
    assert "since" not in "\n".join(told(opened, 120, 40)[2:5]).replace("since the", "")
    if "for" in fault:
        control.source.seek(13 * 10**9)
        assert "a power cut" not in "\n".join(told(opened, 120, 40)[2:5])


@pytest.mark.parametrize("at", [3.3, 9.7])
def test_the_stairs_of_an_agent_end_at_what_its_ledger_composes_to_now(ran: Ran, at: float) -> None:
    opened, control = stood(ran, at)
    opened.session.pane.change(opened=2)
    page = opened.model(120, 40).opened
    assert page is not None
    t, epsilon = page.epsilons[-1]
    assert t == at
    assert epsilon == page.row.epsilon == control.source.budget.epsilon_of(2) > 0


@pytest.mark.parametrize(
    ("planned", "said"), [(1, "its one release made"), (4, "all 4 releases made")]
)
def test_an_agent_that_is_done_says_how_many_releases_it_made(
    planned: int, said: str, tmp_path: Path
) -> None:
    """`done  77 planned releases are made` was read as 77 releases: the number was the agent's."""
    ran = perform(private(mechanism=MECHANISM | {"releases": planned}), tmp_path)
    done = ran.events("spent")
    assert {event["node"] for event in done} == set(range(6))
    viewer, _ = stood(ran, 20.0)
    viewer.session.pane.events("spent")
    shown = [text.split(maxsplit=2)[1:] for text, _ in viewer.model(120, 40).feed.lines]
    assert shown == [["done", f"agent {event['node']}: {said}"] for event in done]
    viewer.session.pane.change(opened=1)
    assert f"done {said}" in "\n".join(told(viewer, 120, 40))


ORDERS = {"breaks": "menu", "heals": "heal", "writes": "export", "goes to a time": "seek"}
"""What pages say that a key does, and the order that does it."""


def test_the_keys_that_pages_name_do_what_the_pages_say() -> None:
    said = re.compile(rf"`(\S)` ({'|'.join(ORDERS)})\b")
    named = [(page, *found) for page in pages() for found in said.findall(page_text(page))]
    assert {verb for _, _, verb in named} == set(ORDERS)
    orders = {key.key: key.command.split()[0] for key in KEYS}
    assert [each for each in named if orders.get(each[1]) != ORDERS[each[2]]] == []


@pytest.mark.parametrize("opened", [None, 1])
def test_the_agents_of_events_stand_below_a_head(viewer: Viewer, opened: int | None) -> None:
    viewer.session.pane.change(opened=opened)
    viewer.session.pane.events("all")
    frame = told(viewer, 120, 60)
    (at,) = (at for at, line in enumerate(frame) if EVENT_HEAD in line)
    left, column = frame[at].index(EVENT_HEAD), EVENT_HEAD.index("agent")
    below = [line[left:] for line in frame[at + 1 :]]
    listed = [line for line in below if re.match(r" *\d+\.\d{3} [a-z]+ +\d", line)]
    assert len(listed) >= 2
    assert all(line[column].isdigit() and line[column - 1] == " " for line in listed)


def test_letters_in_their_order_find_a_command(viewer: Viewer) -> None:
    assert matching("fa", list(COMMANDS))[0].startswith("fa")
    assert matching("brk", ["break", "back", "bulk-read"]) == ["break"]
    assert matching("zz", ["break"]) == []
    assert complete(viewer.session, "brk") == "break "
    assert "next" in offers(viewer.session, "nxt")


def test_the_legend_names_every_state_and_help_every_command(viewer: Viewer) -> None:
    assert set(STATE_WORDS) == set(STATES)
    viewer.press("?")
    guide = viewer.model(200, 300).help
    assert guide is not None
    shown = "\n".join(f"{key} {meaning}" for key, meaning, _ in guide.entries)
    for state in STATES:
        assert f"{STATES[state][0]} {state} {STATE_WORDS[state]}" in shown
    assert ("states of an agent", "", "head") in guide.entries[:3]
    listed = " ".join(meaning for _, meaning in manual(viewer.session))
    for name, command in COMMANDS.items():
        assert command.steers or name in listed


def test_a_menu_takes_half_and_keeps_the_agent_in_sight(viewer: Viewer) -> None:
    viewer.session.pane.change(scale="table", cursor=4)
    viewer.press("?")
    wide = told(viewer, 120, 36)
    assert any(line.startswith("│") and " 4 " in line[:30] and "help" not in line for line in wide)
    assert all(line[58:62].strip("│ ┐┘─┌└") == "" or "│" in line[56:64] for line in wide[2:3])
    narrow = told(viewer, 70, 30)
    assert any(" 4 ●" in line or " 4 □" in line for line in narrow)


def test_a_person_at_windows_presses_the_same_keys() -> None:
    """`ConsoleKeys` reads two characters for an arrow, one for a letter, and presses in the loop."""

    async def play() -> list[str]:
        waiting: SimpleQueue[str] = SimpleQueue()
        pressed: list[str] = []
        keys = ConsoleKeys(pressed.append, waiting.get)
        for c in ("q", "\xe0", "H", "\x00", "P", "\r", "\x1b", "\t", "\xe0", "Z", "é"):
            waiting.put(c)
        task = asyncio.get_running_loop().run_in_executor(None, keys.perform)
        while len(pressed) < 7:  # noqa: ASYNC110 # another thread presses
            await asyncio.sleep(0.01)
        keys.stop()
        waiting.put("x")
        await task
        return pressed

    assert asyncio.run(play()) == ["q", "up", "down", "enter", "escape", "tab", "é"]


# at a real terminal


def mouse(column: int, line: int, button: int = 0) -> str:
    return f"\x1b[<{button};{column + 1};{line + 1}M\x1b[<{button};{column + 1};{line + 1}m"


@pytest.mark.slow
def test_a_mouse_chooses_opens_turns_and_is_given_back(tmp_path: Path) -> None:
    with started(write(tmp_path, 5)) as terminal:
        terminal.wait_for("● up")
        assert b"\x1b[?1000h\x1b[?1006h" in terminal.raw
        terminal.press(" ")
        terminal.wait_for("❚❚ pause")
        row = next(k for k, line in enumerate(terminal.screen.display) if "│  3 " in line)
        terminal.press(mouse(4, row))
        terminal.read(0.3)
        terminal.press(mouse(4, row))
        terminal.wait_for("agent 3")
        terminal.press(ESCAPE)
        terminal.wait_for("all 5/5")
        terminal.press(mouse(4, row, 65))
        terminal.read(0.3)
        terminal.type("mouse")
        terminal.wait_for("the mouse is the terminal's")
        assert terminal.raw.rfind(b"\x1b[?1000l") > terminal.raw.rfind(b"\x1b[?1000h")
        terminal.press("q")
        assert terminal.ends() == 130
        assert terminal.is_as_before()
    assert terminal.raw.rfind(b"\x1b[?1000l") > terminal.raw.rfind(b"\x1b[?1000h")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "env", "color"),
    [
        (("--theme", "dark"), {"COLORTERM": "truecolor"}, "56b4e9"),
        (("--theme", "light"), {"COLORTERM": "truecolor"}, "00578a"),
        ((), {"COLORTERM": "truecolor", "COLORFGBG": "0;15"}, "00578a"),
        ((), {"COLORTERM": "truecolor", "COLORFGBG": "15;0"}, "56b4e9"),
    ],
)
def test_a_theme_colours_the_screen(
    tmp_path: Path, words: tuple[str, ...], env: dict[str, str], color: str
) -> None:
    file = write(tmp_path, 5)
    given = ("run", str(file), "--out", str(tmp_path / "run"), *words)
    with Terminal(100, 30, *given, cwd=tmp_path, program=("-m", "scenarios"), **env) as terminal:
        terminal.wait_for("● up")
        row = next(k for k, line in enumerate(terminal.screen.display) if "● up" in line)
        column = terminal.screen.display[row].index("●")
        assert terminal.screen.buffer[row][column].fg == color
        terminal.press("q")
        assert terminal.ends() == 130


@pytest.mark.slow
@pytest.mark.parametrize(
    ("answer", "color"), [("ffff/ffff/ffff", "00578a"), ("00/2b/36", "56b4e9")]
)
@pytest.mark.parametrize("late", [False, True])
def test_a_terminal_that_answers_chooses_the_theme_and_its_answer_is_no_key(
    tmp_path: Path,
    answer: str,
    color: str,
    late: bool,  # noqa: FBT001
) -> None:
    file = write(tmp_path, 5)
    words = ("run", str(file), "--out", str(tmp_path / "run"))
    with Terminal(100, 30, *words, cwd=tmp_path, COLORTERM="truecolor") as terminal:
        terminal.hear("\x1b]11;?")
        if late:
            terminal.wait_for("● up")
        terminal.press(f"\x1b]11;rgb:{answer}\x1b\\")
        terminal.wait_for("● up")
        terminal.read(0.8)
        row = next(k for k, line in enumerate(terminal.screen.display) if "● up" in line)
        column = terminal.screen.display[row].index("●")
        assert terminal.screen.buffer[row][column].fg == color
        assert "lists the keys" not in terminal.shown
        terminal.press("q")
        assert terminal.ends() == 130
        assert terminal.is_as_before()


@pytest.mark.slow
def test_only_lines_that_changed_are_written(tmp_path: Path) -> None:
    """A key that changes one line costs a small part of what a frame costs."""
    with started(write(tmp_path, 100), 120, 40) as terminal:
        terminal.wait_for("● up")
        terminal.press(" ")
        terminal.wait_for("❚❚ pause")
        terminal.read(1.2)
        before = len(terminal.raw)
        terminal.press("y")
        terminal.wait_for("? lists the keys")
        terminal.read(0.3)
        assert len(terminal.raw) - before < 2500
        terminal.press("q")
        terminal.ends()


@pytest.mark.slow
def test_e_offers_a_name_that_can_be_changed_and_a_cut_link_loses_all(tmp_path: Path) -> None:
    with started(write(tmp_path, 5)) as terminal:
        terminal.wait_for("● up")
        terminal.press(" ")
        terminal.wait_for("❚❚ pause")
        terminal.press("f")
        terminal.wait_for("a link loses every message")
        terminal.press(ENTER)
        terminal.wait_for(":cut 0-")
        terminal.press(ENTER)
        terminal.wait_for("#0 loss")
        terminal.press("e")
        terminal.wait_for(":export ring-session-1.toml")
        terminal.press("\x15", "export mine.toml", ENTER)
        terminal.wait_for("wrote mine.toml")
        terminal.press("b", ENTER)
        terminal.wait_for("no breakpoint")
        terminal.press("q")
        assert terminal.ends() == 130
    assert "p = 1" in (tmp_path / "mine.toml").read_text("utf-8")


@pytest.mark.slow
def test_a_terminal_without_a_screen_gets_lines_and_a_sentence(tmp_path: Path) -> None:
    words = ("run", str(write(tmp_path, 5)), "--out", str(tmp_path / "run"), "--until", "2s")
    with Terminal(100, 30, *words, cwd=tmp_path, TERM="dumb") as terminal:
        assert terminal.ends() == 0
    assert b"this terminal has no screen to draw on" in terminal.raw
    assert b"\x1b[?1049h" not in terminal.raw


@pytest.mark.slow
def test_every_newer_key_at_a_terminal(tmp_path: Path) -> None:
    tree = private(run={"seed": 3, "horizon": 20.0}, fault=PARTITION)
    folder = perform(tree, tmp_path).outcome.folder
    with Terminal(120, 40, "replay", str(folder), "--at", "10s", cwd=tmp_path) as terminal:
        terminal.wait_for("t 00:10.000")
        terminal.press("m")
        terminal.wait_for("loss*  ")
        terminal.press("c")
        terminal.wait_for("coloured by")
        terminal.press("g")
        terminal.wait_for("edges cut")
        terminal.press("[")
        terminal.wait_for("t 00:09.600")
        terminal.press("]")
        terminal.wait_for("t 00:10.000")
        terminal.press("{")
        terminal.wait_for("t 00:08.000")
        terminal.press("}")
        terminal.wait_for("no fault begins after")
        terminal.press("\t")
        terminal.wait_for("among the links")
        terminal.press("\t")
        terminal.wait_for("among the faults")
        terminal.press("\t", "g", "g", "g")
        terminal.wait_for("id state")
        terminal.press("j", "j", "k", ENTER)
        terminal.wait_for("agent 1 ")
        terminal.press(ESCAPE)
        terminal.wait_for("id state")
        terminal.press("\x04", ENTER)
        terminal.wait_for("agent 4 ")
        terminal.press(ESCAPE)
        terminal.wait_for("id state")
        terminal.press("\x15", ENTER)
        terminal.wait_for("agent 1 ")
        terminal.press(ESCAPE, "L", "fault", ENTER)
        terminal.wait_for("L:fault")
        terminal.press("H")
        terminal.wait_for("cannot be changed")
        terminal.press("y")
        terminal.wait_for("? lists the keys")
        terminal.press("q")
        assert terminal.ends() == 0
        assert terminal.is_as_before()


def test_a_key_that_is_held_and_slow_lets_the_next_one_through() -> None:
    """Twenty times back in a long recording must not keep `q` waiting; a quick key counts as often as it was pressed."""
    pty, tty = pytest.importorskip("pty"), pytest.importorskip("tty")  # not on Windows
    pressed = list[str]()

    def carry_out(key: str) -> None:
        pressed.append(key)
        ends = time.process_time() + 0.15
        while key == "[" and time.process_time() < ends:
            pass

    mine, theirs = pty.openpty()
    try:
        keyboard = Keyboard(carry_out)
        keyboard._file = theirs
        tty.setcbreak(theirs)
        os.write(mine, b"..[[[[" + 20 * b"[" + b"[q..[")
        keyboard._read()
    finally:
        os.close(mine)
        os.close(theirs)
    assert pressed == [".", ".", "[", "q", ".", ".", "["]


@pytest.mark.slow
def test_ctrl_s_is_a_key_like_others(ran: Ran, tmp_path: Path) -> None:
    """It does not stop what is written: nothing would be seen from then on, and `q` would seem to do nothing."""
    with Terminal(100, 30, "replay", str(ran.outcome.folder), cwd=tmp_path) as terminal:
        terminal.wait_for("agents")
        terminal.press("\x13")
        terminal.wait_for("? lists the keys")
        terminal.press("q")
        assert terminal.ends() == 0
        assert terminal.is_as_before()
