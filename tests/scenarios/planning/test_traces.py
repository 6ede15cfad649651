"""Traces that others measured: clean ones come through as they are, and planted flaws are counted exactly."""

import io
import json
import pickle
import time
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios.api.runs import make_plan
from scenarios.command.main import main
from scenarios.planning.files import BadData
from scenarios.planning.traces import REPAIRS, Hygiene, Imported
from scenarios.planning.traces.matrices import violated
from scenarios.planning.traces.reading import read_trace
from scenarios.planning.traces.text_rows import moment
from tests.support.builders import perform, scenario

EVERYTHING = frozenset(REPAIRS)


def trace(
    tmp_path: Path, text: str, kind: str = "auto", repairs: Any = (), **more: Any
) -> Imported:
    path = tmp_path / "trace.csv"
    path.write_text(text, encoding="utf-8")
    return read_trace(path, kind, Hygiene(frozenset(repairs)), **more)


def rows(imported: Imported) -> list[list[float]]:
    return [
        [float(cell) for cell in line.split()]
        for line in imported.lines
        if not line.startswith("#")
    ]


def flaws(imported: Imported) -> dict[str, int]:
    return {flaw.what: flaw.count for flaw in imported.hygiene.flaws}


def test_a_clean_trace_gives_exactly_its_sessions(tmp_path: Path) -> None:
    """From the file of others over churn to the events of a run: each agent is there in its sessions only."""
    sessions: dict[int, list[tuple[float, float]]] = {
        0: [(0, 3.25), (5, 9)],
        1: [(1.5, 4)],
        2: [(0, 2), (2.5, 3), (11, 20)],
    }
    text = "device,from,to\n" + "".join(
        f"dev-{'xyz'[i]},{a},{b}\n" for i, its in sessions.items() for a, b in its
    )
    (tmp_path / "in.csv").write_text(text, encoding="utf-8")
    assert (
        main(["trace", "import", str(tmp_path / "in.csv"), "--out", str(tmp_path / "t.txt")]) == 0
    )
    (tmp_path / "w.toml").touch()
    world = scenario(fault=[{"at": 0, "churn": {"on": "all", "path": "t.txt"}}])
    made = perform(make_plan(world, folders=[tmp_path]), tmp_path / "runs")
    for i, its in sessions.items():
        turns = [e["t"] / 1e9 for e in made.events("left", "joined") if e["node"] == i]
        wanted = [t for pair in its for t in pair]
        assert turns == (wanted[1:] if wanted[0] == 0 else [0, *wanted])
    assert not [e for e in made.events("left") if e["node"] > 2]


@given(
    st.lists(
        st.lists(st.integers(0, 10**6), min_size=2, max_size=8, unique=True).map(sorted),
        min_size=1,
        max_size=5,
    )
)
def test_what_is_written_is_what_was_read(instants: list[list[int]]) -> None:
    """Milliseconds, in any order of rows."""
    pairs = [
        (i, a, b)
        for i, its in enumerate(instants)
        for a, b in zip(its[::2], its[1::2], strict=False)
    ]
    text = "".join(f"{i} {a} {b}\n" for i, a, b in pairs)
    from scenarios.planning.traces import availability
    from scenarios.planning.traces.text_rows import rows_of

    got = availability.imported(text, rows_of(text), Hygiene(), 1e-3)
    assert got.hygiene.flaws == []
    assert sorted(map(tuple, rows(got))) == sorted((i, a * 1e-3, b * 1e-3) for i, a, b in pairs)


PLANTED = """\
id,from,to
a,0,10
a,8,12
a,11,13
b,5,7
b,5,7
b,-3,2
c,9,4
c,nan,4
c,,4
c,20,30
"""


def test_planted_flaws_of_sessions_are_counted(tmp_path: Path) -> None:
    wanted = {
        "sessions that overlap": 2,
        "duplicated rows": 1,
        "negative times": 1,
        "sessions that end before they begin": 1,
        "times that are missing": 2,
    }
    bad = trace(tmp_path, PLANTED)
    assert flaws(bad) == wanted
    assert not bad.hygiene.is_usable
    good = trace(tmp_path, PLANTED, repairs=("drop", "merge"))
    assert flaws(good) == wanted
    assert good.hygiene.is_usable
    assert rows(good) == [[0, 0, 13], [1, 5, 7], [2, 20, 30]]
    assert not trace(tmp_path, PLANTED, repairs=("drop",)).hygiene.is_usable


def messages(*lines: tuple[str, str]) -> str:
    return "\n".join(f"{time}\t{state}" for time, state in lines)


