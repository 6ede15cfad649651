"""Wherever a run dies, no reader tells a smaller ε than its events prove, and none calls it finished."""

import json
import math
import os
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from mechanisms.accounting import gaussian
from scenarios.api.result import Result
from scenarios.console.sources.recording import Recording
from scenarios.language.json_numbers import number
from scenarios.records.file_guard import FolderError
from scenarios.records.reader import RunRecord
from scenarios.records.recomputed_privacy import epsilon_of
from scenarios.records.run_folder import AT_THE_END
from tests.support.builders import Ran, perform, private
from tests.support.command import hush
from tests.support.paths import ROOT
from tests.support.records import RUNNING, write_singles

ALL = bool(os.environ.get("HUSH_NIGHTLY"))
DELTA = 1e-5


def world(noise: str) -> dict[str, Any]:
    """Four agents who hear each other; what is collected is written at every sample."""
    return private(
        run={"seed": 5, "horizon": 5.0, "sample_every": 1.0},
        network={"topology": "complete"},
        nodes=[{"name": "peers", "count": 4, "budget": {"epsilon": 4.0, "delta": DELTA}}],
        mechanism={"kind": "cd", "mu": 1.0, "noise": noise, "releases": 8},
        privacy={"accountant": "basic" if noise == "laplace" else "tightest"},
    )


def proved(folder: Path, noise: str) -> dict[int, float]:
    """Add up every agent's charges as the whole events say: Σ ε, or ε of √(Σ μ²)."""
    charges: dict[int, list[float]] = defaultdict(list)
    for event in RunRecord(folder).events():
        if event["kind"] == "charged":
            charges[event["node"]].append(event["charged"])
    if noise == "laplace":
        return {node: math.fsum(mine) for node, mine in charges.items()}
    return {
        node: gaussian.epsilon(math.sqrt(math.fsum(mu * mu for mu in mine)), DELTA)
        for node, mine in charges.items()
    }


def told(folder: Path) -> tuple[float, float, float]:
    """The largest ε by the summary (counted anew where there is none), by the API's ledger, and by a replay."""
    result = Result(folder)
    record = RunRecord(folder)
    epsilon = result.summary["epsilon"] if record.is_judged else epsilon_of(record)
    charges: dict[int, float] = defaultdict(float)
    for line in result.ledger:
        charges[line["node"]] += line["charged"]
    recording = Recording(RunRecord(folder))
    while recording.upcoming is not None:
        recording.step()
    return number(epsilon["max"]), max(charges.values(), default=0.0), max(recording.epsilons())


@pytest.mark.slow
@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_no_reader_tells_less_than_the_events_prove(tmp_path: Path, noise: str) -> None:
    """In CI at every fifth act, at night at all: `HUSH_NIGHTLY=1`. A row is whole: it has its message and its charge."""
    file = tmp_path / "world.json"
    file.write_text(json.dumps(world(noise)))
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "tests.support.dying",
            str(file),
            str(tmp_path),
            "1" if ALL else "5",
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 30, "a run does that much to its disk"
    told_of, ends = 0, set()
    for folder in sorted(path for path in tmp_path.iterdir() if path.is_dir()):
        if not (folder / "record-00000.hush").exists():
            continue
        least = max(proved(folder, noise).values(), default=0.0)
        if not least:
            continue  # nothing was charged yet
        by_summary, by_ledger, by_replay = told(folder)
        assert min(by_summary, by_replay) >= least * (1 - 1e-9), folder.name
        assert by_summary == pytest.approx(by_replay, rel=1e-6), folder.name
        if noise == "laplace":
            assert by_ledger >= least * (1 - 1e-9), folder.name
        assert not RunRecord(folder).proof.words, folder.name
        sent = {e["node"] for e in RunRecord(folder).events() if e["kind"] == "sent"}
        assert sent <= proved(folder, noise).keys(), "no message without a charge"
        finished = folder.name == "whole" or RunRecord(folder).manifest["status"] == "finished"
        assert (Result(folder).summary["status"] == "finished") == finished, folder.name
        ends.add(Result(folder).summary["status"])
        told_of += 1
    assert told_of > 4
    assert ends == {"finished", "cut off"}


