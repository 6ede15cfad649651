"""Scenario files as tests under pytest: `test_*.toml`, one item for each seed.

pytest loads this module in every project of an environment with hush. It therefore imports the packages of
hush only when a scenario is collected: a project may have a folder `scenarios` of its own. It may have TOML files of
its own, too, with names that begin with `test_`: what is no scenario is left alone.
"""

import contextlib
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hush.packages import shadowed


def pytest_addoption(parser: pytest.Parser) -> None:
    """Offer the seeds."""
    group = parser.getgroup("hush")
    group.addoption(
        "--scenario-seeds",
        metavar="A..B",
        help="run every scenario under these seeds, such as 0..99 (default: the file's own)",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Refuse seeds that are none before anything is collected."""
    text = config.getoption("--scenario-seeds", default=None)
    if text is not None:
        sentence = shadowed()
        if sentence is not None:
            raise pytest.UsageError(sentence)
        from scenarios.language.problems import ScenarioError
        from scenarios.planning.sweep_table import seeds_of

        try:
            seeds_of(text)
        except ScenarioError:
            said = f'--scenario-seeds must be such as "0..9", got {text}'
            raise pytest.UsageError(said) from None


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> "ScenarioFile | None":
    """Collect scenarios among the files `test_*.toml`, and among the TOML files that the command line names."""
    if file_path.suffix != ".toml":
        return None
    named = file_path.name.startswith("test_") or parent.session.isinitpath(file_path)
    ours = named and _is_scenario(file_path)
    return ScenarioFile.from_parent(parent, path=file_path) if ours else None


def _is_scenario(path: Path) -> bool:
    """Return whether a file has the keys that every scenario has: `schema`, and `nodes` or `extends`.

    Where TOML is broken, its lines are asked for the same keys: a scenario with a slip of the pen must not be left out
    in silence. A file that cannot be read has no keys.
    """
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return False
    try:
        keys = set(tomllib.loads(text))
    except (ValueError, RecursionError):
        keys = set(_KEY.findall(text))
    return "schema" in keys and not keys.isdisjoint({"nodes", "extends"})


_KEY = re.compile(r"^[ \t]*(?:\[\[?[ \t]*)?(schema|nodes|extends)\b", re.MULTILINE)
"""A line that gives a key of a scenario, or begins a table of it."""


class ScenarioFile(pytest.File):
    """One scenario file."""

    def collect(self) -> Iterator["ScenarioItem"]:
        """Yield an item for each seed, with the scenario's tags as markers."""
        sentence = shadowed()
        if sentence is not None:
            raise self.CollectError(sentence)
        from scenarios.experiments.scenario_tests import Case, cases_of, tags_of
        from scenarios.language.problems import ScenarioError
        from scenarios.planning.sweep_table import seeds_of

        text = self.config.getoption("--scenario-seeds")
        name = str(self.path)
        with contextlib.suppress(ValueError):
            name = str(self.path.relative_to(self.config.invocation_params.dir))
        verdicts: list[Any] = []
        try:
            markers = [_marker(self.config, tag) for tag in tags_of(name)]
            cases = cases_of(name, None if text is None else seeds_of(text))
            over = _is_judged_over_seeds(name)
        except ScenarioError:  # its one item says what is wrong
            markers, cases, over = [], [Case(name)], False
        for case in cases:
            label = "scenario" if case.seed is None else f"seed-{case.seed}"
            item = ScenarioItem.from_parent(self, name=label, case=case, verdicts=verdicts)
            for marker in markers:
                item.add_marker(marker)
            yield item
        if over:
            yield OverSeeds.from_parent(self, name="over-seeds", case=Case(name), verdicts=verdicts)


def _is_judged_over_seeds(name: str) -> bool:
    from scenarios.planning.scenario import load

    return any(expect.over for expect in load(name).read.expect)


def _marker(config: pytest.Config, tag: str) -> str:
    """Return a tag as a marker, made known where markers are strict."""
    marker = tag.replace("-", "_")
    config.addinivalue_line("markers", f"{marker}: a tag of a scenario")
    return marker


class ScenarioFailed(Exception):
    """A scenario did not hold; the lines say what to do next."""


class ScenarioItem(pytest.Item):
    """One scenario under one seed."""

    def __init__(self, *, case: Any, verdicts: list[Any], **more: Any) -> None:
        super().__init__(**more)
        self.case = case
        self.verdicts = verdicts

    def runtest(self) -> None:
        """Run it; whatever is not a pass fails."""
        from scenarios.experiments.scenario_tests import attempt

        verdict = attempt(self.case)
        self.verdicts.append(verdict)
        if verdict.code:
            raise ScenarioFailed("\n".join([f"{self.case.name}: {verdict.word}", *verdict.lines]))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Show the lines, no traceback: it is the scenario that failed."""
        if isinstance(excinfo.value, ScenarioFailed):
            from scenarios.language.visible_text import visible

            return "\n".join(map(visible, str(excinfo.value).split("\n")))
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        return self.path, 0, f"{self.case.name}"


class OverSeeds(ScenarioItem):
    """What a scenario expects of its mean over the seeds that ran."""

    def runtest(self) -> None:
        from scenarios.experiments.scenario_tests import over_seeds

        judged = over_seeds(self.verdicts)
        if not judged:
            raise ScenarioFailed("no seed was run: select the seeds, too")
        found = [verdict for verdict in judged if verdict.code]
        if found:
            raise ScenarioFailed("\n".join(line for verdict in found for line in verdict.lines))