def clock(seconds: int, day: int = 1) -> str:
    return f"2020-02-{day:02} {seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"


FLASH = {
    "one": {
        "model": "m",
        "messages": messages(
            (clock(100), "screen_off"),
            (clock(200), "battery_charged_on"),
            (clock(300), "Wifi"),
            (clock(300), "87.0%"),
            (clock(900), "4G"),
            (clock(1000), "wifi"),
            (clock(1300), "screen_on"),
        ),
    },
    "two": {
        "messages": messages(
            (clock(50), "battery_charged_on"),
            (clock(60), "wifi"),
            (clock(400), "screen_lock"),
            (clock(401), "battery_okay"),
            (clock(500), "battery_charged_off"),
        )
    },
    "three": {"messages": messages((clock(10), "screen_on"), (clock(20), "wifi"))},
}


def test_a_device_is_there_while_it_is_idle_and_charges_and_has_wifi(tmp_path: Path) -> None:
    got = trace(tmp_path, json.dumps(FLASH))
    assert rows(got) == [[0, 0, 600], [0, 700, 1000], [1, 100, 200]]  # from 300 s past midnight on
    assert flaws(got) == {"devices that are never there": 1}
    loose = trace(tmp_path, json.dumps(FLASH), needs=("idle", "charging"))
    assert rows(loose) == [[0, 0, 1100], [1, 200, 300]]


@pytest.mark.parametrize("network", ["unknown", "2G", "3G", "4G", "5G"])
@pytest.mark.parametrize("awake", ["screen_on", "screen_unlock"])
def test_a_device_is_gone_on_every_other_network(network: str, awake: str, tmp_path: Path) -> None:
    """There from 30 s on; gone at 40 s, back at 50 s; idle by the screen or by the lock, until 70 s."""
    idle = {"screen_on": "screen_off", "screen_unlock": "screen_lock"}[awake]
    said = [idle, "battery_charged_on", "wifi", network, "wifi", "phone_on", awake]
    lines = [(clock(10 * (k + 1)), state) for k, state in enumerate(said)]
    got = trace(tmp_path, json.dumps({"d": {"messages": messages(*lines)}}))
    assert rows(got) == [[0, 0, 10], [0, 20, 40]]
    assert got.hygiene.flaws == []


def test_planted_flaws_of_messages_are_counted(tmp_path: Path) -> None:
    device = messages(
        (clock(0), "screen_off"),
        (clock(0), "screen_off"),
        (clock(0), "wifi"),
        (clock(10), "battery_charged_on"),
        ("yesterday", "wifi"),
        (clock(5), "wifi"),
        (clock(60), "dancing"),
        (clock(86_000), "wifi"),
        (clock(100), "battery_charged_off"),
        (clock(200, day=4), "wifi"),
    )
    text = json.dumps({"d": {"messages": device}})
    got = trace(tmp_path, text, repairs=("drop", "unwrap"))
    assert flaws(got) == {
        "duplicated rows": 1,
        "messages without a time": 1,
        "clocks that go back": 1,
        "states that are not known": 1,
        "clocks that begin anew (by a day, or 32 bits)": 1,
        "silences of more than a day": 1,
    }
    assert rows(got) == [[0, 0, 86_490]]  # charging from 10 s on to 100 s of the day after
    assert not trace(tmp_path, text, repairs=("drop",)).hygiene.flaws[-2].blocks
    assert not trace(tmp_path, text).hygiene.is_usable


@pytest.mark.parametrize(("unit", "whole"), [("ms", 2**32), ("s", 2**32), ("s", 86_400)])
def test_a_clock_that_wraps_is_unwrapped(unit: str, whole: int, tmp_path: Path) -> None:
    text = f"id,time,state\na,{whole - 50},on\na,{whole - 10},off\na,30,on\na,70,off\n"
    got = trace(tmp_path, text, repairs=("unwrap",), unit=unit, from_start=True)
    scale = {"ms": 1e-3, "s": 1.0}[unit]
    wanted = [0, 40 * scale, 80 * scale, 120 * scale]
    assert [t for row in rows(got) for t in row[1:]] == pytest.approx(wanted, abs=1e-6)
    assert flaws(got) == {"clocks that begin anew (by a day, or 32 bits)": 1}


def test_a_clock_that_wraps_twice_has_lost_two_days(tmp_path: Path) -> None:
    """On at 80,000 s of the first day, off at 100 s of the second, and so on."""
    said = [(80_000, "on"), (100, "off"), (82_000, "on"), (200, "off"), (300, "on"), (400, "off")]
    text = "id,time,state\n" + "".join(f"a,{at},{state}\n" for at, state in said)
    got = trace(tmp_path, text, repairs=("unwrap",))
    day = 86_400
    assert rows(got) == [
        [0, 80_000, day + 100],
        [0, day + 82_000, 2 * day + 200],
        [0, 2 * day + 300, 2 * day + 400],
    ]
    assert flaws(got) == {"clocks that begin anew (by a day, or 32 bits)": 2}


