"""Draws pictures: what words name, which panels stand by default, and the file with its caption beside it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypedDict, Unpack

from scenarios.language.problems import nearest
from scenarios.language.visible_text import visible
from scenarios.pictures.ends import is_budget, main_axis
from scenarios.pictures.metric_panel import draw_metric
from scenarios.pictures.picture import PICTURES, Drawn, Material, Options, PictureKind
from scenarios.pictures.sampled_run import AXES
from scenarios.pictures.setting_names import value_in_words
from scenarios.pictures.settings import axes_of
from scenarios.pictures.styles import FORMATS, STYLES, WIDTHS
from scenarios.pictures.words import ended, seeds_of, written
from scenarios.planning.metric_names import METRICS, is_known, nearest_metric, split_metric
from scenarios.records.audit_record import AuditRecord, is_audit
from scenarios.records.file_guard import FolderError, guarded
from scenarios.records.reader import RunRecord
from scenarios.records.run_folder import is_record
from scenarios.records.sweep_record import SweepRecord, is_sweep
from scenarios.records.whole_file import write_whole

if TYPE_CHECKING:
    from types import ModuleType

    from matplotlib.axes import Axes

    from scenarios.pictures.canvas import Picture

    OwnAxes: TypeAlias = Axes
    """Axes of a caller's own figure: rooms that may not import matplotlib name them so."""

_STANDARD = 4


class NoMatplotlib(FolderError):
    """A picture was asked for, and the extra `plot` is not installed."""


def canvas() -> "ModuleType":
    """Return the module that loads matplotlib; raise `NoMatplotlib` where the extra is not installed."""
    try:
        from scenarios.pictures import canvas as loaded  # 120 ms, so only where a picture is drawn
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != "matplotlib":
            raise
        raise NoMatplotlib(
            "pictures need matplotlib, which is not installed: pip install 'hush-sim[plot]'"
        ) from None
    return loaded


@dataclass(frozen=True, slots=True)
class Request:
    """What a picture is to be: its material, its panels, and how it is drawn."""

    material: Material
    panels: tuple[str, ...]
    """Names of pictures and metrics; none: the standard panels."""
    options: Options = field(default_factory=Options)
    style: str = "screen"
    width: str = "page"


class Opens(Protocol):
    """Opens the folders that words name."""

    def run(self, word: str) -> RunRecord: ...

    def sweep(self, word: str) -> SweepRecord: ...


def sorted_words(words: Sequence[str], folders: Opens) -> tuple[Material, tuple[str, ...]]:
    """Tell folders of runs, sweeps and audits from names of pictures and metrics: folders are what they are on the disk.

    Raises `FolderError` where a word is neither, or no folder is named.
    """
    runs: list[RunRecord] = []
    sweeps: list[SweepRecord] = []
    audits: list[AuditRecord] = []
    panels: list[str] = []
    for word in words:
        path = Path(word)
        if is_record(path):
            runs.append(folders.run(word))
        elif is_sweep(path):
            sweeps.append(folders.sweep(word))
        elif is_audit(path):
            audits.append(AuditRecord(path))
        elif path.is_dir() and word not in PICTURES and not is_known(word, ()):
            raise FolderError(f"{word} is not the folder of a run, of a sweep or of an audit")
        else:
            panels.append(word)
    if not (runs or sweeps or audits):
        first = panels[0] if panels else "."
        raise FolderError(f"{first} is not the folder of a run, of a sweep or of an audit")
    return Material(tuple(runs), tuple(sweeps), tuple(audits)), tuple(panels)


