"""The verb `reproduce`: the papers' claims, judged by runs."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from scenarios.command.option_values import named_folders
from scenarios.language.problems import ScenarioError, nearest
from scenarios.language.visible_text import say, say_json

if TYPE_CHECKING:
    from scenarios.command.sweep import Progress
    from scenarios.experiments.sweep import Watcher
    from scenarios.reproduction.claim import Claim, Experiment
    from scenarios.reproduction.results import ClaimResult

DIFFERS = 1
"""The exit code where a verdict contradicts the one that comes with hush."""
_INDENT = "    "


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
    if not words:
        return list(claims)
    found: dict[str, Claim] = {}
    for word in words:
        mine = [
            claim
            for claim in claims
            if word in {claim.name, claim.paper} or claim.name.startswith(f"{word}-")
        ]
        if not mine:
            names = [*dict.fromkeys(claim.paper for claim in claims), *(c.name for c in claims)]
            raise ScenarioError.of("", f"no claim or paper '{word}'; {nearest(word, names)}")
        found |= {claim.name: claim for claim in mine}
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
        say(f"{claim.name:<{width}}  {verdict:<13}  {claim.place}: {claim.statement}")


def _reproduce(chosen: argparse.Namespace, claims: "list[Claim]") -> int:
    from scenarios.pictures.draw import NoMatplotlib
    from scenarios.planning.context import Options
    from scenarios.records.run_folder import lock_folder
    from scenarios.reproduction.page import FOLDER, page, write_pictures
    from scenarios.reproduction.perform import Means, reproduce
    from scenarios.reproduction.results import FILE, KEPT, collected, contradictions, read, write

    if chosen.quick and not any(claim.is_quick for claim in claims):
        raise ScenarioError.of("--quick", "none of these claims is quick: leave it out")
    out = Path(chosen.out or "runs/reproduction")
    options = Options(folders=named_folders(chosen))
    told = _Told(quiet=chosen.quiet or chosen.json)
    results: list[ClaimResult] = []
    with lock_folder([out], lambda _: None) as folder:
        means = Means(options, folder, chosen.jobs, quick=chosen.quick)
        try:
            for result in reproduce(claims, means, told):
                results.append(result)
                write(collected(results, quick=chosen.quick), folder / FILE)
        except KeyboardInterrupt:
            told.close()
            said = f"interrupted: {len(results)} of {len(claims)} claims are judged; the same command goes on"
            raise KeyboardInterrupt(said) from None
        finally:
            told.close()
        everything = collected(results, quick=chosen.quick)
        (folder / "reproduction.md").write_text(page(everything), encoding="utf-8")
        try:
            write_pictures(everything, folder / FOLDER)
        except NoMatplotlib as missing:
            say(f"hush: no pictures: {missing}", error=True)
    differ = contradictions(results, read(KEPT))
    if chosen.json:
        import msgspec

        say_json(msgspec.to_builtins(everything))
    elif not chosen.quiet:
        counts = (f"{everything.count(v)} {v}" for v in ("holds", "does not hold", "undecided"))
        say("", f"{len(results)} claims: {', '.join(counts)}")
        say(f"{folder / 'reproduction.md'} has the evidence, {folder / FOLDER} the pictures")
    for name in differ:
        say(f"hush: {name}: the verdict contradicts the one that comes with hush", error=True)
    return DIFFERS if differ else 0


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
        say(f"{result.name}: {result.verdict}", f"{_INDENT}{result.place}: {result.statement}")
        say(*(f"{_INDENT}{found}" for found in result.found))
        if result.reason is not None:
            say(f"{_INDENT}reason: {result.reason.cause}: {result.reason.words}")
        if result.decides:
            say(f"{_INDENT}what would decide it: {result.decides}")

    def close(self) -> None:
        """End the line that is rewritten."""
        if self._progress is not None:
            self._progress.close()
            self._progress = None
