"""A sweep in words: every row is counted once, means are over finished runs, and no table is wider than its terminal."""

import math
from pathlib import Path

import pytest

from scenarios.command.main import main
from scenarios.records.gate import TABLE
from scenarios.records.intervals import interval
from scenarios.records.sweep_record import (
    Axis,
    Row,
    SweepManifest,
    SweepRecord,
    write_manifest,
    write_table,
)
from scenarios.records.sweep_summary import mean_of, seeds_in_words, summarised
from scenarios.records.sweep_text import as_tree, in_words, mean_in_words

AXES = [Axis("epsilon", ["e"], [0.5, 1, 8]), Axis("mechanism.kind", ["m"], ["cd", "dvp"])]
SEEDS = [0, 1, 2]


def manifest(status: str = "finished") -> SweepManifest:
    return SweepManifest(
        1,
        status,
        "0.8.0",
        "adult",
        ["adult"],
        AXES,
        SEEDS,
        ["loss.mean", "accuracy.test.mean"],
        command="hush sweep adult --grid epsilon=0.5,1,8",
        notes=["the choice reads held-out data: no ε covers it"],
    )


def rows() -> list[Row]:
    """Losses that are 10·cell + seed; one run failed, and one has no accuracy."""
    made = []
    for cell, (epsilon, kind) in enumerate((e, k) for e in (0.5, 1, 8) for k in ("cd", "dvp")):
        for seed in SEEDS:
            failed = (cell, seed) == (3, 1)
            values = (999.0, math.nan) if failed else (10.0 * cell + seed, 0.5)  # of its first part
            made.append(
                Row(
                    cell=cell,
                    scenario="adult",
                    settings={"epsilon": epsilon, "mechanism.kind": kind},
                    seed=seed,
                    status="failed" if failed else "finished",
                    code=None if failed else 0,
                    verdict="" if failed else "pass",
                    metrics=dict(zip(manifest().metrics, values, strict=True)),
                    wall_s=None,
                    run="",
                    message="the disk is full\x1b[2J" if failed else "",
                )
            )
    return made


def swept(path: Path, status: str = "finished") -> SweepRecord:
    write_manifest(path, manifest(status))
    write_table(path, manifest(status), rows())
    return SweepRecord(path)


def test_every_row_is_counted_once_and_means_are_over_finished_runs(tmp_path: Path) -> None:
    sweep = summarised(swept(tmp_path))
    assert sum(sweep.statuses.values()) == sweep.planned == len(sweep.rows) == 18
    assert sweep.statuses == {"finished": 17, "failed": 1}
    assert len(sweep.settings) == 6
    third = sweep.settings[3]
    assert third.labels == {"epsilon": 1, "mechanism.kind": "dvp"}
    assert (third.means["loss.mean"].mean, third.means["loss.mean"].values) == (31.0, 2)
    low, mean, high = interval([20.0, 21.0, 22.0], 0.95)
    second = sweep.settings[2].means["loss.mean"]
    assert second.mean == mean
    assert second.half == pytest.approx(high - mean)
    assert second.half == pytest.approx(mean - low)


@pytest.mark.parametrize(
    ("values", "mean", "half", "words"),
    [
        ([], math.nan, math.nan, "—"),
        ([math.nan], math.nan, math.nan, "—"),
        ([2.0, math.nan], 2.0, math.nan, "2"),
        ([1.0, math.inf], math.inf, math.nan, "∞"),
        ([-math.inf], -math.inf, math.nan, "−∞"),
        ([3.0, 3.0], 3.0, 0.0, "3 ± 0"),
        ([1.0, 3.0], 2.0, 12.7062, "2 ± 13"),
        ([0.5001, 0.5003], 0.5002, 0.00127062, "0.5002 ± 0.0013"),
    ],
)
def test_a_mean_is_over_the_values_that_there_are(
    values: list[float], mean: float, half: float, words: str
) -> None:
    found = mean_of(values)
    assert (found.mean, found.half) == pytest.approx((mean, half), rel=1e-4, nan_ok=True)
    assert mean_in_words(found, "loss.mean") == words


@pytest.mark.parametrize("width", [40, 60, 80, 100, 200])
def test_a_table_is_no_wider_than_its_terminal_and_says_the_same(
    tmp_path: Path, width: int
) -> None:
    sweep = summarised(swept(tmp_path))
    lines = in_words(sweep, width)
    start = lines.index("", 3)
    table = lines[start + 1 : lines.index("", start + 1)]
    figures = {mean_in_words(mean, name) for s in sweep.settings for name, mean in s.means.items()}
    assert all(any(figure in line for line in table) for figure in figures)
    assert max(map(len, table[:-1])) <= width  # the last line says what ± means
    text = "\n".join(lines)
    assert "epsilon = 1, mechanism.kind = dvp, seed 1 failed: the disk is full" in text
    assert "no ε covers it" in text
    assert "hush sweep adult" in text


@pytest.mark.parametrize(
    ("seeds", "words"),
    [
        ([0, 1, 2, 3], "0..3"),
        ([3, 1], "1, 3"),
        ([7], "7"),
        ([0, 2, 4], "0, 2, 4"),
        ([0, 1, 2**62], f"0, 1, {2**62}"),  # seeds that lie far apart take no memory
        ([2**62, 2**62 + 1, 2**62 + 2], f"{2**62}..{2**62 + 2}"),
    ],
)
def test_seeds_are_written_as_they_are_given(seeds: list[int], words: str) -> None:
    assert seeds_in_words(seeds) == words


def test_the_command_shows_a_sweep_also_one_that_was_killed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    swept(tmp_path, "running")
    assert main(["show", str(tmp_path)]) == 2, "its rows rest on no runs"
    out = capsys.readouterr().out
    assert "cut off" in out
    assert "\x1b" not in out
    assert "17 finished, 1 failed" in out
    assert main(["show", str(tmp_path), "--json"]) == 2
    assert '"planned": 18' in capsys.readouterr().out
    (tmp_path / TABLE).unlink()
    assert main(["show", str(tmp_path)]) == 0
    assert "no run has ended of 18 planned" in capsys.readouterr().out
    (tmp_path / TABLE).write_text("cell\n1\n")
    assert main(["show", str(tmp_path)]) == 2
    assert "is damaged" in capsys.readouterr().err


def test_json_gives_a_reason_for_every_missing_figure(tmp_path: Path) -> None:
    tree = as_tree(summarised(swept(tmp_path)))
    assert len(tree["rows"]) == 18
    assert tree["settings"][3]["metrics"]["loss.mean"]["values"] == 2
    assert tree["reasons"]["rows.*.metrics.*"] == "the run has no value"
    assert "it was not measured" not in tree["reasons"].values()