def draw(request: Request) -> tuple["Picture", tuple[str, ...]]:
    """Draw a picture and return it with its caption, a sentence each.

    Raises `FolderError` where a panel cannot be drawn; of standard panels those that cannot are left out, and the caption
    says why. Raises `NoMatplotlib` without the extra.
    """
    loaded = canvas()
    standard = not request.panels
    material = replace(request.material, choices=request.options.only)
    panels = request.panels or standard_panels(material)
    kinds = [kind_of(name, material) for name in panels]
    _refuse_unused(request.options, kinds)
    narrow = request.width == "column" or len(panels) > 1
    options = replace(request.options, narrow=narrow)
    with loaded.styled(request.style) as style:
        if standard:
            panels, kinds, left = _possible(loaded, style, panels, kinds, material, options)
        else:
            left = []
        heights = [kind.height for kind in kinds]
        figure, places = loaded.picture(heights, style, request.width)
        told = []
        for kind, place in zip(kinds, places, strict=True):
            told.append(kind.draw(place.axes, material, options))
        foot = dict.fromkeys(words for said in told for words in said.foot)
        foot |= dict.fromkeys(_choices(material))
        loaded.compose(figure, places, title_of(material), tuple(foot))
        loaded.spell_out(figure)
    return figure, tuple(map(visible, _caption(material, panels, told, left)))


def draw_on(axes: "Axes", request: Request) -> tuple[str, ...]:
    """Draw one panel on axes of someone's own figure, whose style stays; return the caption."""
    loaded = canvas()
    if len(request.panels) != 1:
        raise FolderError(f"axes hold one picture, and {len(request.panels)} are asked for")
    material = replace(request.material, choices=request.options.only)
    kind = kind_of(request.panels[0], material)
    _refuse_unused(request.options, [kind])
    said = kind.draw(axes, material, request.options)
    axes.set_title(title_of(material))
    if axes.get_legend_handles_labels()[0]:
        axes.legend(frameon=False)
    loaded.spell_out(axes)
    return tuple(map(visible, _caption(material, request.panels, [said], [])))


def _possible(
    loaded: Any,
    style: Any,
    panels: Sequence[str],
    kinds: Sequence[PictureKind],
    material: Material,
    options: Options,
) -> tuple[tuple[str, ...], list[PictureKind], list[str]]:
    """Keep the first four panels that can be drawn, and say why others cannot; raise where none can."""
    kept: list[str] = []
    left: list[str] = []
    for name, kind in zip(panels, kinds, strict=True):
        if len(kept) == _STANDARD:
            break
        _, places = loaded.picture([kind.height], style, "page")
        try:
            kind.draw(places[0].axes, material, options)
        except FolderError as error:
            left.append(f"{name} is not drawn: {error}.")
        else:
            kept.append(name)
    if not kept:
        raise FolderError(left[0].removesuffix(".") if left else "there is nothing to draw")
    return (
        tuple(kept),
        [kind for name, kind in zip(panels, kinds, strict=True) if name in kept],
        left,
    )


def kind_of(name: str, material: Material) -> PictureKind:
    """Return the kind of picture that a name stands for; a metric's name stands for its curve.

    Raises `FolderError` where there is no picture and no metric of this name.
    """
    if name in PICTURES:
        return PICTURES[name]
    picture, _, metric = name.partition(":")
    if picture in PICTURES and "metric" in PICTURES[picture].takes:
        return _by_metric(PICTURES[picture], metric)
    base = split_metric(name)[0]
    if base in METRICS or _is_sampled(name, material):

        def drawn(axes: "Axes", of: Material, options: Options) -> Drawn:
            return draw_metric(name, axes, of, options)

        return PictureKind(name, "a metric", "runs", drawn, frozenset({"x"}))
    raise FolderError(_unknown(name, material))


def _by_metric(kind: PictureKind, metric: str) -> PictureKind:
    """Return a kind of picture that compares ends of runs by this metric, whatever the options name."""

    def drawn(axes: "Axes", of: Material, options: Options) -> Drawn:
        return kind.draw(axes, of, replace(options, metric=metric))

    return replace(kind, name=f"{kind.name}:{metric}", draw=drawn)


