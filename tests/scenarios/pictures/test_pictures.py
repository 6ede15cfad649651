"""Every kind of picture, in every width and format: it is drawn without a warning, and nothing hangs out of it."""

import json
import shutil
from collections.abc import Mapping
from contextlib import suppress
from itertools import combinations
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox
from scipy import stats

from scenarios.api.result import Result
from scenarios.api.sweep_result import Sweep
from scenarios.command.judged_folders import JudgedFolders
from scenarios.command.main import main
from scenarios.pictures.canvas import Picture
from scenarios.pictures.draw import Request, draw, save, sorted_words
from scenarios.pictures.picture import PICTURES, Material, Options
from scenarios.pictures.styles import COLOURS, FORMATS, STYLES, WIDTHS
from scenarios.pictures.words import seeds_in_short
from scenarios.records.file_guard import FolderError
from tests.support.builders import private, scenario
from tests.support.finished_runs import finished
from tests.support.records import RECORD, edit_record, events_of
from tests.support.swept import Label, written_sweep

pytestmark = pytest.mark.filterwarnings("ignore::scenarios.api.opened_folder.DamagedRun")
"""Tables of sweeps are made up here, and rest on no runs."""

FAULTS = [
    {"name": "a cut", "at": "4s", "for": "5s", "partition": {"groups": [[0, 1, 2], [3, 4, 5]]}},
    {"at": "8s", "for": "3s", "crash": [1]},
]
WORLDS: dict[str, dict[str, Any]] = {
    "private": private(fault=FAULTS),
    "not private": scenario(),
    "admm": scenario(mechanism={"kind": "admm"}, task={}),
    "served": scenario(
        run={"seed": 5, "rounds": 6},
        nodes=[{"count": 4, "clock": "barrier", "compute": "100ms"}],
        mechanism={"kind": "fedavg"},
        network={},
    ),
    "one agent": scenario(nodes=[{"count": 1}], network={}, mechanism={"kind": "local"}),
}
SLOW = pytest.mark.slow


