"""The verb `reproduce`: the papers' claims, judged by runs."""

import argparse
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from scenarios.command.option_values import named_folders
from scenarios.language.problems import ScenarioError
from scenarios.language.visible_text import say, say_json
from scenarios.records.whole_file import write_whole

if TYPE_CHECKING:
    from scenarios.command.sweep import Progress
    from scenarios.experiments.sweep import Watcher
    from scenarios.reproduction.claim import Claim, Experiment
    from scenarios.reproduction.results import ClaimResult

DIFFERS = 1
"""The exit code where a verdict contradicts the one that comes with hush."""
_INDENT = "    "
_OUT, _PAGE = "runs/reproduction", "reproduction.md"


def perform(chosen: argparse.Namespace) -> int:
    """Judge the claims that were asked for, and write results, page and pictures; return the exit code."""
    from scenarios.reproduction.claim import in_order

    claims = _chosen(chosen.claim, in_order())
    if chosen.list:
        _list(claims, as_json=chosen.json)
        return 0
    return _reproduce(chosen, claims)


def _chosen(words: Sequence[str], claims: "Sequence[Claim]") -> "list[Claim]":
    """Return the claims that some words name: papers, claims, or beginnings of their names up to a hyphen."""
    from scenarios.reproduction.papers import PAPERS

    if not words:
        return list(claims)
    found: set[str] = set()
    for word in words:
        if word in PAPERS:
            mine = [claim.name for claim in claims if claim.paper == word]
        else:
            mine = [c.name for c in claims if c.name == word or c.name.startswith(f"{word}-")]
        if not mine:
            near = get_close_matches(word, [*PAPERS, *(c.name for c in claims)], 1, 0.5)
            hint = f"did you mean '{near[0]}'? " if near else ""
            said = f"no claim or paper '{word}'; {hint}papers are {', '.join(PAPERS)}; `hush reproduce --list` has every claim"
            raise ScenarioError.of("", said)
        found.update(mine)
    return [claim for claim in claims if claim.name in found]


def _list(claims: "Sequence[Claim]", *, as_json: bool) -> None:
    from scenarios.reproduction.papers import PAPERS
    from scenarios.reproduction.results import KEPT, read

    kept = {claim.name: claim.verdict for claim in read(KEPT).claims}
    if as_json:
        say_json(
            [
                {
                    "name": c.name,
                    "paper": PAPERS[c.paper].cited,
                    "place": c.place,
                    "statement": c.statement,
                    "reading": c.reading,
                    "standing": c.standing,
                    "quick": c.is_quick,
                    "verdict": kept.get(c.name),
                }
                for c in claims
            ]
        )
        return
    width = max(len(claim.name) for claim in claims)
    for claim in claims:
        verdict = kept.get(claim.name, "not judged")
        say(f"{claim.name:<{width}}  {verdict:<13}  {claim.place}: {claim.as_read}")


def _reproduce(chosen: argparse.Namespace, claims: "list[Claim]") -> int:
    from scenarios.pictures.draw import NoMatplotlib
    from scenarios.planning.context import Options
    from scenarios.records.run_folder import lock_folder
    from scenarios.reproduction.page import FOLDER, in_short, page, write_pictures
    from scenarios.reproduction.perform import Means, reproduce
    from scenarios.reproduction.results import FILE, KEPT, collected, contradictions, read, write

    wanted = _quick_ones(claims, told=not chosen.quiet) if chosen.quick else claims
    out = Path(chosen.out or _OUT + ("-quick" if chosen.quick else ""))
    options = Options(folders=named_folders(chosen))
    told = _Told(quiet=chosen.quiet or chosen.json)
    results: list[ClaimResult] = []
    with lock_folder([out], _refuse_foreign) as folder:
        before = _before(folder / FILE, quick=chosen.quick)
        means = Means(options, folder, chosen.jobs, quick=chosen.quick)
        try:
            for result in reproduce(wanted, means, told):
                results.append(result)
                everything = collected([*before, *results], quick=chosen.quick)
                write(everything, folder / FILE)
        except KeyboardInterrupt:
            told.close()
            said = f"interrupted: {len(results)} of {len(wanted)} claims are judged; the same command goes on"
            raise KeyboardInterrupt(said) from None
        finally:
            told.close()
        everything = collected([*before, *results], quick=chosen.quick)
        write_whole(folder / _PAGE, page(everything))
        pictures = ""
        try:
            if write_pictures(everything, folder / FOLDER):
                pictures = f", {folder / FOLDER} the pictures"
        except NoMatplotlib as missing:
            say(f"hush: no pictures: {missing}", error=True)
    differ = contradictions(results, read(KEPT))
    if chosen.json:
        import msgspec

        say_json(msgspec.to_builtins(collected(results, quick=chosen.quick)))
    elif not chosen.quiet:
        say("", f"claims: {in_short(collected(results, quick=chosen.quick).sentences)}")
        say(f"{folder / _PAGE} has the evidence{pictures}")
    for name in differ:
        say(f"hush: {name}: the verdict contradicts the one that comes with hush", error=True)
    return DIFFERS if differ else 0