def _is_sampled(name: str, material: Material) -> bool:
    """Whether some run sampled a value of this name: a figure of a target, say."""
    try:
        return any(name in member.run.last for member in material.members[:1])
    except FolderError:
        return False


def _unknown(name: str, material: Material) -> str:
    try:
        sampled = list(material.members[0].run.last)
    except FolderError:
        sampled = []
    if sampled:
        return f"'{name}' was not sampled in this run and is no picture; {nearest_metric(name, [*PICTURES, *sampled])}"
    return f"'{name}' is no picture and no metric; {nearest_metric(name, [*PICTURES, *METRICS])}"


def _refuse_unused(options: Options, kinds: Iterable[PictureKind]) -> None:
    """Raise `FolderError` where an option was given that no panel takes."""
    taken = frozenset[str]().union(*(kind.takes for kind in kinds))
    given = {
        "at": options.at is not None,
        "metric": options.metric is not None,
        "x": options.x != "time",
    }
    for name, is_given in given.items():
        if is_given and name not in taken:
            able = [n for n, kind in PICTURES.items() if name in kind.takes]
            also = "metrics and " if name == "x" else ""
            raise FolderError(f"--{name} means nothing here: it is for {also}{', '.join(able)}")
    if options.x not in AXES:
        raise FolderError(f"there is no axis '{options.x}'; {nearest(options.x, AXES)}")


def standard_panels(material: Material) -> tuple[str, ...]:
    """Return the names of the panels to try, in the order of their worth: the first four that can be drawn are."""
    if material.audits:
        return ("audit",)
    settings = material.settings
    axes = axes_of(settings)
    if axes and (material.sweeps or len(settings) > _STANDARD):
        grid = ("heatmap",) if len(axes) > 1 else ()
        main, _ = main_axis(settings)
        if main is not None and is_budget(main):
            ends = ("final:loss", "final:gain", "final:bytes.sent", "loss", "final:epsilon.max")
        else:
            ends = ("final:loss", "final", "final:epsilon.max", "final:bytes.sent", "loss")
        return ("epsilon-accuracy", *grid, *ends)
    sampled = material.members[0].run.last
    scores = ("accuracy.test", "rmse.test", "accuracy.train", "rmse.train")
    score = [name for name in scores if name in sampled][:1]
    if "staleness" in sampled:
        fourth = "staleness"
    else:
        fourth = "bytes.sent" if len(material.members) > 1 else "traffic"
    return ("loss", *score, "epsilon", fourth, "objective", "budgets")


def title_of(material: Material) -> str:
    """Return the title of a picture: what was run, with which seeds, and how it ended where it did not finish."""
    if material.audits:
        return ", ".join(
            written(f"audit of {a.audit.scenario}, seed {a.audit.seed}", 60)
            for a in material.audits
        )
    members = material.members
    if material.sweeps and not material.runs:
        names = dict.fromkeys(sweep.manifest.name for sweep in material.sweeps)
    else:
        names = dict.fromkeys(str(m.record.manifest["scenario"]) for m in members)
    title = f"{written(', '.join(names), 60)}, {seeds_of(material.settings)}"
    how = ended(members) if not material.sweeps else ""
    return f"{title}: {how}" if how else title


def _choices(material: Material) -> list[str]:
    """Return, for each sweep whose settings were chosen, by what, and whether an ε covers that, in a few words."""
    choices = [s.manifest.choice for s in material.sweeps if s.manifest.choice is not None]
    return [
        f"settings chosen by {choice.by}, "
        + ("no ε covers that" if choice.epsilon is None else f"paid with ε = {choice.epsilon:g}")
        for choice in choices
    ]


