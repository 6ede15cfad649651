"""A report on a run or a sweep: one HTML page that needs nothing else, and a part of it for notebooks.

The page has the standard pictures, each with its caption as text; without the extra `plot` a sentence stands in their place.
"""

from base64 import b64encode
from collections.abc import Iterable
from hashlib import sha256
from itertools import islice
from pathlib import Path

from scenarios.pictures import report_run, report_sweep
from scenarios.pictures.draw import NoMatplotlib, Request, canvas, draw, standard_panels
from scenarios.pictures.html import Html, joined, tag
from scenarios.pictures.inline_svg import inline
from scenarios.pictures.page import fragment, page
from scenarios.pictures.picture import PICTURES, Material
from scenarios.records.file_guard import FolderError, guarded
from scenarios.records.reader import RunRecord
from scenarios.records.run_folder import version
from scenarios.records.sweep_record import SweepRecord
from scenarios.records.sweep_summary import summarised
from scenarios.records.whole_file import write_whole

REPORT = "report.html"
_ENDINGS = (".html", ".htm")
_MOST_LETTERS = 600_000
"""A drawing of more text than this stands in the page as an image of points."""
_STANDARD = 4
_OF_FAULTS = "timeline"
"""The kind of picture that shows when faults began and ended."""


def page_of(record: RunRecord | SweepRecord) -> str:
    """Return the report on a run or a sweep as the text of a page. Raises `FolderError` where its files are damaged."""
    foot = f"Written by hush {version()}."
    with guarded(record.path):
        pictures = _pictures_of(record)
        if isinstance(record, SweepRecord):
            sweep = summarised(record)
            head, sections = report_sweep.verdict_of(sweep), report_sweep.sections(sweep, pictures)
            return page(report_sweep.title_of(sweep), head, sections, foot)
        head, sections = report_run.head_of(record), report_run.sections(record, pictures)
        return page(report_run.title_of(record), head, sections, foot)


def fragment_of(record: RunRecord | SweepRecord) -> str:
    """Return a few words on a run or a sweep, and a picture where one can be drawn, as HTML for a notebook."""
    with guarded(record.path):
        if isinstance(record, SweepRecord):
            sweep = summarised(record)
            title, parts = report_sweep.title_of(sweep), report_sweep.in_short(sweep)
        else:
            title, parts = report_run.title_of(record), report_run.in_short(record)
        return fragment(tag("p", tag("strong", title)), *parts, _first_picture_of(record))


def displayed(record: RunRecord | SweepRecord) -> str:
    """Return what a notebook shows: the fragment, or why there is none."""
    try:
        return fragment_of(record)
    except FolderError as error:
        return fragment(tag("p", repr(record)), tag("p", error, class_="bad"))


def write_report(record: RunRecord | SweepRecord, out: str | Path | None = None) -> Path:
    """Write the report, to `report.html` in the folder of the run or sweep where no file is named; return the file.

    Raises `FolderError` where it cannot be written, and where the file is not called as a page: it would replace another one;
    `OSError` where the disk is full.
    """
    path = Path(out) if out is not None else record.path / REPORT
    if path.suffix.lower() not in _ENDINGS:
        raise FolderError(f"{path}: a report ends in {' or '.join(_ENDINGS)}")
    write_whole(path, page_of(record))
    return path


def _pictures_of(record: RunRecord | SweepRecord) -> Html:
    """Return the standard pictures of a run or a sweep, and that of its faults; a sentence each for those that are not drawn."""
    material = _material(record)
    try:
        panels = standard_panels(material)
    except FolderError as error:
        return tag("p", f"There are no pictures: {error}.")
    drawn, left = _drawn(record, material, panels, _STANDARD)
    if isinstance(record, RunRecord) and record.summary.get("faults") and _OF_FAULTS in PICTURES:
        more, also = _drawn(record, material, (_OF_FAULTS,), 1)
        drawn, left = [*drawn, *more], [*left, *also]
    return joined([*drawn, *(tag("p", words, class_="soft") for words in dict.fromkeys(left))])


def _first_picture_of(record: RunRecord | SweepRecord) -> Html:
    """Return the first standard picture that can be drawn; nothing where none can."""
    material = _material(record)
    try:
        return joined(_drawn(record, material, standard_panels(material), 1)[0])
    except FolderError:
        return Html()


def _material(record: RunRecord | SweepRecord) -> Material:
    if isinstance(record, SweepRecord):
        return Material(sweeps=(record,))
    return Material(runs=(record,))


def _drawn(
    record: RunRecord | SweepRecord, material: Material, panels: Iterable[str], most: int
) -> tuple[list[Html], list[str]]:
    """Return the first pictures that can be drawn, at most so many, and why those before them cannot."""
    left = list[str]()

    def each() -> Iterable[Html]:
        for name in panels:
            try:
                yield _figure(record, material, name)
            except NoMatplotlib:
                raise
            except FolderError as error:
                left.append(f"{name} is not drawn: {error}.")

    try:
        return list(islice(each(), most)), left
    except NoMatplotlib as error:
        return [], [f"There are no pictures: {error}."]


def _figure(record: RunRecord | SweepRecord, material: Material, name: str) -> Html:
    figure, caption = draw(Request(material, (name,)))
    title, *words = caption[:-1]  # the last line names the folder, which the page does, too
    said = " ".join(words)
    place = sha256(f"{record.path} {name}".encode()).hexdigest()[:12]
    shown = inline(canvas().image(figure, "svg"), f"picture-{place}", title, said)
    if len(shown) > _MOST_LETTERS:
        points = b64encode(canvas().image(figure, "png")).decode()
        shown = tag("img", src=f"data:image/png;base64,{points}", alt=f"{title} {said}")
    return tag("figure", shown, tag("figcaption", said))
