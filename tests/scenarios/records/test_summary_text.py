"""A summary in words: notes that are too long for a line, and numbers that rounding alone made."""

import re
from typing import Any

import pytest

from scenarios.language.visible_text import WIDTH
from scenarios.records.summary_text import in_words
from scenarios.records.sweep_summary import mean_of
from scenarios.records.sweep_text import mean_in_words
from tests.support.builders import private
from tests.support.finished_runs import finished

LONG = "an agent that knows how often it will wake plans its releases by that number, " * 4
KEYS = {"note": "notes", "warning": "warnings"}


@pytest.fixture(scope="module")
def summary() -> dict[str, Any]:
    return finished(private()).result.summary


@pytest.mark.parametrize("width", [40, 72, WIDTH])
@pytest.mark.parametrize("word", KEYS)
def test_a_note_that_is_wrapped_hangs_below_its_first_word(
    summary: dict[str, Any], word: str, width: int
) -> None:
    lines = in_words(summary | {"notes": [], "warnings": [], KEYS[word]: [LONG, "short"]}, width)
    first = next(at for at, line in enumerate(lines) if line.startswith(f"  {word:<10}"))
    last = lines.index(f"  {word:<10}short")
    note = lines[first:last]
    assert len(note) > 2
    assert all(len(line) <= width for line in note)
    assert all(re.match(r" {12}\S", line) for line in note[1:])
    assert " ".join(line[12:] for line in note).split() == LONG.split()


def test_a_note_that_no_terminal_shows_is_one_line(summary: dict[str, Any]) -> None:
    """`hush run … | grep note` finds all of it."""
    assert f"  note      {LONG.strip()}" in in_words(summary | {"notes": [LONG]})


DUST = (1e-17, -3e-16, 8.9e-16)


def with_dust(tree: Any, dust: float) -> Any:
    """Return figures of models, all of them numbers that rounding leaves."""
    if isinstance(tree, dict):
        return {key: with_dust(value, dust) for key, value in tree.items()}
    return dust if isinstance(tree, float) else tree


@pytest.mark.parametrize("dust", DUST)
def test_what_rounding_leaves_of_a_figure_is_written_as_0(
    summary: dict[str, Any], dust: float
) -> None:
    figures = ("loss", "accuracy", "local", "gap", "objective", "gain")
    groups = [
        with_dust(group, dust) | {"epsilon": 1.0, "cap": 4.0} for group in summary["groups"]
    ] * 2
    dusty = (
        summary | {name: with_dust(summary[name], dust) for name in figures} | {"groups": groups}
    )
    text = "\n".join(in_words(dusty))
    assert "  loss      0 mean, 0 worst" in text
    assert "0 above its optimum" in text.replace("below", "above")
    assert not re.search(r"e-1\d", text)


@pytest.mark.parametrize("dust", DUST)
def test_what_rounding_leaves_of_a_mean_or_of_its_spread_is_0(dust: float) -> None:
    assert mean_in_words(mean_of([dust]), "loss.mean") == "0"
    assert mean_in_words(mean_of([dust, -dust] * 5), "gap") == "0 ± 0"
    assert mean_in_words(mean_of([4.0, 4.0 + 8.9e-16] * 5), "epsilon.max") == "4 ± 0"


def test_a_small_epsilon_is_no_dust(summary: dict[str, Any]) -> None:
    assert mean_in_words(mean_of([1e-17]), "epsilon.max") == "1e-17"
    tiny = summary["epsilon"] | {"max": 1e-17}
    assert "  ε         1e-17 largest" in "\n".join(in_words(summary | {"epsilon": tiny}))