@pytest.mark.parametrize(("hours", "gaps"), [(23, 0), (25, 1)])
def test_a_silence_is_long_from_a_day_on(hours: int, gaps: int, tmp_path: Path) -> None:
    text = f"id,time,state\na,0,on\na,{hours * 3600},off\n"
    assert flaws(trace(tmp_path, text)).get("silences of more than a day", 0) == gaps


def test_a_session_within_another_does_not_end_it(tmp_path: Path) -> None:
    got = trace(tmp_path, "a,0,10\na,2,5\na,9,12\n", "availability", ("merge",))
    assert rows(got) == [[0, 0, 12]]


@pytest.mark.parametrize(("text", "median"), [("1\n9\n3\n", 3.0), ("1\n9\n3\n2\n", 2.5)])
def test_the_median_of_an_even_number_lies_between_two(
    text: str, median: float, tmp_path: Path
) -> None:
    assert trace(tmp_path, text, "durations").hygiene.facts["median_s"] == median


@pytest.mark.parametrize("cell", ["1_000", "١٢", "0x10"])
def test_a_number_is_what_other_programs_read_as_one(cell: str, tmp_path: Path) -> None:
    with pytest.raises(BadData, match="is no number"):
        trace(tmp_path, f"1\n{cell}\n", "durations")


def test_the_share_that_is_online_is_of_the_time_that_the_trace_lasts(tmp_path: Path) -> None:
    """Two devices for 100 s, from 900 s on: 60 s and 100 s."""
    got = trace(tmp_path, "a,900,960\nb,900,1000\n", "availability")
    assert got.hygiene.facts["online"] == 0.8


@pytest.mark.parametrize(("unit", "seconds"), [("s", 1.0), ("ms", 1e-3), ("us", 1e-6)])
@pytest.mark.parametrize(
    ("kind", "text"),
    [("availability", "a,2,6\n"), ("durations", "6\n2\n"), ("matrix", "0 6\n6 0\n")],
)
def test_a_unit_is_that_of_every_kind(
    kind: str, text: str, unit: str, seconds: float, tmp_path: Path
) -> None:
    read = rows(trace(tmp_path, text, kind, unit=unit))
    assert max(map(max, read)) == pytest.approx(6 * seconds, rel=1e-12)


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="the zone of a process is set by tzset")
def test_a_date_without_a_zone_is_of_utc_on_every_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    try:
        for zone in ("UTC", "Asia/Tokyo"):
            monkeypatch.setenv("TZ", zone)
            time.tzset()
            assert moment("1970-01-02 00:00:00") == 86_400
    finally:
        monkeypatch.undo()
        time.tzset()


def test_dates_count_from_the_first_session(tmp_path: Path) -> None:
    text = (
        "a,2020-01-01T00:00:00,2020-01-01T01:00:00\nb,2020-01-01T01:30:00+01:00,2020-01-01T02:00Z\n"
    )
    assert rows(trace(tmp_path, text)) == [[0, 0, 3600], [1, 1800, 7200]]
    log = "a,2020-01-01,on\na,2020-01-02,off\n"
    assert rows(trace(tmp_path, log)) == [[0, 0, 86_400]]


def test_what_is_no_file_is_not_read(tmp_path: Path) -> None:
    for path, said in ((tmp_path, "is no file"), (tmp_path / "x", "there is no such file")):
        with pytest.raises(BadData, match=f"^{said}"):
            read_trace(path, "auto", Hygiene())
    with pytest.raises(BadData, match=r"^(cannot be read|there is no such file)"):
        read_trace(Path("a\0b"), "auto", Hygiene())


def text_of(matrix: Any) -> str:
    return "\n".join(" ".join(str(cell) for cell in row) for row in matrix)


def plane(n: int, seed: int = 3) -> Any:
    """Distances of points of a plane: symmetric, and no detour is shorter."""
    points = np.random.default_rng(seed).random((n, 2))
    return np.linalg.norm(points[:, None] - points[None], axis=2)


