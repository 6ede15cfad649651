"""A profile adds up to the processor time that was spent, and every module has a room."""

import signal
import sys
import threading
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios.api.profiled import as_json, in_words, read_profile, write_profile
from scenarios.api.runs import run_sync
from scenarios.pictures.flame_graph import flame_graph
from scenarios.records.folder_error import FolderError
from scenarios.running.profile import BEGINNING, NoProfile, Profile, Share
from scenarios.running.profile_rooms import (
    FUNCTIONS,
    MODULES,
    ORDER,
    ROOMS,
    Call,
    decided,
    room_of,
)
from tests.support.builders import private
from tests.test_architecture import modules, name_of


def busy(seconds: float) -> int:
    """Compute for some seconds of processor time."""
    ends, count = time.thread_time() + seconds, 0
    while time.thread_time() < ends:
        count += 1
    return count


@pytest.fixture
def ready() -> Iterator[Profile]:
    """A profile that never outlives its test."""
    profile = Profile()
    yield profile
    profile.stop()


def test_every_module_of_hush_has_a_room() -> None:
    assert {room_of(name_of(path)).name for path in modules()} <= set(ORDER)  # type: ignore[union-attr] # all have one


def test_the_reference_names_the_rooms_in_their_order() -> None:
    page = Path(__file__).parents[3] / "docs" / "reference.md"
    assert f"`{' '.join(ORDER)}`" in page.read_text("utf-8")


def test_every_entry_of_the_table_is_a_module() -> None:
    assert [name for name in MODULES if find_spec(name) is None] == []


def test_every_function_of_the_table_is_there() -> None:
    for module, function in FUNCTIONS:
        spec = find_spec(module)
        assert spec is not None
        assert spec.origin is not None
        assert f"def {function.rpartition('.')[2]}(" in Path(spec.origin).read_text("utf-8")


def test_code_of_others_has_no_room() -> None:
    assert room_of("numpy.linalg._linalg", "norm") is None


ENGINE = Call("clocks.virtual", "VirtualClock._slice")
COMMAND = (Call("scenarios.running.run", "Run._live"), Call("scenarios.command.main", "main"))
LOSS = Call("mechanisms.objectives", "LocalObjective.value")
NUMPY = Call("numpy", "dot")
AGENT = Call("actors.agent", "Agent.act")
SAMPLE = Call("scenarios.running.metrics", "Measurements.sample")
DRAWN = Call("scenarios.console.screens.screen", "Screen._draw")
PLANNER = Call("scenarios.planning.planner", "_Planner.plan")
LOADS = Call("importlib._bootstrap", "_find_and_load")


@pytest.mark.parametrize(
    ("stack", "room"),
    [
        ((ENGINE, *COMMAND), "clock"),
        ((NUMPY, LOSS, AGENT, ENGINE, *COMMAND), "mechanism"),
        ((AGENT, ENGINE, *COMMAND), "agent"),
        ((Call("mechanisms.accounting.ledger", "f"), AGENT, ENGINE), "ledger"),
        ((LOSS, SAMPLE, ENGINE, *COMMAND), "samples"),
        ((LOSS, SAMPLE, DRAWN, *COMMAND), "console"),
        ((Call("scenarios.running.observers.recorder", "f"), SAMPLE, ENGINE), "record"),
        ((Call("scenarios.running.observers.checks", "f"), AGENT, ENGINE, *COMMAND), "checks"),
        ((LOSS, PLANNER, *COMMAND), "planning"),
        ((PLANNER, AGENT, ENGINE, *COMMAND), "agent"),
        ((Call("numpy", "<module>"), LOADS, PLANNER, *COMMAND), "start-up"),
        ((SAMPLE, Call("scenarios.running.run", "Run._conclude"), *COMMAND), "end"),
        ((Call("asyncio.base_events", "f"), *COMMAND), "clock"),
        ((BEGINNING,), "start-up"),
        ((NUMPY,), "start-up"),
    ],
)
def test_a_stack_belongs_to_the_room_that_asked_for_the_work(
    stack: tuple[Call, ...], room: str
) -> None:
    assert decided(stack).room.name == room


