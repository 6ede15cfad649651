"""Whatever stands in a run's folder, readers end with an answer or an error that names the file: never a traceback."""

import copy
import json
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from mechanisms.accounting.spend import UNITS
from scenarios import open_run
from scenarios.command.exit_codes import OURS
from scenarios.command.main import main
from scenarios.console.screens.viewer import viewer_of_recording
from scenarios.language.json_numbers import number as number_of
from scenarios.pictures.curves import curve_of
from scenarios.records.file_guard import FolderError, guarded
from scenarios.records.reader import RunRecord
from scenarios.records.recomputed_privacy import epsilon_of
from tests.support.builders import perform, private
from tests.support.damages import Dice
from tests.support.records import RUNNING, events_of, write_singles

DEEP = "[" * 5000 + "]" * 5000
ODD: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    3,
    10**18,
    10**30,
    1e308,
    -1e308,
    5e-324,
    0.5,
    "",
    "x",
    "inf",
    "-inf",
    "nan",
    "\x1b[2J",
    "é" * 300,
    [],
    {},
    [[]],
    [None],
    ["x"],
    [10**9],
    {"a": 1},
    "@deep@",
)
"""What stands in the place of a value; the last one becomes 5,000 nested brackets."""
WHOLE = (
    b"",
    b"null",
    b"[]",
    b"{}",
    b'"x"',
    b"{",
    b"NaN",
    b"\xff\xfe\x00",
    b"\x00" * 99,
    DEEP.encode(),
    b"\n\n",
)
FILES = (
    "manifest.json",
    "summary.json",
    "verdicts.json",
    "world.json",
    "data.json",
    "resolved.toml",
    "ledger.jsonl",
    "record-00000.hush",
    "models.npz",
)
SEVERAL = 3000
EVERY_DAY = 160


Folders = tuple[Path, Path]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Folders:
    """Make a finished run, and one that was killed: its manifest says running, and it has no summary."""
    where = tmp_path_factory.mktemp("runs")
    world = private(
        run={"seed": 5, "horizon": 4.0},
        network={"topology": "ring", "latency": "100ms", "loss": 0.1},
        fault=[{"at": 1.0, "for": 1.0, "crash": [2]}],
        expect=[{"metric": "loss.mean", "at_most": 9.0}],
        targets={"good": {"metric": "loss.mean", "at_most": 0.6}},
        data={"source": "blobs", "dimension": 2, "points": 12, "test_points": 4},
    )
    finished = perform(world, where).outcome.folder
    killed = where / "killed"
    shutil.copytree(finished, killed)
    for name in ("summary.json", "verdicts.json", "models.npz", "ledger.jsonl", "metrics.parquet"):
        (killed / name).unlink()
    write_singles(killed, events_of(killed)[:-1], RunRecord(killed).ledger_lines())
    manifest = json.loads((killed / "manifest.json").read_text())
    (killed / "manifest.json").write_text(json.dumps(manifest | RUNNING))
    return finished, killed


def edit(folder: Path, dice: Dice) -> str:
    """Edit one file of a folder, and say how."""
    path = folder / dice.of([name for name in FILES if (folder / name).exists()])
    data, kind = path.read_bytes(), dice.below(10)
    if kind == 0:
        path.unlink()
        return f"{path.name} is gone"
    if kind == 1:
        whole = dice.of(WHOLE)
        path.write_bytes(whole)
        return f"{path.name} is {whole[:9]!r}"
    if kind == 2:
        at = dice.below(len(data))
        path.write_bytes(data[:at])
        return f"{path.name} is cut at {at}"
    if kind == 3 or path.suffix in {".npz", ".hush"}:
        at, byte = dice.below(len(data)), dice.below(256)
        path.write_bytes(data[:at] + bytes([byte]) + data[at + 1 :])
        return f"byte {at} of {path.name} is {byte}"
    if path.suffix == ".toml":
        return edit_toml(path, dice)
    lines = data.decode().splitlines() if path.suffix == ".jsonl" else [data.decode()]
    at = dice.below(len(lines))
    if len(lines) > 1 and kind == 4:
        other = dice.below(len(lines))
        lines[at], lines[other] = lines[other], lines[at]
        how = f"lines {at} and {other} change places"
    else:
        tree, how = edited(json.loads(lines[at]), dice)
        lines[at] = json.dumps(tree).replace('"@deep@"', DEEP)
    path.write_text("\n".join(lines) + "\n")
    return f"{path.name}, line {at}: {how}"