def test_a_clean_matrix_comes_through(tmp_path: Path) -> None:
    matrix = plane(6)
    (tmp_path / "in.txt").write_text(text_of(matrix * 1000), encoding="utf-8")
    words = ["trace", "import", str(tmp_path / "in.txt"), "--unit", "ms", "--rtt"]
    assert main([*words, "--out", str(tmp_path / "m.txt")]) == 0
    latency = {"kind": "matrix", "path": "m.txt"}
    plan = make_plan(
        scenario(network={"topology": "complete", "latency": latency}), folders=[tmp_path]
    )
    for i in range(6):
        for j in range(6):
            if i != j:
                assert plan.policy_of(i, j).latency.mean_s == pytest.approx(
                    matrix[i, j] / 2, abs=1e-12
                )
    got = trace(tmp_path, text_of(matrix))
    assert got.hygiene.flaws == []
    assert (got.hygiene.facts["asymmetric"], got.hygiene.facts["triangles_violated"]) == (0, 0)


def test_planted_flaws_of_a_matrix_are_counted(tmp_path: Path) -> None:
    n = 10
    matrix = plane(n) + 1 + 0.05 * np.arange(n)[:, None]  # slower from later places
    np.fill_diagonal(matrix, 0)
    for i, j in ((0, 1), (1, 0), (2, 5)):
        matrix[i, j] = -0.5  # a missing −1 that was halved
    matrix[3, 4] = -7
    matrix[6, 7] = np.nan
    matrix[7, 8] = np.inf
    matrix[9, 9] = 0.25
    matrix[8, 2] = 0
    wanted = {
        "missing values, written as -0.5, half of -1": 3,
        "negative values": 1,
        "missing values": 1,
        "infinite values": 1,
        "delays of a place to itself that are not 0": 1,
        "delays of 0 between two places": 1,
    }
    assert flaws(trace(tmp_path, text_of(matrix))) == wanted
    got = trace(tmp_path, text_of(matrix), repairs=("neighbour",))
    assert flaws(got) == wanted
    assert got.hygiene.is_usable
    read = np.array(rows(got))
    for i, j in ((2, 5), (3, 4), (6, 7), (7, 8)):
        assert read[i, j] == matrix[j, i]
    known = [v for k, v in enumerate(matrix[0]) if k and v > 0]
    column = [v for k, v in enumerate(matrix[:, 1]) if k != 1 and v > 0]
    assert read[0, 1] == pytest.approx((np.median(known) + np.median(column)) / 2)
    half = trace(tmp_path, text_of(matrix), repairs=("symmetric",))
    assert flaws(half)["values missing in both directions"] == 2
    assert not half.hygiene.is_usable


def test_directions_are_levelled_where_that_is_asked_for(tmp_path: Path) -> None:
    text = "place,x,y,z\nx,0,.5,1\ny,1.5,0,2\nz,1,2,0\n"
    got = trace(tmp_path, text, "matrix", ("symmetric",))
    assert rows(got) == [[0, 1, 1], [1, 0, 2], [1, 2, 0]]
    assert flaws(got) == {"pairs whose directions differ": 1}
    assert got.hygiene.facts["asymmetric"] == pytest.approx(1 / 3)


@pytest.mark.parametrize(("share", "uneven"), [(0.009, 0), (0.011, 1)])
def test_directions_differ_from_a_hundredth_on(share: float, uneven: int, tmp_path: Path) -> None:
    """Of the longer one; of three pairs one is looked at."""
    matrix = plane(3)
    matrix[0, 1] = (1 - share) * matrix[1, 0]
    got = trace(tmp_path, text_of(matrix), "matrix")
    assert got.hygiene.facts["asymmetric"] == uneven / 3


def test_a_detour_that_is_shorter_is_a_triangle_violated() -> None:
    """Of four places 24 ordered triples; from 0 to 1 and back over 2 or over 3 is shorter: four of them."""
    matrix = np.ones((4, 4))
    np.fill_diagonal(matrix, 0)
    matrix[0, 1] = matrix[1, 0] = 2.001
    assert violated(matrix) == pytest.approx(4 / 24)
    matrix[0, 1] = matrix[1, 0] = 1.99
    assert violated(matrix) == 0


@pytest.mark.parametrize("ending", ["npy", "npz"])
def test_arrays_are_read_without_pickle(ending: str, tmp_path: Path) -> None:
    matrix, path = plane(5), tmp_path / f"m.{ending}"
    if ending == "npy":
        np.save(path, matrix)
    else:
        np.savez(path, rtt=matrix)
    assert np.array(rows(read_trace(path, "auto", Hygiene()))) == pytest.approx(matrix)
    evil = np.array([[print, 1], [1, 1]], dtype=object)
    np.save(path, evil) if ending == "npy" else np.savez(path, rtt=evil)
    with pytest.raises(BadData, match="is no file of numbers"):
        read_trace(path, "auto", Hygiene())


