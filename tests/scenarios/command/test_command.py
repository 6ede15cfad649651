"""The command as a user meets it: verbs, pipes, pictures, sweeps; and the same from Python."""

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from scenarios import open_run, run_sync
from scenarios.command.arguments import parse
from scenarios.command.main import main
from scenarios.language.reader import library_names
from tests.support.builders import scenario
from tests.support.command import hush
from tests.support.marks import one_in
from tests.support.paths import ROOT


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("finished") / "run"
    assert main(["run", "ring5-dropout", "--quiet", "--out", str(folder)]) == 0
    return folder


@pytest.mark.parametrize(
    ("words", "live", "scenarios"),
    [
        ("run a b --live", "full", ["a", "b"]),
        ("run --live a b", "full", ["a", "b"]),
        ("run --live lines a", "lines", ["a"]),
        ("run a --live --speed 3", "full", ["a"]),
        ("run a --live=json", "json", ["a"]),
        ("run a", "auto", ["a"]),
    ],
)
def test_live_without_a_word_is_full_wherever_it_stands(
    words: str, live: str, scenarios: list[str]
) -> None:
    chosen = parse(words.split())
    assert (chosen.live, chosen.scenario) == (live, scenarios)


def test_run_without_a_word_runs_quickstart_and_names_its_folder(tmp_path: Path) -> None:
    done = hush("run", cwd=tmp_path)
    assert done.returncode == 0
    assert "quickstart · seed 7 · finished at 40 s" in done.stdout
    assert "runs/quickstart-7-1" in done.stdout
    line = next(line for line in done.stdout.splitlines() if line.strip().startswith("ε "))
    for word in ("eavesdropper view", "δ = 0.0001", "accountant: gaussian"):
        assert word in line
    assert "purely local" in done.stdout
    assert "✓ expected gain.mean > 0" in done.stdout


def test_the_folder_holds_what_the_contract_names(finished: Path) -> None:
    names = {p.name for p in finished.iterdir()}
    assert {
        "manifest.json",
        "scenario.toml",
        "resolved.toml",
        "inputs.jsonl",
        "record-00000.hush",
        "ledger.jsonl",
        "metrics.csv",
        "summary.json",
        "models.npz",
        "verdicts.json",
    } <= names
    manifest = json.loads((finished / "manifest.json").read_text())
    assert manifest["status"] == "finished"
    assert set(manifest["sha256"]) == names - {"manifest.json"}
    summary = json.loads((finished / "summary.json").read_text())
    needed = {
        "scenario",
        "seed",
        "status",
        "horizon_s",
        "updates",
        "releases",
        "messages",
        "objective",
        "gap",
        "loss",
        "accuracy",
        "epsilon",
        "groups",
        "nodes",
        "expectations",
        "invariants",
        "wall_s",
        "updates_per_s",
    }
    assert needed <= set(summary)
    node = {
        "id",
        "state",
        "updates",
        "releases",
        "refused",
        "epsilon",
        "epsilon_basic",
        "cap",
        "loss",
        "accuracy",
    }
    assert node <= set(summary["nodes"][0])
    line = json.loads((finished / "ledger.jsonl").read_text().splitlines()[0])
    assert {
        "seq",
        "t",
        "node",
        "k",
        "mechanism",
        "calibration",
        "scale",
        "sensitivity",
        "norm",
        "d",
        "jacobian",
        "claimed",
        "charged",
    } <= set(line)


def test_events_have_numbers_times_kinds_and_causes(finished: Path) -> None:
    found = list(open_run(finished).events())
    assert [e["seq"] for e in found] == list(range(1, len(found) + 1))
    assert all(isinstance(e["t"], int) for e in found)
    assert (found[0]["kind"], found[-1]["kind"]) == ("started", "finished")
    for event in found:
        assert {"seq", "t", "kind", "node", "cause"} <= set(event)
        assert event["cause"] is None or event["cause"] < event["seq"]


def test_metrics_are_tidy_and_agree_with_the_events(finished: Path) -> None:
    rows = (finished / "metrics.csv").read_text().splitlines()
    assert rows[0] == "t,node,metric,value"
    columns = open_run(finished).metrics()
    assert len(columns["t"]) == len(rows) - 1
    t, _, metric, value = rows[5].split(",")
    assert float(t) == columns["t"][4]
    assert metric == columns["metric"][4]
    assert float(value) == columns["value"][4]


@pytest.mark.slow
def test_show_tells_runs_scenarios_and_mechanisms(finished: Path) -> None:
    assert "files are what their checksums say" in hush("show", str(finished)).stdout
    assert 'name = "quickstart"' in hush("show", "quickstart").stdout
    card = hush("show", "cd").stdout
    assert "Bellet" in card
    assert "parameter  mu = 1.0" in card
    for what in (str(finished), "quickstart", "cd", "local", "propagation"):
        json.loads(hush("show", what, "--json").stdout)