def edited(tree: Any, dice: Dice) -> tuple[Any, str]:
    """Take an entry of a JSON tree away, double it, or put something odd in its place."""
    tree = copy.deepcopy(tree)
    place, steps = tree, list[Any]()
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = dice.of(keys)
        steps.append(key)
        inner = place[key]
        if not (isinstance(inner, (dict, list)) and inner) or dice.below(4) == 0:
            break
        place = inner
    if dice.below(4) == 0:
        del place[key]
        return tree, f"{steps} is taken away"
    place[key] = odd = dice.of(ODD)
    return tree, f"{steps} is {odd!r}"


def edit_toml(path: Path, dice: Dice) -> str:
    lines = path.read_text().splitlines()
    at = dice.below(len(lines))
    key, equals, _ = lines[at].partition(" = ")
    odd = dice.of(
        (
            "",
            "-1",
            "0",
            "1e308",
            "nan",
            '"x"',
            "[]",
            "{}",
            "true",
            "9" * 40,
            "1_000_000_000_000",
            DEEP,
        )
    )
    lines[at] = f"{key} = {odd}" if equals and dice.below(4) else ""
    path.write_text("\n".join(lines) + "\n")
    return f"{path.name}, line {at + 1}: {lines[at][:60]!r}"


def api(folder: Path) -> None:
    """Use everything that a script can ask of a run."""
    for use in (
        lambda r: r.summary,
        lambda r: r.models,
        lambda r: r.ledger,
        lambda r: r.verdicts,
        lambda r: r.metrics(),
        lambda r: list(r.events()),
        lambda r: list(r.samples()),
        lambda r: r.caveats,
        repr,
    ):
        try:
            use(open_run(folder))
        except FolderError:
            continue
        except UserWarning:  # the ledger differs from the events
            continue


def replayed(folder: Path) -> None:
    with guarded(folder):
        viewer, control = viewer_of_recording(RunRecord(folder), None)
        control.source.seek(control.source.length)
        viewer.draw(100, 30)


def drawn(folder: Path) -> None:
    with guarded(folder):
        curve_of(RunRecord(folder), "loss", "epsilon")


def command(*words: str) -> Callable[[Path], None]:
    def act(folder: Path) -> None:
        told = main([word.format(folder) for word in words])
        assert told != OURS
        assert told in {0, 2, 5}, told

    return act


READERS: dict[str, Callable[[Path], None]] = {
    "show": command("show", "{}"),
    "show --json": command("show", "{}", "--json"),
    "show --ledger csv": command("show", "{}", "--ledger", "csv"),
    "show --ledger dp-accounting": command("show", "{}", "--ledger", "dp-accounting"),
    "show --ledger jsonl": command("show", "{}", "--ledger", "jsonl"),
    "show --events": command("show", "{}", "--events", "jsonl"),
    "explain": command("explain", "{}", "20"),
    "explain --json": command("explain", "{}", "9", "--json"),
    "diff": command("diff", "{}", "{}-as-it-was"),
    "replay": command("replay", "{}"),
    "replay, on": replayed,
    "plot, points": drawn,
    "api": api,
}


def readable(folders: Folders, where: Path, number: int) -> None:
    """Edit a copy of a folder, and read it: whatever comes, it is no exception but a FolderError."""
    dice = Dice(number, 14)
    folder = where / "run"
    shutil.rmtree(folder, ignore_errors=True)
    source = folders[dice.below(4) == 0]
    shutil.copytree(source, folder)
    if not (where / "run-as-it-was").exists():
        shutil.copytree(folders[0], where / "run-as-it-was")
    how = [edit(folder, dice)]
    if dice.below(4) == 0:
        with suppress(
            ValueError, IndexError, TypeError, RecursionError
        ):  # the first edit left nothing that the second could edit
            how.append(edit(folder, dice))
    name = dice.of(list(READERS))
    try:
        READERS[name](folder)
    except FolderError as error:
        if "\n" in str(error):
            raise AssertionError(f"input {number}: an error of two lines") from error
    except Exception as error:
        raise AssertionError(f"input {number}, {name}: {source.name}, {how}") from error