def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    path, header = tmp_path / "m.npz", io.BytesIO()
    shape = (100_000, 100_000)
    np.lib.format.write_array_header_1_0(
        header, {"descr": "<f8", "fortran_order": False, "shape": shape}
    )
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.npy", header.getvalue())
    with pytest.raises(BadData, match="are not read"):
        read_trace(path, "auto", Hygiene())
    bare = tmp_path / "m.npy"
    bare.write_bytes(header.getvalue())
    with pytest.raises(BadData, match="would take more"):
        read_trace(bare, "auto", Hygiene())


def test_durations_are_halved_and_planted_flaws_are_counted(tmp_path: Path) -> None:
    text = "latency\n10\n20\nnan\n-0.5\n-0.5\n-3\n1e30\n30\n"
    wanted = {
        "missing values": 1,
        "missing values, written as -0.5": 2,
        "negative values": 1,
        "values above 285 years": 1,
    }
    assert flaws(trace(tmp_path, text, unit="ms")) == wanted
    got = trace(tmp_path, text, repairs=("drop",), unit="ms", halve=True)
    assert rows(got) == [[0.005], [0.01], [0.015]]
    assert flaws(got) == wanted


HOSTILE: dict[str, tuple[bytes, str, str]] = {
    "empty": (b"", "auto", "holds no rows"),
    "a header alone": (b"id,from,to\n", "auto", "holds no rows"),
    "bytes": (b"\xff\xfe\x00\x01" * 9, "auto", "is no text in UTF-8"),
    "a pickle": (pickle.dumps({"a": 1}), "auto", "is no text|holds|several kinds|no number"),
    "ragged": (b"1 2 3\n4 5\n6 7 8\n9 9 9\n", "availability", "line 2 has 2 cells"),
    "not square": (b"1 2 3\n4 5 6\n", "matrix", "must be as wide as high"),
    "a word": (b"0 1\nx 0\n", "matrix", 'line 2: "x" is no number'),
    "no time": (b"a,soon,later\nb,soon,later\n", "availability", "holds no rows|is no time"),
    "no JSON": (b'{"a": {"messages": 3}}', "auto", "must be JSON of devices"),
    "deep JSON": (b'{"a":' * 100_000, "auto", "must be JSON of devices"),
    "ambiguous": (b"0 1 2\n1 0 2\n2 2 0\n", "auto", "give --kind"),
    "NUL": (b"0 1\0 2\n", "matrix", "must be as wide|square|no number"),
    "for ever": (b"a,0,1e300\n", "availability", "perhaps the unit is another"),
    "nobody": (b'{"a": {"messages": ""}}', "auto", "holds no session"),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_file_is_one_sentence(
    what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, kind, said = HOSTILE[what]
    path = tmp_path / "trace.txt"
    path.write_bytes(data)
    with pytest.raises(BadData, match=said):
        read_trace(path, kind, Hygiene(EVERYTHING))
    assert main(["trace", "import", str(path), "--kind", kind, "--out", str(tmp_path / "o")]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
    assert not (tmp_path / "o").exists()


def test_a_file_that_is_too_large_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scenarios.planning.traces.text_rows.MOST_BYTES", 10)
    with pytest.raises(BadData, match="more than 10 are not read"):
        trace(tmp_path, "a,0,1\nb,0,1\n")


def test_names_of_devices_cannot_break_out(tmp_path: Path) -> None:
    """A name with a line end or an escape would be another row, or an order to a terminal."""
    device = {
        "messages": messages(
            (clock(0), "screen_off"),
            (clock(0), "wifi"),
            (clock(0), "battery_charged_on"),
            (clock(9), "4g"),
        )
    }
    got = trace(tmp_path, json.dumps({"x\n0 5 6\x1b[2J": device}))
    assert all("\n" not in line and "\x1b" not in line for line in got.lines)
    assert rows(got) == [[0, 0, 9]]


def test_the_report_is_json_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "s.csv").write_text(PLANTED, encoding="utf-8")
    words = ["trace", "import", str(tmp_path / "s.csv"), "--json"]
    assert main(words) == 2
    told = json.loads(capsys.readouterr().out)
    assert (told["usable"], told["out"], len(told["flaws"])) == (False, None, 5)
    assert main([*words, "--repair", "drop,merge", "--out", str(tmp_path / "o.txt")]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["usable"], told["out"]) == (True, str(tmp_path / "o.txt"))
    assert main([*words, "--repair", "drop,merge", "--out", str(tmp_path / "o.txt")]) == 2
    assert "exists already" in capsys.readouterr().err
