"""The tour: every caption is true of the run that it is shown on, and a person can go through all of them."""

import json
import statistics
from pathlib import Path

import pytest

from scenarios.api.runs import run_sync
from scenarios.console.control.tour import CAPTIONS, SCENARIO, figures_of
from scenarios.console.sources.recording import Recording
from scenarios.records.reader import RunRecord
from tests.support.command import hush
from tests.support.terminal import Terminal


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    kept = tmp_path_factory.mktemp("tour") / "run"
    run_sync(SCENARIO, keep=kept)
    return kept


@pytest.mark.parametrize("number", range(len(CAPTIONS)))
def test_a_caption_is_true_when_it_is_shown(folder: Path, number: int) -> None:
    recording = Recording(RunRecord(folder))
    caption = CAPTIONS[number]
    recording.seek(round(caption.at_s * 1e9))
    figures = figures_of(recording)
    assert caption.holds(figures)
    assert caption.says(figures)
    assert all(part in caption.says(figures) for part in caption.points)
    assert not any(part in caption.in_lines(figures) for part in caption.points)


def test_there_are_eight_captions_one_after_the_other() -> None:
    assert len(CAPTIONS) == 8
    assert [c.at_s for c in CAPTIONS] == sorted({c.at_s for c in CAPTIONS})


def test_claims_tell_instants_apart(folder: Path) -> None:
    recording = Recording(RunRecord(folder))
    recording.seek(0)
    at_start = figures_of(recording)
    other = [
        caption for caption in CAPTIONS[1:] if caption.at_s != 22
    ]  # that one reads a later sample
    held = [caption.holds(at_start) for caption in other]
    assert not any(held)


def test_figures_are_those_of_the_files(folder: Path) -> None:
    recording = Recording(RunRecord(folder))
    recording.seek(recording.length)
    figures, summary = figures_of(recording), json.loads((folder / "summary.json").read_text())
    assert figures.score == pytest.approx(summary["accuracy"]["test"])
    assert figures.alone == pytest.approx(summary["local"]["accuracy"])
    assert figures.central == pytest.approx(summary["central"]["accuracy"])
    assert figures.lost == summary["messages"]["lost"]
    assert figures.epsilon_max == pytest.approx(summary["epsilon"]["max"], rel=1e-7)


def test_a_caption_says_what_the_files_say(folder: Path) -> None:
    """Every number of every caption, from events and the summary alone."""
    events = list(RunRecord(folder).events())
    summary = json.loads((folder / "summary.json").read_text())
    alone, central = summary["local"]["accuracy"], summary["central"]["accuracy"]

    def sampled(metric: str, at: float) -> list[float]:
        (values,) = (e["values"] for e in events if e["kind"] == "sampled" and e["t"] == at * 1e9)
        return [float(value) for value in values[metric]]

    def mean(metric: str, at: float) -> float:
        return statistics.fmean(sampled(metric, at))

    def count(kind: str, until: float, **fields: str) -> int:
        shown = (e for e in events if e["kind"] == kind and e["t"] <= until * 1e9)
        return sum(all(e[k] == v for k, v in fields.items()) for e in shown)

    done = count("spent", 17, reason="planned")
    numbers = (
        ["100 agents", f"right in {100 * mean('accuracy.test', 0):.0f} of 100"],
        [f"ε = {mean('epsilon', 4):.2f} of 4 is spent", "eavesdropper view, δ = 0.0001, gaussian"],
        [f"{count('lost', 9):,} messages are lost so far"],
        [f"{done} agents are done"],
        [f"from {mean('accuracy.test', 17):.3f} at 17 s to {mean('accuracy.test', 22):.3f}"],
        [f"its ε stays at {sampled('epsilon', 26)[42]:.2f}"],
        [
            f"reach {mean('accuracy.test', 32):.3f}, each alone would have {alone:.3f}",
            f"without noise, {central:.3f}",
        ],
        [
            f"{mean('accuracy.test', 40) - alone:+.3f} accuracy",
            f"at most {max(sampled('epsilon', 40)):.2f} of 4)",
        ],
    )
    recording = Recording(RunRecord(folder))
    for caption, expected in zip(CAPTIONS, numbers, strict=True):
        recording.seek(round(caption.at_s * 1e9))
        says = caption.says(figures_of(recording))
        for words in expected:
            assert words in says
    recording.seek(4 * 10**9)
    assert figures_of(recording).phone_epsilon == pytest.approx(sampled("epsilon", 4)[42])
    assert sampled("epsilon", 26)[42] == sampled("epsilon", 30)[42] == sampled("epsilon", 24)[42]
    assert count("restarted", 29.9) == 0
    assert count("restarted", 30) == count("crashed", 40) == 1


@pytest.mark.slow
def test_without_a_terminal_captions_are_lines(tmp_path: Path) -> None:
    done = hush("tour", "--out", str(tmp_path / "run"), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line[:3] for line in lines[:8]] == [f"{k}/8" for k in range(1, 9)]
    assert "hush replay" in lines[8]
    for what_a_screen_has in ("chart", "edges", "Press", "q leaves", "line of"):
        assert not any(what_a_screen_has in line for line in lines[:8]), what_a_screen_has


@pytest.mark.slow
def test_a_person_goes_from_caption_to_caption(tmp_path: Path) -> None:
    words = ("tour", "--out", str(tmp_path / "run"), "--speed", "20")
    with Terminal(100, 36, *words, cwd=tmp_path) as terminal:
        terminal.wait_for("1/8")
        terminal.read(0.5)
        assert "1/8" in terminal.shown  # it waits
        terminal.press("m")
        terminal.wait_for("loss*  accuracy gain")
        terminal.press(" ")
        terminal.wait_for("2/8")  # it speaks of the chart of accuracy
        terminal.wait_for("accuracy.test*  gain")
        for number in range(3, 9):
            terminal.press(" ")
            terminal.wait_for(f"{number}/8")
        terminal.wait_for("finished at 40 s")
        terminal.press("q")
        assert terminal.ends() == 0
        assert terminal.is_as_before()
