"""Words of the command line as values, and a plan of what they name."""

import argparse
import math
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scenarios.language.problems import ScenarioError
from scenarios.language.visible_text import say
from scenarios.planning.check_scenario import CheckedScenario, checked
from scenarios.planning.fallbacks import fallbacks
from scenarios.planning.scenario import load
from scenarios.planning.wake_paths import AUTO

if TYPE_CHECKING:
    from scenarios.planning.context import Options
    from scenarios.planning.plan import Plan
    from scenarios.records.reader import RunRecord


def agent_of(record: "RunRecord", agent: int | str) -> int:
    """Return the number of an agent that `--agent` names, the server by its word; raise `FolderError` where there is none."""
    from scenarios.records.folder_error import FolderError

    if isinstance(agent, int):
        return agent
    facts = record.facts
    if facts.seats == facts.size:
        raise FolderError(f"{record.path} has no server: agents run from 0 to {facts.size - 1}")
    return facts.size


def settings(pairs: list[str], option: str = "--set") -> dict[str, Any]:
    """Read `--set KEY=VALUE`, or another option of that form: a TOML value, else a text."""
    values = {}
    for pair in pairs:
        key, separator, value = pair.partition("=")
        if not separator or not key:
            raise ScenarioError.of(
                f"{option} {pair}", "must be KEY=VALUE, such as network.loss=0.1"
            )
        try:
            read = tomllib.loads(f"v = {value}")
            values[key.strip()] = read["v"] if set(read) == {"v"} else value
        except (tomllib.TOMLDecodeError, ValueError, RecursionError):
            values[key.strip()] = value
    return values


def seconds(text: str | None, option: str = "--until", *, zero: bool = False) -> float | None:
    """Read a duration of the command line; an instant may be 0."""
    if text is None:
        return None
    from scenarios.language.value_rules import number_of_seconds

    try:
        value = number_of_seconds(float(text) if _numeric(text) else text)
    except ValueError as error:
        raise ScenarioError.of(option, str(error)) from None
    if not 0 <= value < 9e9 or not (value or zero):
        least = ">= 0" if zero else "> 0"
        raise ScenarioError.of(option, f"must be {least} and finite, got {text}")
    return value


def _numeric(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def pace(text: str | None) -> float | None:
    """Read `--speed`: a number above 0, or max."""
    if text is None or text == "max":
        return None if text is None else math.inf
    if _numeric(text) and float(text) > 0:
        return float(text)
    raise ScenarioError.of("--speed", f"must be a number > 0 or max, got {text}")


def scenario_of(chosen: argparse.Namespace, name: str) -> CheckedScenario:
    """Read and check a scenario that a verb was asked for: nothing numeric is loaded for it.

    What fell back to defaults where `--set` named another kind is said on standard error.
    """
    read = load(name, settings(chosen.set))
    for told in fallbacks(read):
        say(f"hush: {told}", error=True)
    return checked(read)


def named_folders(chosen: argparse.Namespace) -> tuple[Path, ...]:
    """Return the folders that `--data` and the environment name."""
    from scenarios.planning.files import data_folders

    for folder in chosen.data:
        if not Path(folder).is_dir():
            raise ScenarioError.of(f"--data {folder}", "is not a folder")
    return (*map(Path, chosen.data), *data_folders())


def options_of(
    chosen: argparse.Namespace, *, until: float | None = None, engine: str | None = None
) -> "Options":
    """Return what the options of a verb add to a scenario."""
    from scenarios.planning.context import Options

    return Options(
        seed=getattr(chosen, "seed", None),
        until=until,
        engine=engine,
        folders=named_folders(chosen),
        allow_code=chosen.allow_code,
        allow_large=chosen.allow_large,
        path=getattr(chosen, "by_path", AUTO),
    )


def keywords_of(chosen: argparse.Namespace) -> dict[str, Any]:
    """Return the options of a verb as keywords of `make_plan`: other processes, and other seeds, make the plan again."""
    return {
        "set": settings(chosen.set),
        "folders": tuple(Path(p).resolve() for p in chosen.data),
        "allow_code": chosen.allow_code,
        "allow_large": chosen.allow_large,
        "path": chosen.by_path,
    }


def plan_of(
    chosen: argparse.Namespace,
    scenario: CheckedScenario,
    *,
    until: float | None = None,
    engine: str | None = None,
) -> "Plan":
    """Plan a scenario that was checked, with the options of a verb."""
    options = options_of(chosen, until=until, engine=engine)
    from scenarios.planning.planner import resolve

    return resolve(scenario, options)