@pytest.mark.slow
def test_list_names_what_each_scenario_shows() -> None:
    assert len(hush("list").stdout.splitlines()) == len(library_names())
    assert [e["name"] for e in json.loads(hush("list", "--json").stdout)] == library_names()


@pytest.mark.slow
def test_check_tells_the_cost_before_anything_runs(tmp_path: Path) -> None:
    done = hush("check", "quickstart", cwd=tmp_path)
    assert done.returncode == 0
    for words in ("100 agents", "updates", "ε = 4", "eavesdropper view", "zcdp", "‖noise‖/‖step‖"):
        assert words in done.stdout
    assert list(tmp_path.iterdir()) == []
    found = json.loads(hush("check", "ring5-dropout", "quickstart", "--json").stdout)
    assert [f["ok"] for f in found] == [True, True]
    group = found[0]["groups"][0]  # a budget of 8 over 30 releases of norm-gamma noise, d = 6
    assert 0.98 * 8.0 <= group["epsilon"] <= 8.0
    assert group["accountant"] == found[0]["calibrated"] == "pld"
    ways = group["epsilon_by"]
    assert ways["pld"] < ways["rdp"] < ways["kov"] <= ways["basic"]


@pytest.mark.slow
def test_new_writes_a_scenario_that_runs(tmp_path: Path) -> None:
    assert hush("new", "world.toml", cwd=tmp_path).returncode == 0
    assert hush("check", "world.toml", cwd=tmp_path).returncode == 0
    assert hush("run", "./world.toml", "--quiet", cwd=tmp_path).returncode == 0
    again = hush("new", "world.toml", cwd=tmp_path)
    assert again.returncode == 2
    assert "exists already" in again.stderr


ODD = [
    'a "b".toml',
    "a\\b.toml",
    "über.toml",
    "名.toml",
    ".toml",
    "-x.toml",
    "a b;c.toml",
    "a\x1b[2Jb.toml",
    "x" * 200,
]


