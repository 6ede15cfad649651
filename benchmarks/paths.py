"""What `auto` costs beside the cheaper of the two paths, over random worlds and those of the library."""

import math
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.measuring import Setting
from benchmarks.report import Row

_LIMIT = 1.05
"""`auto` is to cost at most so many times what the cheaper path does."""
_SEED, _TIMES, _FEWEST, _FAR = 23, 5, 200, 20


def measure(setting: Setting, name: str, worlds: int) -> Iterator[Row]:
    """Yield the median and the largest of these ratios, and how many are above the limit.

    A cost is a slope: the processor time of the event loop between one horizon and one that is `_FAR` times as far, the least
    of five for each. Worlds with few wakes between them say nothing, nor do those where events are the only path.
    """
    ratios: dict[str, float] = {}
    count = 4 if setting.quick else worlds
    for label, tree in _worlds(count):
        found = _ratio(tree, 1 if setting.quick else _TIMES)
        if found is not None:
            ratios[label] = found
    values = sorted(ratios.values())
    above = sum(value > _LIMIT for value in values)
    worst = max(ratios, key=lambda label: ratios[label])
    what = "auto over the cheaper path"
    yield Row(f"{name}/median", f"{what}: median of {len(values)} worlds", "×", median(values))
    yield Row(f"{name}/largest", f"{what}: the largest, of {worst}", "×", values[-1])
    yield Row(f"{name}/above", f"{what}: worlds above {_LIMIT:g}", "worlds", float(above))


def _worlds(count: int) -> Iterator[tuple[str, Any]]:
    from scenarios.experiments.random_worlds import Dice, small_world

    for number in range(count):
        yield f"random {number}", small_world(Dice(_SEED, number))
    library = Path(__file__).parent.parent / "scenarios" / "library"
    for path in sorted(library.glob("*.toml"))[: count // 4]:
        yield path.stem, path


def _ratio(tree: Any, times: int) -> float | None:
    """Return what auto costs over the cheaper path; None where a world has no horizon to move, has few wakes or one path, or fails."""
    from benchmarks import hush_runs
    from scenarios.api.runs import make_plan
    from scenarios.language.problems import ScenarioError
    from scenarios.planning.wake_paths import obstacle_to_columns

    try:
        short = make_plan(tree, allow_large=True)
        if short.horizon is None:
            return None
        seconds = short.horizon / 1e9
        long = make_plan(tree, allow_large=True, until=_FAR * seconds)
    except ScenarioError:
        return None
    if obstacle_to_columns(short):
        return None
    paths = ["auto", "events", "columns"]
    least = dict.fromkeys([(path, plan) for path in paths for plan in (0, 1)], math.inf)
    wakes = [0, 0]
    for _, path, number in product(range(times), paths, (0, 1)):
        try:
            ran = hush_runs.execute(hush_runs.on_path((short, long)[number], path))
        except SystemExit:
            return None
        wakes[number] = ran.run.members.updates
        least[path, number] = min(least[path, number], ran.loop)
    if wakes[1] - wakes[0] < _FEWEST:
        return None
    slopes = {path: least[path, 1] - least[path, 0] for path in paths}
    cheaper = min(slopes[path] for path in paths if path != "auto")
    return slopes["auto"] / cheaper if cheaper > 0 else None
