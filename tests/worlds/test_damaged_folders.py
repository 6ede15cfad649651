"""One folder, one story: of a damaged folder no reader tells a smaller ε, or "finished", and ends with 0.

Damages are made by a generator (`tests/support/damages.py`): what is done to one or two files, whether the manifest's
checksums are made to agree, and how the manifest says that the run ended.
"""

import hashlib
import json
import os
import shutil
import warnings
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from scenarios import DamagedRun, open_run
from scenarios.api.result import Result
from scenarios.command.main import main
from scenarios.language.json_numbers import number as number_of
from scenarios.records.file_guard import FolderError
from scenarios.records.reader import RunRecord
from tests.support.builders import perform, private
from tests.support.damages import OF_AN_END, RECORD, damage, frames
from tests.support.records import RUNNING, edit_record, events_of

DAMAGES = 200
EVERY_DAY = 12
READERS: dict[str, tuple[str, ...]] = {
    "show": ("show", "{}"),
    "show --json": ("show", "{}", "--json"),
    "show --ledger": ("show", "{}", "--ledger", "csv"),
    "show --events": ("show", "{}", "--events", "jsonl"),
    "show --agent": ("show", "{}", "--agent", "1"),
    "explain": ("explain", "{}", "5"),
    "diff": ("diff", "{}", "{}"),
    "compare": ("compare", "{}", "{}", "--metric", "epsilon.max", "--json"),
    "replay": ("replay", "{}"),
    "verify": ("verify", "{}"),
}
SLOW_READERS: dict[str, tuple[str, ...]] = {
    "plot": ("plot", "{}", "epsilon", "--out", "{}.png"),
    "report": ("report", "{}", "--out", "{}.html"),
}


def world(seed: int) -> dict[str, Any]:
    return private(
        run={"seed": seed, "horizon": 5.0, "sample_every": 1.0},
        network={"topology": "complete", "loss": 0.1},
        nodes=[{"name": "peers", "count": 4, "budget": {"epsilon": 4.0, "delta": 1e-5}}],
        mechanism={"kind": "cd", "mu": 1.0, "noise": "laplace", "releases": 8},
        data={"source": "blobs", "dimension": 2, "points": 12, "test_points": 4},
    )


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    where = tmp_path_factory.mktemp("runs")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("actors.log.BATCH", 64)  # so that records of small worlds have several frames
        one, other = (perform(world(seed), where / str(seed)).outcome.folder for seed in (5, 6))
    return one, other