@pytest.mark.parametrize("file", ODD)
def test_new_of_an_odd_file_name_reads_back(
    file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The scenario's name is made of the file's, and the commands that are told can be pasted."""
    monkeypatch.chdir(tmp_path)
    assert main(["new", "--", file]) == 0
    told = capsys.readouterr().out
    assert "\x1b" not in told
    assert main(["check", f"./{file}"]) == 0
    if "\x1b" not in file:
        words = shlex.split(told.partition("next: ")[2].replace(", then hush", " hush"))
        assert words == ["hush", "check", f"./{file}", "hush", "run", f"./{file}"]


@pytest.mark.parametrize("x", one_in(4, ["time", "releases", "bytes", "epsilon"]))
@pytest.mark.parametrize("what", ["loss", "gap", "epsilon"])
def test_plots_are_pictures(finished: Path, tmp_path: Path, what: str, x: str) -> None:
    out = tmp_path / "x.png"
    assert main(["plot", str(finished), what, "--x", x, "--out", str(out)]) == 0
    assert out.read_bytes().startswith(b"\x89PNG")
    assert out.stat().st_size > 10_000


def test_a_plot_of_nothing_says_what_there_is(
    finished: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plot", str(finished), "los"]) == 2
    assert "did you mean 'loss'?" in capsys.readouterr().err


def test_json_is_all_that_goes_to_stdout(tmp_path: Path) -> None:
    done = hush("run", "ring5-dropout", "--live", "json", "--out", str(tmp_path / "run"))
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert lines[-1]["kind"] == "summary"
    assert {"sample", "faultbegan", "crashed", "restarted"} <= {line["kind"] for line in lines}


@pytest.mark.slow
def test_a_reader_that_goes_away_is_no_fault(tmp_path: Path) -> None:
    command = f"{sys.executable} -m scenarios run ring5-dropout --live lines --out {tmp_path / 'run'} | head -n 1"
    done = subprocess.run(
        ["bash", "-c", command], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert "Traceback" not in done.stderr


def test_twice_is_the_same(tmp_path: Path) -> None:
    done = hush("run", "ring5-dropout", "--quiet", "--twice", "--out", str(tmp_path / "run"))
    assert done.returncode == 0
    assert "twice the same" in done.stderr


@pytest.mark.slow
def test_a_failed_expectation_ends_with_1(tmp_path: Path) -> None:
    done = hush(
        "run",
        "ring5-dropout",
        "--quiet",
        "--out",
        str(tmp_path / "r"),
        "--set",
        "expect=[{metric='loss.mean', below=0.0}]",
    )
    assert done.returncode == 1
    assert "✕ expected loss.mean < 0 (end); got 0.4" in done.stdout


@pytest.mark.slow
def test_a_reader_of_lines_may_leave_and_the_run_goes_on(tmp_path: Path) -> None:
    run = f"{sys.executable} -m scenarios run quickstart --live lines --out {tmp_path / 'run'}"
    done = subprocess.run(
        ["bash", "-c", f"{run} | head -n 1; exit ${{PIPESTATUS[0]}}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert open_run(tmp_path / "run").status == "finished"


@pytest.mark.slow
def test_a_sweep_never_takes_another_plans_runs_for_its_own(tmp_path: Path) -> None:
    sweep = (
        "sweep",
        "ring5-dropout",
        "--seeds",
        "0..0",
        "--out",
        str(tmp_path / "s"),
        "--set",
        "run.horizon=40",
    )
    assert hush(*sweep).returncode == 0
    mine = (tmp_path / "s" / "sweep.csv").read_text()
    assert hush(*sweep, "--set", "network.loss=0.5").returncode == 0
    other = (tmp_path / "s" / "sweep.csv").read_text()
    assert other != mine
    assert hush(*sweep).returncode == 0
    assert (tmp_path / "s" / "sweep.csv").read_text() == mine
    assert len(list((tmp_path / "s" / "cells").iterdir())) == 2
    bad = ("--set", "expect=[{metric='loss.mean', below=0.0}]")
    failing = ("sweep", "ring5-dropout", "--seeds", "0..0", "--out", str(tmp_path / "f"), *bad)
    assert [hush(*failing).returncode, hush(*failing).returncode] == [1, 1]


def test_a_byte_order_mark_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_bytes(
        b"\xef\xbb\xbf" + (ROOT / "scenarios/library/ring5-dropout.toml").read_bytes()
    )
    assert main(["check", str(tmp_path / "x.toml")]) == 0


@pytest.mark.parametrize("name", ["summary.json", "manifest.json"])
def test_a_damaged_folder_is_told(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run_sync(scenario(), out=tmp_path / "r")
    (tmp_path / "r" / name).write_text("{}" if name == "manifest.json" else "garbage")
    assert main(["show", str(tmp_path / "r")]) == 2
    assert "is damaged" in capsys.readouterr().err


@pytest.mark.slow
def test_a_sweep_ends_with_the_pictures_and_the_page_that_were_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "s"
    words = ["sweep", "ring5-dropout", "--seeds", "0..1", "--jobs", "1", "--out", str(out)]
    assert main([*words, "--plot", "loss", "--plot", "--report"]) == 0
    files = ["loss.png", "loss.txt", "panels.png", "panels.txt", "report.html"]
    assert capsys.readouterr().out.split("\n")[-6:] == [*(str(out / f) for f in files), ""]
    assert (out / "loss.png").read_bytes()[:4] == b"\x89PNG"
    assert (out / "report.html").read_text("utf-8").startswith("<!doctype html>")


@pytest.mark.slow
def test_a_table_is_never_replaced_by_that_of_another_scenario(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "s"
    more = ["--seeds", "0", "--jobs", "1", "--out", str(out)]
    assert main(["sweep", "ring5-dropout", *more]) == 0
    table = (out / "sweep.csv").read_bytes()
    assert main(["sweep", "late-joiner", *more]) == 2
    assert "holds a sweep of ring5-dropout, not of late-joiner" in capsys.readouterr().err
    assert (out / "sweep.csv").read_bytes() == table
    assert main(["show", str(out)]) == 0
    (out / "sweep.csv").write_bytes(table.replace(b",pass,", b",fail,"))
    assert main(["show", str(out)]) == 2
    assert "sweep.csv is not what the sweep wrote" in capsys.readouterr().err


def test_a_picture_of_no_name_is_refused_before_a_sweep_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "s"
    words = ["sweep", "ring5-dropout", "--seeds", "0", "--out", str(out), "--plot", "heatmop"]
    assert main(words) == 2
    assert "did you mean 'heatmap'?" in capsys.readouterr().err
    assert not out.exists()


@pytest.mark.slow
def test_a_sweep_runs_each_seed_once(tmp_path: Path) -> None:
    command = (
        "sweep",
        "ring5-dropout",
        "--seeds",
        "0..2",
        "--jobs",
        "2",
        "--out",
        str(tmp_path / "s"),
        "--set",
        "run.horizon=40",
    )
    first = hush(*command)
    assert first.returncode == 0, first.stderr
    stamps = {p: p.stat().st_mtime_ns for p in (tmp_path / "s").glob("cells/*/summary.json")}
    assert len(stamps) == 3
    assert hush(*command).returncode == 0
    assert {p: p.stat().st_mtime_ns for p in stamps} == stamps
    assert len((tmp_path / "s" / "sweep.csv").read_text().splitlines()) == 4
    assert "loss" in first.stdout