@pytest.mark.slow
def test_readers_bear_edited_folders(
    folders: Folders, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(EVERY_DAY):
        readable(folders, tmp_path, number)
        capsys.readouterr()


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_readers_bear_very_many_edited_folders(
    folders: Folders, tmp_path: Path, capsys: pytest.CaptureFixture[str], part: int
) -> None:
    for number in range(EVERY_DAY + part, SEVERAL, 10):
        readable(folders, tmp_path, number)
        capsys.readouterr()


@pytest.mark.parametrize("name", READERS)
def test_folders_as_they_are_have_an_answer(folders: Folders, name: str) -> None:
    """The guard turns no fault of a reader into damage of a folder that has none."""
    for folder in folders:
        shutil.copytree(folders[0], f"{folder}-as-it-was", dirs_exist_ok=True)
        READERS[name](folder)


UNFIT: dict[str, dict[str, Any]] = {
    "fewer agents than its groups": {"size": 5},
    "more agents than seats": {"seats": 5},
    "an edge to no seat": {"edges": [[0, 6]]},
    "an absent agent without a seat": {"absent": [-1]},
    "a group of fewer than none": {"groups": [["peers", 7], ["others", -1]]},
    "more agents than any run has": {"size": 10**9, "seats": 10**9, "groups": [["peers", 10**9]]},
}


@pytest.mark.parametrize("name", UNFIT)
def test_facts_that_do_not_fit_each_other_are_damage(
    folders: Folders, tmp_path: Path, name: str
) -> None:
    """Six agents, each with a seat: whatever says otherwise is refused before an index is taken of it."""
    tree = json.loads((folders[0] / "world.json").read_text())
    shutil.copy(folders[0] / "manifest.json", tmp_path)
    (tmp_path / "world.json").write_text(json.dumps(tree))
    assert RunRecord(tmp_path).facts.size == 6
    edited = tree | UNFIT[name]
    if edited["size"] == 10**9:
        edited["budgets"] = [budget | {"count": 10**9} for budget in tree["budgets"]]
    (tmp_path / "world.json").write_text(json.dumps(edited))
    with pytest.raises(FolderError, match=r"world\.json is damaged: "):
        _ = RunRecord(tmp_path).facts


@pytest.mark.parametrize("name", [name for name in FILES if name != "models.npz"])
@pytest.mark.parametrize("content", [b"", b"{", DEEP.encode(), b"root:x:0:0:hidden:/root"])
def test_the_error_names_the_file_and_quotes_nothing_of_it(
    folders: Folders,
    tmp_path: Path,
    name: str,
    content: bytes,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(folders[0], folder)
    (folder / name).write_bytes(content + b"\n")
    told = ""
    for words in (["show", "{}"], ["replay", "{}"], ["explain", "{}", "3"]):
        assert main([word.format(folder) for word in words]) in {0, 2}
        told += capsys.readouterr().err
    assert name in told
    assert "hidden" not in told
    assert "Traceback" not in told


def test_releases_cut_out_of_a_record_are_missed(folders: Folders, tmp_path: Path) -> None:
    """Without an agent's later releases ε would be that of its first; numbers of events tell."""
    hidden = {"proposed", "charged", "released"}
    copied = tmp_path / "run"
    shutil.copytree(folders[1], copied)
    kept = [e for e in events_of(copied) if not (e["kind"] in hidden and e["k"] > 0)]
    write_singles(copied, kept, RunRecord(copied).ledger_lines())
    with pytest.raises(FolderError, match=r"event \d+ stands after event \d+"):
        epsilon_of(RunRecord(copied))


@pytest.mark.parametrize("law", UNITS)
def test_no_ledger_line_tells_a_milder_noise_than_was_planned(
    law: str, folders: Folders, tmp_path: Path
) -> None:
    """A charge says little without its law and dimension: 0.3 costs less as norm-gamma noise than as Laplace noise."""
    killed = RunRecord(folders[1])
    honest = number_of(epsilon_of(killed)["max"])
    for d in (1, 2, 50, 10**6):
        copied = tmp_path / str(d)
        shutil.copytree(folders[1], copied)
        milder = [line | {"law": law, "d": d} for line in killed.ledger_lines()]
        write_singles(copied, killed.events(), milder)
        assert number_of(epsilon_of(RunRecord(copied))["max"]) >= honest


def test_epsilon_is_told_at_the_delta_it_was_computed_at(folders: Folders, tmp_path: Path) -> None:
    def loose(world: dict[str, Any]) -> dict[str, Any]:
        return world | {"budgets": [part | {"delta": 0.9} for part in world["budgets"]]}

    copied = tmp_path / "edited"
    shutil.copytree(folders[1], copied)
    world = json.loads((copied / "world.json").read_text())
    (copied / "world.json").write_text(json.dumps(loose(world)))
    with pytest.raises(FolderError, match="different deltas"):
        epsilon_of(RunRecord(copied))