@pytest.fixture
def copies(runs: tuple[Path, Path], tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "run"
    shutil.copytree(runs[0], folder)
    yield folder
    shutil.rmtree(folder)


def told(
    words: tuple[str, ...], folder: Path, capsys: pytest.CaptureFixture[str]
) -> tuple[int, str]:
    code = main([word.format(folder) for word in words])
    return code, capsys.readouterr().out


def epsilon_of(name: str, out: str) -> float | None:
    """Return the ε that a reader told; None where it tells none that a program can read."""
    if name == "show --json":
        return number_of(json.loads(out)["epsilon"]["max"])
    if name == "compare":
        return number_of(json.loads(out)["differences"][0]["means"][0])
    return None


def by_python(folder: Path) -> tuple[int, float | None, str]:
    """Return what a script learns: 2 where it is warned or refused, ε and status of the summary, as a reader of the command."""
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        try:
            summary = open_run(folder).summary
        except FolderError:
            return 2, None, ""
        code = 2 if any(issubclass(one.category, DamagedRun) for one in given) else 0
    return code, number_of(summary["epsilon"]["max"]), summary["status"]


def one_story(
    folder: Path,
    truth: float,
    readers: dict[str, tuple[str, ...]],
    how: str,
    capsys: pytest.CaptureFixture[str],
) -> int:
    """Ask every reader: all end with one code, and where that is 0, ε is the truth; return the code."""
    code, epsilon, status = by_python(folder)
    for name, words in readers.items():
        ended, out = told(words, folder, capsys)
        assert ended == code, f"{how}: {name} ends with {ended}, Python with {code}"
        if ended == 0:
            own = epsilon_of(name, out)
            assert own is None or own >= truth * (1 - 1e-6), f"{how}: {name} tells {own}"
    if code == 0:
        assert epsilon is not None
        assert epsilon == pytest.approx(truth, rel=1e-6), how
        manifest = json.loads((folder / "manifest.json").read_text())
        assert (status == "finished") == (manifest["status"] == "finished"), how
    return code


def truth_of(folder: Path) -> float:
    return number_of(json.loads((folder / "summary.json").read_text())["epsilon"]["max"])


@pytest.mark.parametrize("number", range(EVERY_DAY))
def test_a_damaged_folder_has_one_story(
    runs: tuple[Path, Path], copies: Path, number: int, capsys: pytest.CaptureFixture[str]
) -> None:
    how = damage(copies, number, runs[1])
    readers = {name: READERS[name] for name in ("show --json", "compare", "verify")}
    one_story(copies, truth_of(runs[0]), readers, how, capsys)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_two_hundred_damages_have_one_story_each(
    runs: tuple[Path, Path], tmp_path: Path, part: int, capsys: pytest.CaptureFixture[str]
) -> None:
    codes = []
    for number in range(part, DAMAGES, 10):
        folder = tmp_path / "run"
        shutil.copytree(runs[0], folder)
        how = damage(folder, number, runs[1])
        slow = sorted(SLOW_READERS)[number // 10 % 2]
        readers = READERS | {slow: SLOW_READERS[slow]}
        codes.append(one_story(folder, truth_of(runs[0]), readers, how, capsys))
        shutil.rmtree(folder)
    assert codes.count(2) > len(codes) // 2, "else the damages damage nothing"


def test_a_whole_folder_is_told_as_it_is(copies: Path, capsys: pytest.CaptureFixture[str]) -> None:
    readers = READERS | SLOW_READERS
    assert one_story(copies, truth_of(copies), readers, "whole", capsys) == 0


def kill(folder: Path, frames_left: int | None = None) -> None:
    """Leave a folder as SIGKILL would have: no file of an end, and the manifest says running."""
    for name in OF_AN_END:
        (folder / name).unlink(missing_ok=True)
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps(manifest | RUNNING))
    if frames_left is not None:
        data = (folder / RECORD).read_bytes()
        (folder / RECORD).write_bytes(data[: frames(data)[frames_left - 1]])
        last = RunRecord(folder).length
        lines = (folder / "metrics.csv").read_text().splitlines(keepends=True)
        times = (line.partition(",")[0] for line in lines)
        held = [
            line for t, line in zip(times, lines, strict=True) if t == "t" or float(t) * 1e9 <= last
        ]
        (folder / "metrics.csv").write_text("".join(held))


@pytest.mark.parametrize("left", [2, 3, None])
def test_a_killed_run_is_no_damage(
    copies: Path, left: int | None, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every reader tells it as cut off and ends with 0, and all tell one ε: that of what was charged up to there."""
    kill(copies, left)
    result = open_run(copies)
    charged: dict[int, float] = {}
    for event in result.events():
        if event["kind"] == "charged":
            charged[event["node"]] = charged.get(event["node"], 0.0) + event["charged"]
    basic = max(charged.values(), default=0.0)
    epsilon = number_of(result.summary["epsilon"]["max"])
    assert result.summary["status"] == "cut off"
    assert 0 < epsilon <= basic * (1 + 1e-9), "no accountant is above basic composition"
    assert one_story(copies, epsilon, READERS | SLOW_READERS, f"killed, {left}", capsys) == 0


def test_a_killed_run_that_is_called_finished_is_damage(
    copies: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever its manifest says, a record without the event `finished` is that of no finished run."""
    kill(copies, 3)
    manifest = json.loads((copies / "manifest.json").read_text())
    sums = {f.name: hashlib.sha256(f.read_bytes()).hexdigest() for f in copies.iterdir()}
    del sums["manifest.json"]
    (copies / "manifest.json").write_text(
        json.dumps(manifest | {"status": "finished", "sha256": sums})
    )
    assert one_story(copies, 0.0, READERS, "called finished", capsys) == 2
    assert open_run(copies).ended == "cut off"


def test_python_warns_once_at_the_first_figure_and_raises_where_it_is_strict(copies: Path) -> None:
    (copies / "metrics.csv").write_text("")
    result = open_run(copies)
    assert "hush run" in repr(result)
    with pytest.warns(DamagedRun, match=r"checksums do not match: metrics\.csv") as given:
        _ = result.models
    assert given[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _ = result.summary, result.ledger, list(result.events())
    with pytest.raises(DamagedRun, match="metrics"):
        open_run(copies, strict=True)


@pytest.mark.parametrize("dear_first", [True, False])
def test_of_two_lines_on_one_release_the_dearer_counts(copies: Path, *, dear_first: bool) -> None:
    """Whichever stands first: a ledger that says 0.1 and 3 of one release says 3."""
    before = number_of(open_run(copies).epsilon["max"])
    lines = [json.loads(line) for line in (copies / "ledger.jsonl").read_text().splitlines()]
    worst = max(lines, key=lambda line: line["node"])
    dear, cheap = worst | {"charged": 3.0, "scale": 1.0}, worst | {"charged": 0.1}
    both = [dear, cheap] if dear_first else [cheap, dear]
    rest = [line for line in lines if line is not worst]
    (copies / "ledger.jsonl").write_text("".join(json.dumps(line) + "\n" for line in rest + both))
    record = RunRecord(copies)
    told = next(
        line
        for line in record.proof.lines
        if (line["node"], line["k"]) == (worst["node"], worst["k"])
    )
    assert told["charged"] == 3.0
    assert number_of(record.epsilon["max"]) > before
    assert any("charged at the dearer of the two" in flaw for flaw in record.flaws)


def test_a_frame_that_is_missing_between_two_others_is_missed(copies: Path) -> None:
    """Each frame is whole and has its own checksum: only the numbers of events tell that one is gone."""
    kill(copies)
    data = (copies / RECORD).read_bytes()
    ends = frames(data)
    for first, last in pairwise(ends):
        (copies / RECORD).write_bytes(data[:first] + data[last:])
        record = RunRecord(copies)
        assert any("stands after event" in flaw for flaw in record.flaws)
        with pytest.raises(FolderError, match="stands after event"):
            _ = record.summary


def test_the_record_is_on_the_disk_before_its_run_is_called_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two waits for the disk: the record's before the first file of an end, the folder's before the manifest tells of one."""
    waits = list[tuple[str, str, bool]]()
    wait = os.fsync

    def noted(file: int) -> None:
        place = Path(f"/proc/self/fd/{file}").readlink()
        folder = place if place.is_dir() else place.parent
        status = json.loads((folder / "manifest.json").read_text())["status"]
        waits.append((place.name, status, (folder / "summary.json").exists()))
        wait(file)

    monkeypatch.setattr(os, "fsync", noted)
    folder = perform(world(7), tmp_path).outcome.folder
    assert waits == [(RECORD, "running", False), (folder.name, "running", True)]


@pytest.mark.parametrize("name", OF_AN_END)
def test_a_file_of_an_end_beside_a_record_without_one_is_damage(copies: Path, name: str) -> None:
    """A run writes these files when its record holds its end, whatever the manifest says."""
    content = (copies / name).read_bytes()
    kill(copies, 3)
    assert not open_run(copies).flaws
    (copies / name).write_bytes(content)
    assert any("the record does not hold the end" in flaw for flaw in open_run(copies).flaws)


@pytest.mark.parametrize("key", ["max", "mean", "claimed"])
def test_a_summary_that_tells_a_thousandth_less_is_not_believed(copies: Path, key: str) -> None:
    file, manifest = copies / "summary.json", copies / "manifest.json"
    summary = json.loads(file.read_text())
    summary["epsilon"][key] *= 0.999
    file.write_text(json.dumps(summary))
    tree = json.loads(manifest.read_text())
    tree["sha256"][file.name] = hashlib.sha256(file.read_bytes()).hexdigest()
    manifest.write_text(json.dumps(tree))
    (flaw,) = open_run(copies).flaws
    assert "the summary tells ε" in flaw


FIGURES = {
    *("curves", "epsilon", "events", "last_sample", "ledger", "ledger_table", "metrics", "models"),
    *("plot", "proof", "released", "report", "samples", "summary", "verdicts"),
}
"""What of a result holds figures of its run."""
OTHERS = {
    *("budget", "caveats", "clocks", "code", "counts", "damage", "data_card", "ended", "ending"),
    *("event_lines", "export", "facts", "flaws", "interrupted", "is_judged", "is_over", "keep"),
    *("ledger_lines", "ledger_text", "length", "manifest", "path", "place", "profile", "resolved"),
    *("resolved_file", "size", "status", "summary_file", "temporary", "text", "typed_events"),
    *("unsampled_end", "verdicts_file"),
}
"""What is used by readers inside of hush, or says how a run ended."""


def used(result: Result, name: str) -> None:
    figure = getattr(result, name)
    _ = figure() if callable(figure) else figure


def test_every_figure_of_a_result_warns_first(copies: Path) -> None:
    public = {name for name in dir(Result) if not name.startswith("_")} | {"code", "path"}
    assert public | {"manifest", "temporary"} - {"export"} <= FIGURES | OTHERS, (
        "a new name is one or the other"
    )
    (copies / "metrics.csv").write_text("")
    for name in sorted(FIGURES - {"plot", "report"}):
        with pytest.warns(DamagedRun):
            used(open_run(copies), name)


def test_a_record_without_an_end_is_cut_off_wherever_it_is_asked(copies: Path) -> None:
    data = (copies / RECORD).read_bytes()
    (copies / RECORD).write_bytes(data[: frames(data)[2]])
    result = open_run(copies)
    assert result.status == result.ended == "cut off"
    assert "cut off" in repr(result)


def test_a_record_that_ends_before_the_last_sample_is_damage(copies: Path) -> None:
    """A killed run has written its record before its metrics: an empty record tells no ε of 0 beside them."""
    kill(copies)
    for left in (b"", (copies / RECORD).read_bytes()[:24]):
        (copies / RECORD).write_bytes(left)
        assert any("after the last event of the record" in f for f in open_run(copies).flaws)
    (copies / RECORD).unlink()
    assert open_run(copies).flaws
    assert main(["show", str(copies)]) == 2


@pytest.mark.parametrize(
    "edit",
    [
        lambda summary: summary["groups"][0].update(epsilon=0.4),
        lambda summary: summary["nodes"][1].update(epsilon=0.4),
        lambda summary: summary.clear(),
        lambda summary: summary.update(seed=99),
    ],
    ids=["a group", "an agent", "nothing", "seed"],
)
def test_each_figure_of_a_summary_is_held_to_the_record(copies: Path, edit: Any) -> None:
    file, manifest = copies / "summary.json", copies / "manifest.json"
    summary = json.loads(file.read_text())
    edit(summary)
    file.write_text(json.dumps(summary))
    tree = json.loads(manifest.read_text())
    tree["sha256"][file.name] = hashlib.sha256(file.read_bytes()).hexdigest()
    manifest.write_text(json.dumps(tree))
    assert open_run(copies).flaws


def test_a_sample_that_tells_less_than_its_releases_cost_is_not_believed(copies: Path) -> None:
    events = events_of(copies)
    last = next(event for event in reversed(events) if event["kind"] == "sampled")
    last["values"]["epsilon"] = [epsilon / 10 for epsilon in last["values"]["epsilon"]]
    edit_record(copies, events)
    assert any("last sample" in flaw for flaw in RunRecord(copies).flaws)


def test_a_manifest_of_another_seed_is_damage(copies: Path) -> None:
    text = (copies / "manifest.json").read_text()
    (copies / "manifest.json").write_text(text.replace('"seed": 5', '"seed": 99'))
    assert open_run(copies).flaws


def test_a_file_that_cannot_be_opened_is_told_as_damage(copies: Path) -> None:
    (copies / RECORD).unlink()
    (copies / RECORD).symlink_to("nowhere")
    assert main(["show", str(copies)]) == 2
    assert any("cannot be read" in flaw for flaw in open_run(copies).flaws)
