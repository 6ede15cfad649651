"""What a program that tracks experiments was told can be read back: every finite or infinite value, at its step and instant."""

import math
import struct
import sys
from pathlib import Path
from typing import Any

import pytest

from scenarios.api.export import final_of, settings_of, values_of
from scenarios.api.opened_folder import DamagedRun
from scenarios.api.packages import MissingPackage
from scenarios.api.result import Result
from scenarios.api.sink import SINKS
from scenarios.api.sweep_result import open_sweep
from scenarios.records.epsilon_terms import UNIT, terms_of
from scenarios.records.file_guard import FolderError
from tests.scenarios.records.test_sweep_summary import swept
from tests.support.builders import private, scenario
from tests.support.finished_runs import finished
from tests.support.records import edit_record, events_of
from tests.support.tracked import PACKAGES, READERS


def single(value: float) -> float:
    """A value rounded to 32 bits, as TensorBoard holds a scalar."""
    return float(struct.unpack("<f", struct.pack("<f", value))[0])


def told(name: str, value: Any) -> Any:
    """What a program makes of a value: TensorBoard rounds, MLflow has settings as texts."""
    if name == "tensorboard" and isinstance(value, (int, float)):
        return single(value)
    return float(value) if isinstance(value, (bool, int)) else value


def test_every_sink_has_a_reader() -> None:
    assert set(READERS) == set(SINKS)


@pytest.mark.slow
@pytest.mark.parametrize("name", SINKS)
@pytest.mark.parametrize("world", [private(), scenario()], ids=["private", "plain"])
def test_what_was_told_is_read_back(name: str, world: dict[str, Any], tmp_path: Path) -> None:
    """The plain world has no noise: its ε is infinite, and must not be lost."""
    if name in PACKAGES:
        pytest.importorskip(PACKAGES[name])
    result = finished(world).result
    result.export(name, tmp_path / "tracked")
    (run,) = READERS[name](tmp_path / "tracked")
    wanted = list(values_of(result, terms_of(result)))
    assert run.name == "small, seed 5"
    assert len(run.values) == len(wanted) > 10
    for step, (t, values) in enumerate(wanted):
        assert run.times[step] == pytest.approx(t, abs=1e-3)
        assert run.values[step] == {k: told(name, v) for k, v in values.items()}
    final = {k: told(name, v) for k, v in final_of(result).items()}
    assert {k: told(name, v) for k, v in run.summary.items()} == final
    settings = settings_of(result)
    assert settings["mechanism.kind"] == "cd"
    assert {k: str(run.settings[k]) for k in settings} == {k: str(v) for k, v in settings.items()}
    assert run.tags["epsilon.unit"] == UNIT
    assert run.tags["epsilon.view"] == "eavesdropper"


def test_every_epsilon_has_its_terms_in_its_name_and_agents_are_three_figures() -> None:
    result = finished(private()).result
    terms = terms_of(result)
    *_, (t, values) = values_of(result, terms)
    *_, last = result.samples()
    assert t == last["t"] / 1e9
    losses = last["values"]["loss"]
    assert [values[f"loss.{fold}"] for fold in ("mean", "min", "max")] == pytest.approx(
        [sum(losses) / 6, min(losses), max(losses)]
    )
    named = [name for name in values if name.startswith("epsilon")]
    assert len(named) >= 9
    assert all("/eavesdropper/delta-1e-05/" in name for name in named)
    assert values["epsilon.max/eavesdropper/delta-1e-05/" + terms.accountant] == pytest.approx(  # type: ignore[union-attr] # it has a summary
        result.summary["epsilon"]["max"]
    )
    assert values["epsilon.basic.max/eavesdropper/delta-1e-05/basic"] > 0
    assert not any(
        math.isnan(value) for _, those in values_of(result, terms) for value in those.values()
    )


@pytest.mark.parametrize("name", ["jsonl", "tensorboard"])
def test_an_infinite_number_is_written_without_a_warning_and_nan_is_not_written(
    name: str, tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """An ε may be infinite; a package that warns of that tells the user of a fault that is none."""
    if name in PACKAGES:
        pytest.importorskip(PACKAGES[name])
    finished(scenario()).result.export(name, tmp_path / "tracked")
    (run,) = READERS[name](tmp_path / "tracked")
    numbers = [value for values in (*run.values.values(), run.summary) for value in values.values()]
    numbers = [value for value in numbers if isinstance(value, float)]
    assert math.inf in numbers
    assert not any(map(math.isnan, numbers))
    assert caplog.records == []
    assert capfd.readouterr().err == ""


def test_an_infinite_epsilon_is_told_as_such() -> None:
    result = finished(scenario()).result
    *_, (_, values) = values_of(result, terms_of(result))
    assert values["epsilon.max/eavesdropper/delta-1e-05/basic"] == math.inf
    assert final_of(result)["epsilon.max"] == math.inf


@pytest.mark.parametrize("name", PACKAGES)
def test_a_missing_package_is_one_sentence(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = {"mlflow": "mlflow.tracking"}.get(name, PACKAGES[name])
    for module in {package, PACKAGES[name]}:
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingPackage, match=r"needs .* pip install 'hush-sim\[tracking\]'$"):
        finished(private()).result.export(name, tmp_path)


@pytest.mark.parametrize(
    ("sink", "place", "online", "words"),
    [
        ("tensorbord", "x", False, "did you mean 'tensorboard'"),
        ("tensorboard", "x", True, "writes files only"),
        ("mlflow", "http://elsewhere.invalid", False, "asked for by online=True"),
        ("jsonl", "file", False, "cannot be made"),
    ],
)
def test_what_cannot_be_exported_is_one_sentence(
    sink: str, place: str, online: Any, words: str, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    at = place if "://" in place else tmp_path / place
    with pytest.raises(FolderError, match=words):
        finished(private()).result.export(sink, at, online=online)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file"]


@pytest.mark.slow
@pytest.mark.parametrize("name", SINKS)
def test_a_sweep_is_a_run_each_with_what_varied(name: str, tmp_path: Path) -> None:
    if name in PACKAGES:
        pytest.importorskip(PACKAGES[name])
    from scenarios.experiments.python_sweep import sweep

    whole = sweep(
        private(), grid={"mechanism.mu": [0.5, 1.0]}, seeds=[0, 1], out=tmp_path / "s", jobs=1
    )
    assert whole.export(name, tmp_path / "tracked") == 4
    runs = READERS[name](tmp_path / "tracked")
    places = {(run.name, str(run.settings["sweep.mechanism.mu"])) for run in runs}
    assert places == {
        (f"mechanism.mu = {mu}, seed {seed}", str(mu)) for mu in (0.5, 1.0) for seed in (0, 1)
    }


def test_a_sweep_without_runs_exports_none(tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    path = swept(tmp_path / "s").path
    (path / "sweep.csv").write_text((path / "sweep.csv").read_text().replace("finished", "missing"))
    with pytest.warns(DamagedRun):
        assert open_sweep(path).export("jsonl", tmp_path / "x") == 0


def test_a_damaged_run_raises_before_anything_is_written(tmp_path: Path) -> None:
    import shutil

    shutil.copytree(finished(private()).outcome.folder, tmp_path / "r")
    events = events_of(tmp_path / "r")
    samples = [event for event in events if event["kind"] == "sampled"]
    samples[len(samples) // 2]["values"]["loss"] = "none"
    edit_record(tmp_path / "r", events)
    with pytest.raises(FolderError, match="damaged"), pytest.warns(DamagedRun):
        Result(tmp_path / "r").export("jsonl", tmp_path / "x")
    assert not list(READERS["jsonl"](tmp_path / "x"))