def test_rooms_add_up_to_the_processor_time_that_was_spent(ready: Profile) -> None:
    begun = time.thread_time()
    ready.start()
    busy(0.1)
    ready.stop()
    spent = time.thread_time() - begun
    rooms = ready.rooms()
    assert sum(room.spent_s for room in rooms) == pytest.approx(ready.spent_s, rel=1e-9)
    assert sum(room.share for room in rooms) == pytest.approx(1.0)
    assert sum(room.looks for room in rooms) == ready.looks
    assert 0.1 <= ready.spent_s + ready.own_s <= spent + 1e-3
    assert sum(ready.folded().values()) == pytest.approx(1e6 * ready.spent_s, abs=len(ready.stacks))


def test_waiting_is_no_processor_time(ready: Profile) -> None:
    with ready:
        time.sleep(0.05)
    assert ready.spent_s < 0.04


def test_what_takes_three_times_as_long_has_three_times_the_share(ready: Profile) -> None:
    def once() -> None:
        busy(0.2)

    def thrice() -> None:
        busy(0.6)

    with ready:
        once()
        thrice()
    spent = {"once": 0.0, "thrice": 0.0}
    for stack, share in ready.stacks.items():
        for call in stack:
            name = call.function.rpartition(".")[2]
            if name in spent:
                spent[name] += share.spent_ns / 1e9
    # a look is worth what passed since the one before: where another process has the core, that may be some 30 ms
    assert spent["once"] == pytest.approx(0.2, abs=0.06)
    assert spent["thrice"] == pytest.approx(0.6, abs=0.06)


def test_a_profile_gives_the_timer_back() -> None:
    heard: list[int] = []
    former = signal.signal(signal.SIGPROF, lambda number, _: heard.append(number))
    try:
        with Profile():
            busy(0.01)
        assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)
        signal.raise_signal(signal.SIGPROF)
        assert heard == [signal.SIGPROF]
    finally:
        signal.signal(signal.SIGPROF, former)


def test_another_thread_is_refused() -> None:
    said: list[str] = []

    def try_it() -> None:
        try:
            Profile().start()
        except NoProfile as error:
            said.append(str(error))

    thread = threading.Thread(target=try_it)
    thread.start()
    thread.join()
    assert said == ["a profile looks at the main thread only: await run(…, profile=True) there"]


def made(**spent: int) -> Profile:
    """A profile of so many milliseconds in each of some stacks: a module each."""
    profile = Profile()
    for module, milliseconds in spent.items():
        call = Call(module.replace("__", "."), "f")
        profile.stacks[call, ENGINE] = Share(1, milliseconds * 1_000_000)
    return profile


SPENT = {"actors__agent": 600, "actors__links": 300, "mechanisms__noise": 100}


@pytest.mark.parametrize("width", [20, 40, 57, 58, 80, 110, 200])
def test_the_table_fits_the_terminal(width: int) -> None:
    lines = in_words(made(**SPENT), width)
    assert all(len(line) <= max(width, 58) for line in lines)
    assert [line.split()[:2] for line in lines[1:4]] == [
        ["agent", "60.0"],
        ["links", "30.0"],
        ["mechanism", "10.0"],
    ]
    assert lines[0] == "  where 1.00 s of processor time went (3 samples)"


def test_a_profile_is_written_and_read_again(tmp_path: Path) -> None:
    profile = made(**SPENT)
    stacks, picture = write_profile(profile, tmp_path, "x")
    assert stacks.read_text() == (
        "agent;actors.agent:f 600000\nlinks;actors.links:f 300000\nmechanism;mechanisms.noise:f 100000\n"
    )
    assert read_profile(tmp_path) == {"agent": 0.6, "links": 0.3, "mechanism": 0.1}
    assert picture.name == "profile.svg"
    tree = as_json(profile, {})
    assert sum(room["spent_s"] for room in tree["rooms"].values()) == pytest.approx(1.0)