def _caption(
    material: Material, panels: Sequence[str], told: Sequence[Drawn], left: Sequence[str]
) -> list[str]:
    """Return the lines of the text file beside a picture."""
    folders = map(str, material.folders)
    lines = [f"{title_of(material)}.".replace(r"\$", "$")]
    for name, said in zip(panels, told, strict=True):
        lines += [
            f"{name}: {said.caption[0]}" if len(panels) > 1 else said.caption[0],
            *said.caption[1:],
        ]
    lines += left
    lines += [f"Of the sweep: {note}" for sweep in material.sweeps for note in sweep.manifest.notes]
    lines.append(f"Drawn from {', '.join(folders)}.")
    return list(dict.fromkeys(lines))


def save(request: Request, out: str | None, ending: str | None) -> tuple[Path, Path]:
    """Draw a picture, write it and its caption, and return both files.

    `out` is a file whose ending chooses the format; None: in the folder of the first run, named after its panels, as
    `ending` (None: png). A picture of before is replaced with its caption; a text without a picture is left as it is:
    `FolderError`.
    """
    material = request.material
    if out is not None:
        path = Path(out)
        own = path.suffix.removeprefix(".").lower()
        if own not in FORMATS:
            raise FolderError(f"{out}: a picture ends in {', '.join('.' + f for f in FORMATS)}")
        if ending is not None and own != ending:
            raise FolderError(
                f"--out {out} is no {ending}: leave --format out, or change the ending"
            )
    else:
        stem = "-".join(request.panels).replace(":", "-")[:80] or "panels"
        path = material.folders[0] / f"{stem}.{ending or 'png'}"
    beside = path.with_suffix(".txt")
    if beside.exists() and not any(path.with_suffix(f".{f}").exists() for f in FORMATS):
        raise FolderError(f"{beside} is there already, and would be replaced by the caption")
    figure, caption = draw(request)
    canvas().save(figure, path)
    write_whole(beside, "".join(f"{line}\n" for line in caption))
    return path, beside


class Looks(TypedDict, total=False):
    """Options of `plot` that are seldom needed."""

    style: str
    """`screen` (default), `paper` or `slides`."""
    width: str
    """`page` (default, 6.9 inches) or `column` (3.3 inches)."""
    at: float
    """The instant of a network, or the beginning of a timeline, in seconds of simulated time."""
    metric: str
    """What ends of runs are compared by; without it the test score, else the loss."""
    only: Mapping[str, str | float | bool]
    """Axes of a sweep, and the values to which it is narrowed down."""


def plot(
    material: Material,
    what: str | Sequence[str] | None,
    x: str = "time",
    ax: "Axes | None" = None,
    **looks: Unpack[Looks],
) -> "Axes | Picture":
    """Draw for Python: on `ax`, which is returned, or as a figure that displays itself in notebooks. No file is written.

    `what` is the name of a picture or a metric, or several of them; None: the standard panels. `x` is what metrics are
    drawn against. On `ax` the style of its figure stays. Raises `FolderError` where what is asked for cannot be drawn,
    `NoMatplotlib` where the extra `plot` is not installed.
    """
    style, width = looks.get("style", "screen"), looks.get("width", "page")
    for given, known, name in ((style, STYLES, "style"), (width, WIDTHS, "width")):
        if given not in known:
            raise FolderError(f"there is no {name} '{given}'; {nearest(given, known)}")
    for name in looks:
        if name not in Looks.__annotations__:
            raise FolderError(
                f"plot has no option '{name}'; {nearest(name, Looks.__annotations__)}"
            )
    if ax is not None and not hasattr(ax, "fill_between"):
        raise FolderError(f"ax must be axes of matplotlib, got {type(ax).__name__}")
    panels = () if what is None else (what,) if isinstance(what, str) else tuple(what)
    only = {key: value_in_words(value) for key, value in looks.get("only", {}).items()}
    options = Options(x, looks.get("at"), looks.get("metric"), only)
    request = Request(material, panels, options, style, width)
    with guarded(material.folders[0]):
        if ax is not None:
            draw_on(ax, request)
            return ax
        figure, _ = draw(request)
        return figure