@pytest.fixture(scope="module", params=["laplace", "gaussian"])
def ran(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    return perform(world(request.param), tmp_path_factory.mktemp("runs"))


def cut(ran: Ran, folder: Path, ledger: int, events: int | None = None) -> Path:
    """Copy a run that was killed, with a record as no run writes it: so many events, and spends of so many releases."""
    shutil.copytree(ran.outcome.folder, folder)
    record = RunRecord(ran.outcome.folder)
    write_singles(folder, [*record.events()][:events], [*record.ledger_lines()][:ledger])
    for name in ("ledger.jsonl", "metrics.csv", "metrics.parquet", *AT_THE_END):
        (folder / name).unlink()
    manifest = json.loads((folder / "manifest.json").read_text()) | RUNNING
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder


@pytest.mark.filterwarnings("ignore:.*ledger.jsonl")
@pytest.mark.parametrize("lines", [0, 1, 7, 15])
@pytest.mark.parametrize("events", [100, 250, None])
def test_what_the_ledger_lacks_is_charged_as_the_events_say(
    ran: Ran, tmp_path: Path, lines: int, events: int | None
) -> None:
    noise = ran.run.plan.nodes[0].mechanism.schedule(1)[0].law  # type: ignore[attr-defined]
    folder = cut(ran, tmp_path / "cut", lines, events)
    proof = RunRecord(folder).proof
    charged = [e for e in Result(folder).events() if e["kind"] == "charged"]
    assert {(e["node"], e["k"]) for e in charged} <= {(e["node"], e["k"]) for e in proof.lines}
    lacking = [line for line in proof.lines if line.get("proved_by") == "events"]
    assert len(lacking) == max(0, len(charged) - lines)
    assert {line["law"] for line in lacking} <= {"gaussian" if noise == "gaussian" else "pure"}
    assert all(line["charged"] == ran.result.ledger[0]["charged"] for line in lacking)
    by_summary, _, by_replay = told(folder)
    assert by_summary >= max(proved(folder, noise).values()) * (1 - 1e-9)
    assert by_summary == pytest.approx(by_replay, rel=1e-6)


@pytest.mark.slow
def test_every_reader_says_so(ran: Ran, tmp_path: Path) -> None:
    lines = len(ran.result.ledger)
    folder = cut(ran, tmp_path / "cut", lines - 3)
    charged = ran.events("charged")[-1]
    law = "a μ" if ran.result.ledger[0]["law"] == "gaussian" else "a pure ε"
    said = f"that the events prove: charged as the events say, as {law} each"
    for words in (("show",), ("show", "--ledger", "csv"), ("replay",), ("explain",)):
        more = (str(charged["seq"]),) if words == ("explain",) else ()
        done = hush(words[0], str(folder), *words[1:], *more)
        assert done.returncode == 2, done.stderr
        assert "ledger.jsonl lacks 3 releases of agent" in done.stderr
        assert said in done.stderr
        assert "the run was cut off" in done.stderr
    assert "by this event: the ledger does not say it" in done.stdout
    with pytest.warns(UserWarning, match="lacks 3 releases"):
        assert len(Result(folder).ledger) == lines


@pytest.mark.filterwarnings("ignore:.*ledger.jsonl")
def test_a_line_that_charges_less_than_its_event_is_not_believed(ran: Ran, tmp_path: Path) -> None:
    lines = ran.result.ledger
    folder = cut(ran, tmp_path / "cut", len(lines))
    less = [lines[0] | {"charged": 1e-6}, *lines[1:]]
    write_singles(folder, RunRecord(folder).events(), less)
    proof = RunRecord(folder).proof
    assert "less than their own scale and sensitivity give" in proof.words[0]
    assert sum(line["charged"] for line in proof.lines) == pytest.approx(
        sum(line["charged"] for line in lines), rel=1e-12
    )


@pytest.mark.filterwarnings("ignore:.*ledger.jsonl")
def test_what_a_ledger_file_has_beyond_the_record_counts(ran: Ran, tmp_path: Path) -> None:
    lines = len(ran.result.ledger)
    whole = max(proved(ran.outcome.folder, ran.result.ledger[0]["law"]).values())
    folder = cut(ran, tmp_path / "cut", lines, 30)
    assert max(proved(folder, ran.result.ledger[0]["law"]).values()) < whole
    shutil.copy(ran.outcome.folder / "ledger.jsonl", folder)
    assert "that no event shows: charged all the same" in RunRecord(folder).proof.words[-1]
    by_summary, _, by_replay = told(folder)
    assert by_summary == pytest.approx(whole, rel=1e-6)
    assert by_replay == pytest.approx(by_summary, rel=1e-6)


@pytest.mark.filterwarnings("ignore:.*ledger.jsonl")
def test_what_was_released_and_never_charged_is_the_worst(ran: Ran, tmp_path: Path) -> None:
    folder = cut(ran, tmp_path / "cut", 0)
    kept = [e for e in RunRecord(folder).events() if "charged" not in {*e, e["kind"]}]
    numbered = [event | {"seq": seq, "cause": None} for seq, event in enumerate(kept, 1)]
    write_singles(folder, numbered)
    proof = RunRecord(folder).proof
    assert len(proof.lines) == len(ran.result.ledger)
    assert {line["charged"] for line in proof.lines} == {"inf"}
    assert epsilon_of(RunRecord(folder))["max"] == "inf"


def test_a_release_before_which_another_is_missing_is_damage(ran: Ran, tmp_path: Path) -> None:
    folder = cut(ran, tmp_path / "cut", 0)
    of_releases = {"proposed", "charged", "released"}
    kept = [e for e in RunRecord(folder).events() if not (e["kind"] in of_releases and e["k"] == 0)]
    write_singles(folder, [e | {"seq": seq, "cause": None} for seq, e in enumerate(kept, 1)])
    with pytest.raises(FolderError, match="has release 1 and no release 0"):
        _ = RunRecord(folder).proof