@pytest.mark.parametrize(
    "text", ["nowhere;a 3\n", "agent;a x\n", "agent;a -3\n", "agent;a ³\n", "\n", "\0 1\n", "agent"]
)
def test_what_is_no_profile_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "profile.folded").write_text(text)
    with pytest.raises(FolderError, match="line 1 is no stack of a room"):
        read_profile(tmp_path)


def test_a_folder_without_a_profile_says_so(tmp_path: Path) -> None:
    with pytest.raises(FolderError, match="only runs with --profile leave one"):
        read_profile(tmp_path)


SVG = "{http://www.w3.org/2000/svg}"


def test_a_box_is_as_wide_as_its_share_and_lies_below_what_called_it() -> None:
    stacks: dict[tuple[str, ...], int] = {
        ("agent", "f"): 300,
        ("agent", "g"): 100,
        ("links", "h"): 600,
    }
    tree = ET.fromstring(flame_graph(stacks, {}, "x"))  # noqa: S314 # our own text
    boxes = {}
    for group in tree.iter(f"{SVG}g"):
        title, rect = group.find(f"{SVG}title"), group.find(f"{SVG}rect")
        assert title is not None
        assert title.text is not None
        assert rect is not None
        name = title.text.partition(":")[0]
        boxes[name] = tuple(float(rect.get(key, "")) for key in ("x", "y", "width"))
    wide = boxes["all"][2] + 0.5
    shares = {name: (box[2] + 0.5) / wide for name, box in boxes.items()}
    assert shares == pytest.approx(
        {"all": 1, "agent": 0.4, "f": 0.3, "g": 0.1, "links": 0.6, "h": 0.6}, abs=1e-4
    )
    assert boxes["f"][1] == boxes["g"][1] == boxes["h"][1] > boxes["agent"][1] > boxes["all"][1]
    assert boxes["f"][0] == boxes["agent"][0]
    assert boxes["g"][0] == pytest.approx(boxes["f"][0] + 0.3 * wide, abs=0.02)


def test_a_flame_graph_needs_nothing_else_and_escapes_names() -> None:
    name = "</title><script>alert('\x1b')</script>&"
    text = flame_graph({("agent", name): 5}, {"agent": "#123456"}, name)
    tree = ET.fromstring(text)  # noqa: S314 # our own text
    assert list(tree.iter(f"{SVG}script")) == []
    assert "\x1b" not in text
    assert "http" not in text.replace(SVG.strip("{}"), "")
    assert any(name.replace("\x1b", "\\u001b") in (t.text or "") for t in tree.iter(f"{SVG}title"))


def test_a_run_that_took_no_time_has_a_flame_graph() -> None:
    ET.fromstring(flame_graph({}, {}, "x"))  # noqa: S314 # our own text


@pytest.mark.slow
def test_a_run_with_a_profile_is_the_same_run(tmp_path: Path) -> None:
    plain = run_sync(private(), out=tmp_path / "plain")
    looked = run_sync(private(), out=tmp_path / "looked", profile=True)
    assert looked.manifest["digests"] == plain.manifest["digests"]
    assert looked.flaws == ()
    assert set(looked.profile) <= set(ROOMS)
    assert sum(looked.profile.values()) > 0.005
    with pytest.raises(FolderError):
        _ = plain.profile


@given(st.lists(st.integers(0, 10**9), min_size=1, max_size=30))
def test_no_look_takes_less_than_nothing_in_whichever_order_looks_end(instants: list[int]) -> None:
    """A look within a look ends first. All looks together took the time up to the latest of them."""
    profile = Profile()
    profile._then_ns = 0

    def deeper(instant: int, depth: int) -> None:
        if depth:
            deeper(instant, depth - 1)
        else:
            profile.note(sys._getframe(), instant)

    for at, instant in enumerate(
        instants
    ):  # each from another stack, so that no share hides another
        deeper(instant, at)
    shares = [share.spent_ns for share in profile._raw.values()]
    assert min(shares) >= 0
    assert sum(shares) == max(instants)
