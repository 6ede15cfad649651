"""What claims read of finished sweeps, and what figures keep of it."""

import math
from pathlib import Path

import pytest

from hush import sweep
from scenarios.records.intervals import interval
from scenarios.reproduction.evidence import Evidence
from scenarios.reproduction.figure import Points, course, line
from scenarios.reproduction.judgement import Absent
from tests.support.builders import private

LOSS = "loss.mean"


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    world = private(run={"seed": 1, "horizon": 6.0})
    swept = sweep(
        world,
        grid={
            "network.loss": [0, 0.5],
            "mechanism": [
                {"kind": "cd", "noise": "gaussian", "releases": 3},
                {"kind": "cd", "noise": "laplace", "releases": 3},
            ],
        },
        seeds=[4, 5],
        metrics=[LOSS],
        out=tmp_path_factory.mktemp("evidence") / "s",
        jobs=1,
    )
    return Evidence({"small": swept})


def test_rows_are_found_by_values_and_by_the_beginning_of_a_name(evidence: Evidence) -> None:
    every = evidence.ends("small", LOSS, {"network.loss": 0.5, "mechanism": "cd(noise=laplace"})
    assert sorted(every) == [4, 5]
    rows = evidence.rows("small", {"mechanism": "cd"})
    assert len(rows) == 8
    assert evidence.labels("small", "network.loss") == [0, 0.5]
    mean = evidence.mean("small", LOSS, {"network.loss": 0.5, "mechanism": "cd(noise=laplace"})
    assert mean == pytest.approx(sum(every.values()) / 2)


def test_several_settings_for_one_seed_are_an_error(evidence: Evidence) -> None:
    with pytest.raises(ValueError, match="several settings"):
        evidence.ends("small", LOSS, {"network.loss": 0.5})


def test_what_was_not_run_is_absent(evidence: Evidence) -> None:
    with pytest.raises(Absent, match="was not run"):
        evidence.rows("other")
    with pytest.raises(Absent, match="no run with"):
        evidence.rows("small", {"network.loss": 0.7})
    with pytest.raises(Absent, match="the data set"):
        Evidence({}, {"other": "the data set is not here"}).sweep("other")


def test_a_course_ends_where_the_table_says(evidence: Evidence) -> None:
    match = {"network.loss": 0, "mechanism": "cd(noise=gaussian"}
    ends = evidence.ends("small", LOSS, match)
    for seed, samples in evidence.courses("small", LOSS, match).items():
        t, value = samples[-1]
        assert (t, value) == (6.0, ends[seed])
        assert [t for t, _ in samples] == sorted(t for t, _ in samples)


def test_a_line_has_means_and_intervals() -> None:
    one = line("x", [Points(1, [1.0, 2.0, 4.0]), Points(2, [5.0]), Points(3, [7.0, 7.0])])
    low, mean, high = interval([1.0, 2.0, 4.0], 0.95)
    assert (one.low[0], one.mean[0], one.high[0]) == (low, mean, high)
    assert (one.low[1:], one.mean[1:]) == ([None, None], [5.0, 7.0])


def test_a_long_course_is_thinned_and_keeps_its_end() -> None:
    samples = [(float(t), math.exp(-t / 50)) for t in range(501)]
    thin = course("x", {1: samples, 2: samples}, most=60)
    assert len(thin.x) <= 62
    assert (thin.x[0], thin.x[-1]) == (0.0, 500.0)
    assert all(y == samples[int(x)][1] for x, y in zip(thin.x, thin.mean, strict=True))


def test_results_are_read_as_they_were_written(tmp_path: Path) -> None:
    from scenarios.records.file_guard import FolderError
    from scenarios.reproduction.results import KEPT, read, write

    results = read(KEPT)
    write(results, tmp_path / "r.json")
    assert read(tmp_path / "r.json") == results
    (tmp_path / "r.json").write_text('{"schema": 1}')
    with pytest.raises(FolderError, match="damaged"):
        read(tmp_path / "r.json")
    (tmp_path / "r.json").write_text('{"schema": 9, "hush": "", "quick": false, "claims": []}')
    with pytest.raises(FolderError, match="schema 9"):
        read(tmp_path / "r.json")