def _quick_ones(claims: "list[Claim]", *, told: bool) -> "list[Claim]":
    """Return the claims that a quick run judges. Raises `ScenarioError` where there is none."""
    quick = [claim for claim in claims if claim.is_quick]
    if not quick:
        raise ScenarioError.of("--quick", "none of these claims is quick: leave it out")
    if told and len(quick) < len(claims):
        say(
            f"{len(claims) - len(quick)} of {len(claims)} claims take longer: --quick leaves them out"
        )
    return quick


def _refuse_foreign(folder: Path) -> None:
    """Raise `FolderError` where a folder holds something else, or something stands where results go."""
    from scenarios.records.folder_error import FolderError
    from scenarios.reproduction.page import FOLDER
    from scenarios.reproduction.perform import SWEEPS
    from scenarios.reproduction.results import FILE

    held = {path.name for path in folder.iterdir()}
    if held and not held & {FILE, SWEEPS}:
        raise FolderError(
            f"{folder} is not empty, and holds no results of claims: nothing was written"
        )
    for name, wrong in (
        (FILE, Path.is_dir),
        (_PAGE, Path.is_dir),
        (FOLDER, Path.is_file),
        (SWEEPS, Path.is_file),
    ):
        if wrong(folder / name):
            what = "a folder" if wrong is Path.is_dir else "a file"
            raise FolderError(
                f"{folder / name} is {what}, and results go there: nothing was written"
            )


def _before(file: Path, *, quick: bool) -> "list[ClaimResult]":
    """Return the results that a folder holds of earlier calls, of claims that there still are.

    Raises `FolderError` where they were quick and these are not, or the other way round.
    """
    from scenarios.records.folder_error import FolderError
    from scenarios.reproduction.claim import CLAIMS
    from scenarios.reproduction.results import read

    if not file.is_file():
        return []
    held = read(file)
    if held.quick != quick:
        what = "quick results" if held.quick else "results of whole sweeps"
        raise FolderError(f"{file.parent} holds {what}: choose another --out")
    return [result for result in held.claims if result.name in CLAIMS]


class _Told:
    """Tells of sweeps in one line that is rewritten, and of verdicts in lines that stay."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._progress: Progress | None = None

    def begin(self, experiment: "Experiment", number: int, count: int) -> "Watcher":
        from scenarios.command.sweep import Progress, RewrittenLine, is_terminal

        if not self._quiet:
            say(f"sweep {number} of {count}: {experiment.scenario}")
        shows = is_terminal() and not self._quiet
        self._progress = RewrittenLine() if shows else Progress()
        return self._progress

    def end(self) -> None:
        self.close()

    def judge(self, result: "ClaimResult") -> None:
        if self._quiet:
            return
        say(f"{result.name}: {result.verdict}", f"{_INDENT}{result.place}: {result.as_read}")
        say(*(f"{_INDENT}{found}" for found in result.found))
        if result.reason is not None:
            say(f"{_INDENT}reason: {result.reason.cause}: {result.reason.words}")
        if result.decides and result.decides not in result.found[0]:
            say(f"{_INDENT}what would decide it: {result.decides}")

    def close(self) -> None:
        """End the line that is rewritten."""
        if self._progress is not None:
            self._progress.close()
            self._progress = None