def figures(settings: Mapping[str, Label], seed: int) -> dict[str, float]:
    budget = float(settings["nodes.all.budget.epsilon"])
    kind = {"cd": 0.0, "dvp": 0.05, "free": 0.1}[str(settings["mechanism"])]
    epsilon = float("inf") if settings["mechanism"] == "free" else budget
    return {
        "accuracy.test.mean": 0.8 + 0.01 * budget + kind + 0.001 * seed,
        "loss.mean": 0.5 - kind,
        "epsilon.max": epsilon,
        "epsilon.mean": epsilon / 2,
    }


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A folder for each thing that pictures are of."""
    folder = tmp_path_factory.mktemp("sources")
    run = finished(WORLDS["private"]).outcome.folder
    axes: dict[str, list[Label]] = {
        "nodes.all.budget.epsilon": [1.0, 2.0, 4.0],
        "mechanism": ["cd", "dvp", "free"],
    }
    audit = {
        "scenario": "world",
        "seed": 4,
        "mechanism": "cd",
        "verdict": "not refuted",
        "epsilon": {"audited": 0.5, "claimed": 2.0, "charged": "inf", "delta": 1e-5}
        | {"view": "eavesdropper", "accountant": "pld"},
        "runs": 20,
        "confidence": 0.95,
        "curve": [
            {"releases": k, "audited": 0.1 * k, "claimed": 1.0 * k, "charged": "inf" if k > 4 else k}
            for k in range(1, 7)
        ],
    }  # fmt: skip
    (folder / "audit").mkdir()
    (folder / "audit" / "audit.json").write_text(json.dumps(audit), "utf-8")
    return {
        "run": run,
        "runs": run,
        "sweep": written_sweep(folder / "sweep", axes, range(3), figures, run=run),
        "audit": folder / "audit",
    }


def material_of(folder: Path) -> Material:
    return sorted_words([str(folder)], JudgedFolders())[0]


def judge(figure: Figure) -> None:
    """Refuse a figure with letters smaller than seven points, or beyond its edges, or with labels over each other."""
    figure.draw_without_rendering()
    drawn, (wide, high) = figure.get_tightbbox(), figure.get_size_inches()
    assert -0.02 < drawn.x0 < drawn.x1 < wide + 0.02
    assert -0.02 < drawn.y0 < drawn.y1 < high + 0.02
    assert min(float(text.get_fontsize()) for text in figure.findobj(Text)) >= 7
    for axes in figure.axes:
        edges = axes.get_window_extent().padded(20)
        for line in axes.lines:
            at = line.get_transform().transform(line.get_xydata())
            at = at[np.isfinite(at).all(axis=1)]
            assert all(edges.contains(x, y) for x, y in at), line.get_label()
    shown = [words for axes in figure.axes for words in _labels(axes)]
    for one, other in combinations(shown, 2):
        overlap = Bbox.intersection(one.get_window_extent(), other.get_window_extent())
        assert overlap is None or min(overlap.width, overlap.height) < 1, (one, other)


def _labels(axes: Axes) -> list[Text]:
    """Return the label of each axis, and what its ticks within its limits say."""
    if not axes.axison:
        return []
    words: list[Text] = []
    for axis in (axes.xaxis, axes.yaxis):
        low, high = sorted(axis.get_view_interval())
        ticks = [t.label1 for t in axis.get_major_ticks() if low <= t.get_loc() <= high]
        words += [axis.label, *(label for label in ticks if label.get_visible())]
    return [label for label in words if label.get_text().strip()]


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", [pytest.param(name, marks=SLOW) for name in PICTURES])
def test_every_picture_stays_within_its_edges(
    sources: dict[str, Path], name: str, width: str, style: str
) -> None:
    material = material_of(sources[PICTURES[name].of])
    figure, caption = draw(Request(material, (name,), Options(), style, width))
    assert figure.get_figwidth() == WIDTHS[width]
    judge(figure)
    assert len(caption) > 2


@pytest.mark.parametrize("ending", FORMATS)
@pytest.mark.parametrize("name", [pytest.param(name, marks=SLOW) for name in PICTURES])
def test_every_picture_is_written_twice_the_same_with_its_caption(
    sources: dict[str, Path], name: str, ending: str, tmp_path: Path
) -> None:
    beginnings = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}
    request = Request(material_of(sources[PICTURES[name].of]), (name,))
    picture, caption = save(request, str(tmp_path / f"a.{ending}"), None)
    again, _ = save(request, str(tmp_path / f"b.{ending}"), ending)
    assert picture.read_bytes().startswith(beginnings[ending])
    assert picture.read_bytes() == again.read_bytes()
    assert caption.read_text("utf-8").count("\n") > 2


@pytest.mark.slow
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("world", WORLDS)
def test_the_standard_panels_of_every_family_are_drawn(world: str, width: str) -> None:
    run = finished(WORLDS[world]).result
    figure, caption = draw(Request(Material(runs=(run,)), (), Options(), "paper", width))
    judge(figure)
    panels = [axes for axes in figure.findobj(Axes) if axes.has_data()]
    assert len(panels) == (4 if world != "one agent" else len(panels))
    assert any(line.startswith("loss: ") for line in caption)


@pytest.mark.slow
def test_standard_panels_of_a_sweep_and_of_several_runs_are_drawn(
    sources: dict[str, Path],
) -> None:
    figure, _ = draw(Request(material_of(sources["sweep"]), ()))
    judge(figure)
    runs = tuple(finished(WORLDS[name]).result for name in ("private", "not private", "admm"))
    figure, _ = draw(Request(Material(runs=runs), ()))
    judge(figure)


@pytest.mark.slow
def test_a_picture_names_units_seeds_and_view(tmp_path: Path) -> None:
    run = finished(WORLDS["private"]).result
    request = Request(Material(runs=(run,)), ("epsilon", "loss"))
    picture, caption = save(request, str(tmp_path / "a.svg"), None)
    text = picture.read_text("utf-8")
    for words in ("simulated time (s)", "seed 5", "eavesdropper view", "δ = 1e-05", "80 % of agents", "fault: a cut", "cap 4 of peers", "6 agents"):  # fmt: skip
        assert words in text.replace("\u00a0", " "), words
    said = caption.read_text("utf-8")
    for words in ("one record of one agent replaced", "δ = 1e-05", "an oracle's view", "10th to the 90th percentile", "while the fault a cut lasted"):  # fmt: skip
        assert words in said, words


def test_a_caption_says_what_epsilon_does_not_cover(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(finished(WORLDS["private"]).outcome.folder, folder)
    summary = json.loads((folder / "summary.json").read_text("utf-8"))
    reasons = ["the categories of a column"]
    summary["epsilon"] |= {"covered": False, "not_covered": reasons}
    (folder / "summary.json").write_text(json.dumps(summary), "utf-8")
    world = json.loads((folder / "world.json").read_text("utf-8")) | {"not_covered": reasons}
    (folder / "world.json").write_text(json.dumps(world), "utf-8")
    _, caption = draw(Request(material_of(folder), ("epsilon",)))
    assert "ε does not cover: the categories of a column." in caption


@pytest.mark.slow
def test_lines_and_bands_over_seeds_are_not_called_those_of_agents(
    sources: dict[str, Path],
) -> None:
    _, caption = draw(Request(material_of(sources["sweep"]), ("loss",)))
    said = " ".join(caption)
    assert "mean over seeds of the mean over agents" in said
    assert "not the spread of agents" in said
    assert "80 %" not in said


def test_colours_are_told_apart_in_grey_or_by_their_dashes() -> None:
    """Lines differ in dashes where they differ in colours; two neighbours in the palette differ in lightness or hue."""
    from scenarios.pictures.metric_panel import look, marker

    looks = [(str(look(at)["linestyle"]), marker(at)) for at in range(8)]
    assert len(set(looks)) == 8
    every = [(look(at)["color"], str(look(at)["linestyle"])) for at in range(12)]
    assert len(set(every)) == 12
    assert len(set(COLOURS)) == len(COLOURS)


# from Python


def test_axes_of_ones_own_are_drawn_on_and_nothing_else_changes() -> None:
    run = finished(WORLDS["private"]).result
    before = dict(mpl.rcParams)
    files = sorted(run.path.rglob("*"))
    figure = Figure()
    axes = figure.subplots()
    assert run.plot("loss", ax=axes) is axes
    assert axes.get_ylabel() == "loss"
    assert axes.get_xlabel() == "simulated time (s)"
    line = next(line for line in axes.lines if line.get_label() == "median")
    medians = [np.median(event["values"]["loss"]) for event in run.samples()]
    assert line.get_ydata() == pytest.approx(medians)
    assert dict(mpl.rcParams) == before
    assert sorted(run.path.rglob("*")) == files
    with pytest.raises(FolderError, match="hold one picture"):
        run.plot(["loss", "epsilon"], ax=axes)


@pytest.mark.slow
def test_a_figure_displays_itself_and_leaves_the_settings_alone() -> None:
    run = finished(WORLDS["private"]).result
    before = dict(mpl.rcParams)
    figure = run.plot("loss", "updates", style="paper", width="column")
    assert isinstance(figure, Picture)
    assert figure._repr_png_().startswith(b"\x89PNG")
    assert dict(mpl.rcParams) == before


@pytest.mark.slow
def test_a_sweep_draws_itself(sources: dict[str, Path]) -> None:
    axes = Figure().subplots()
    looks: dict[str, Any] = {"only": {"mechanism": "cd"}}
    assert Sweep(sources["sweep"]).plot("final", ax=axes, **looks) is axes
    (line,) = axes.containers
    at, values = line[0].get_data()
    assert list(at) == [1.0, 2.0, 4.0]
    assert values == pytest.approx([0.811, 0.821, 0.841])


@pytest.mark.slow
def test_epsilon_against_accuracy_has_private_settings_on_the_axis_and_others_as_lines(
    sources: dict[str, Path],
) -> None:
    axes = Figure().subplots()
    Sweep(sources["sweep"]).plot("epsilon-accuracy", ax=axes)
    lines = {c.get_label(): c[0].get_data() for c in axes.containers}
    assert set(lines) == {"cd", "dvp"}
    assert list(lines["dvp"][0]) == [1.0, 2.0, 4.0]  # the largest ε of any agent
    assert lines["dvp"][1] == pytest.approx([0.861, 0.871, 0.891])
    assert axes.get_xscale() == "log"
    assert any(str(line.get_label()).startswith("free (ε = ∞)") for line in axes.lines)


@pytest.mark.slow
def test_bars_are_the_t_intervals_of_the_seeds(sources: dict[str, Path]) -> None:
    for picture in ("epsilon-accuracy", "final"):
        axes = Figure().subplots()
        Sweep(sources["sweep"]).plot(picture, ax=axes, only={"mechanism": "cd"})
        (line,) = axes.containers
        bars = [segment[:, 1] for segment in line[2][0].get_segments()]
        for budget, bar in zip((1.0, 2.0, 4.0), bars, strict=True):
            values = [0.8 + 0.01 * budget + 0.001 * seed for seed in range(3)]
            wanted = stats.t.interval(0.95, 2, np.mean(values), stats.sem(values))
            assert bar == pytest.approx(wanted)


@pytest.mark.slow
def test_pictures_of_a_sweep_name_seeds_interval_and_the_terms_of_epsilon(
    sources: dict[str, Path],
) -> None:
    of = material_of(sources["sweep"])
    for picture, words in {
        "epsilon-accuracy": "95 % intervals over seeds",
        "final": "95 % intervals over seeds",
        "heatmap:epsilon.max": "means over seeds",
    }.items():
        figure, caption = draw(Request(of, (picture,)))
        shown = " ".join(str(text.get_text()) for text in figure.findobj(Text))
        assert words in shown.replace("\n", " "), picture
        assert "seeds 0..2" in shown, picture
        if picture != "final":
            said = " ".join(caption)
            assert "one record of one agent replaced: eavesdropper view, δ = 1e-05" in said, picture


@pytest.mark.slow
def test_cells_of_a_heat_map_stand_where_their_values_say_and_gaps_are_counted(
    tmp_path: Path,
) -> None:
    def values(settings: Mapping[str, Label], seed: int) -> dict[str, float]:
        a, b = float(settings["a"]), float(settings["b"])
        return {"loss.mean": float("nan") if (a, b) == (2, 20) else a + b + 0 * seed}

    run = finished(WORLDS["private"]).outcome.folder
    axes: dict[str, list[Label]] = {"a": [3, 1, 2], "b": [20, 10]}
    folder = written_sweep(tmp_path / "sweep", axes, range(2), values, run=run)
    figure, caption = draw(Request(material_of(folder), ("heatmap:loss",)))
    (drawn,) = figure.axes[0].images
    across = [float(label.get_text()) for label in figure.axes[0].get_xticklabels()]
    up = [float(label.get_text()) for label in figure.axes[0].get_yticklabels()]
    array = drawn.get_array()
    assert array is not None
    shown = np.ma.filled(array, np.nan)
    assert (across, up) == ([1, 2, 3], [10, 20])
    assert shown == pytest.approx(np.array([[11, 12, 13], [21, np.nan, 23]]), nan_ok=True)
    assert "1 cells have no value (–)." in caption


# words of the command


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["plot", *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    return err.splitlines()[-1]


@pytest.mark.slow
def test_what_cannot_be_drawn_is_refused_in_one_line(
    sources: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = str(sources["run"])
    assert "did you mean 'network'" in refused(capsys, run, "netwrok")
    assert "did you mean 'loss'" in refused(capsys, run, "los")
    assert "a picture ends in .png, .svg, .pdf" in refused(capsys, run, "loss", "--out", "a.gif")
    assert "--format" in refused(capsys, run, "loss", "--out", "a.svg", "--format", "png")
    assert "--at means nothing here" in refused(capsys, run, "loss", "--at", "3")
    assert "--x means nothing here" in refused(capsys, run, "network", "--x", "updates")
    assert "must be KEY=VALUE" in refused(capsys, run, "loss", "--only", "x")
    assert "not the folder of a run" in refused(capsys, str(tmp_path), "loss")
    assert "not the folder of a run" in refused(capsys, "loss")
    assert "heat map" in refused(capsys, run, "heatmap")
    assert "audit" in refused(capsys, run, "audit")
    assert "cannot be written" in refused(capsys, run, "loss", "--out", f"{tmp_path}/no/a.png")
    (tmp_path / "delays.txt").write_text("mine")
    said = refused(capsys, run, "loss", "--out", f"{tmp_path}/delays.png")
    assert "would be replaced by the caption" in said
    assert (tmp_path / "delays.txt").read_text() == "mine"
    assert not (tmp_path / "delays.png").exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"ax": 3}, "ax must be axes of matplotlib, got int"),
        ({"wdth": "page"}, "plot has no option 'wdth'; did you mean 'width'"),
        ({"style": "papr"}, "there is no style 'papr'; did you mean 'paper'"),
    ],
)
def test_an_option_that_means_nothing_is_named(
    sources: dict[str, Path], options: dict[str, Any], said: str
) -> None:
    with pytest.raises(FolderError, match=said):
        Result(sources["run"]).plot("loss", **options)


@pytest.mark.parametrize(
    ("seeds", "words"),
    [
        ([4], "seed 4"),
        ([3, 2, 2, 4], "seeds 2..4"),
        ([0, 2], "seeds 0, 2"),
        ([0, 2**62], f"seeds 0, {2**62}"),  # seeds that lie far apart take no memory
        ([0, *range(5, 12)], "8 seeds"),
    ],
)
def test_seeds_are_told_in_a_few_words(seeds: list[int], words: str) -> None:
    assert seeds_in_short(seeds) == words


def test_the_pictures_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plot", "--list"]) == 0
    out = capsys.readouterr().out
    assert [line.split()[0] for line in out.splitlines()] == [*PICTURES, "METRIC"]


@pytest.mark.slow
def test_a_picture_lies_in_the_first_folder_unless_it_is_sent_elsewhere(
    sources: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(sources["run"], folder)
    assert main(["plot", str(folder), "loss", "epsilon", "--format", "svg"]) == 0
    assert capsys.readouterr().out.split() == [
        str(folder / "loss-epsilon.svg"),
        str(folder / "loss-epsilon.txt"),
    ]
    assert Result(folder).flaws == ()


# whatever the folder holds


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "$\\frac{",
        "a\nb\x1b]0;x\x07",
        "x" * 400,
        "名前 ∑ 🦉",
        "<script>&amp;",
        "\u202eevil",
        "a -- b",
    ],
)
def test_hostile_names_are_words_in_a_picture(tmp_path: Path, name: str) -> None:
    world = private(name="simple", fault=[{"name": "f", "at": "4s", "for": "5s", "crash": [1]}])
    folder = tmp_path / "run"
    shutil.copytree(finished(world).outcome.folder, folder)
    for file in ("manifest.json", "summary.json", "world.json"):
        tree = json.loads((folder / file).read_text("utf-8"))
        tree = _renamed(tree, name)
        (folder / file).write_text(json.dumps(tree), "utf-8")
    for width in WIDTHS:
        request = Request(
            material_of(folder), ("loss", "epsilon", "timeline"), Options(), "paper", width
        )
        figure, caption = draw(request)
        judge(figure)
        assert all(line.isprintable() for line in caption)
    picture, _ = save(Request(material_of(folder), ("epsilon",)), str(tmp_path / "a.svg"), None)
    assert "<script>" not in picture.read_text("utf-8")


def _renamed(tree: Any, name: str) -> Any:
    match tree:
        case dict():
            return {k: _renamed(v, name) for k, v in tree.items()}
        case list():
            return [_renamed(v, name) for v in tree]
        case "simple" | "peers" | "f":
            return name
        case _:
            return tree


@pytest.mark.slow
@pytest.mark.parametrize("missing", ["world.json", "summary.json", "resolved.toml", RECORD])
@pytest.mark.parametrize("status", ["finished", "running", "failed"])
def test_a_folder_that_is_not_whole_is_drawn_or_refused_in_one_sentence(
    tmp_path: Path, missing: str, status: str
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(finished(WORLDS["private"]).outcome.folder, folder)
    (folder / missing).unlink()
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    (folder / "manifest.json").write_text(json.dumps(manifest | {"status": status}), "utf-8")
    drawn = 0
    for name in ("loss", "epsilon", *(n for n, kind in PICTURES.items() if kind.of.startswith("run"))):  # fmt: skip
        with suppress(FolderError):
            draw(Request(material_of(folder), (name,)))
            drawn += 1
    # The record holds events; edges, and what ε rests on, stand in world.json and resolved.toml.
    assert drawn >= {RECORD: 1, "world.json": 2, "resolved.toml": 3}.get(missing, 6)
    if missing == RECORD:
        with pytest.raises(FolderError, match="holds no samples to draw"):
            draw(Request(material_of(folder), ()))
    else:
        draw(Request(material_of(folder), ()))


@pytest.mark.slow
@pytest.mark.parametrize("value", ["inf", "-inf", None, 1e308, -1e308])
def test_values_that_are_no_numbers_are_left_out(tmp_path: Path, value: Any) -> None:
    folder = tmp_path / "run"
    shutil.copytree(finished(WORLDS["private"]).outcome.folder, folder)
    lines = events_of(folder)
    for event in lines:
        if event["kind"] == "sampled" and event["t"] > 5e9:
            event["values"]["loss"][1] = value
            event["values"]["gap"] = value
    edit_record(folder, lines)
    figure, _ = draw(Request(material_of(folder), ("loss", "gap")))
    judge(figure)
