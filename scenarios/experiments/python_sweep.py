"""`sweep` as scripts call it."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from scenarios.api.opened_folder import DamagedRun
from scenarios.api.runs import Scenario, has_loop, names_options, temporary_folder
from scenarios.api.sweep_result import Sweep
from scenarios.experiments.cells import Done
from scenarios.experiments.grid import Setting
from scenarios.experiments.orders import Wishes, order_of
from scenarios.experiments.sweep import Sweeping, sweep_folder
from scenarios.language.visible_text import visible
from scenarios.planning.context import Options
from scenarios.planning.files import data_folders
from scenarios.planning.wake_paths import AUTO
from scenarios.records.run_folder import folder_named
from scenarios.running.worker_processes import checksum


class _Unwatched:
    def begin(self, cells: int, known: int) -> None: ...

    def refuse(self, words: str) -> None:
        warnings.warn(visible(words), DamagedRun, stacklevel=4)

    def note(self, setting: Setting, seed: int, done: Done) -> None: ...

    def stop(self, cells: int) -> None: ...


@names_options
def sweep(
    scenario: Scenario | Sequence[Scenario] = "quickstart",
    *,
    grid: Mapping[str, Sequence[Any]] | None = None,
    seeds: str | Iterable[int] | None = None,
    zip: Sequence[Sequence[str]] | None = None,  # noqa: A002 # the contract's name
    choose: Mapping[str, Any] | None = None,
    race: str | None = None,
    metrics: Sequence[str] = (),
    curves: bool = False,
    jobs: int | None = None,
    cluster: str | None = None,
    out: str | Path | None = None,
    set: Mapping[str, Any] | None = None,  # noqa: A002 # the contract's name
    data: Any = None,
    graph: Any = None,
    folders: Iterable[str | Path] = (),
    allow_code: bool = False,
    allow_large: bool = False,
    path: str = AUTO,
) -> Sweep:
    """Run scenarios under every setting of a grid and every seed, and return the sweep; a finished run is not run twice.

    `scenario` is a name, a path or a dict, or a list of them. `grid` holds, for each dotted key, the values that it takes;
    `seeds` are numbers or "0..9"; `zip` names groups of keys that vary together; `choose` holds the keys of [sweep] choose;
    `race` is the metric by which settings that cannot win any more are stopped; `metrics` are the columns of the table,
    such as "loss.p90" (default: the usual ones); with `curves` every sample of them is written, too. What is left out is
    what the [sweep] of the scenario says. `jobs` are the processes (default: one for each core); `cluster` is the address
    of a Dask scheduler that is used instead. `out` is the folder: where it holds a part of this sweep already, that part is
    not run again; without it the folder is temporary, and goes when Python ends. The other options are those of `run`.

    Raises `ScenarioError` with what is wrong with any setting, before anything runs, and `FolderError` where the folder
    cannot be had. What goes wrong with a single run is told in its row.
    """
    several = [scenario] if isinstance(scenario, (str, Path, Mapping)) else list(scenario)
    options = Options(
        folders=(*(Path(folder).resolve() for folder in folders), *data_folders()),
        allow_code=allow_code,
        allow_large=allow_large,
        data=data,
        graph=graph,
        path=path,
    )
    wishes = Wishes(
        grid=grid,
        zips=zip,
        seeds=list(seeds) if isinstance(seeds, Iterable) and not isinstance(seeds, str) else seeds,
        metrics=metrics,
        choose=choose,
        race=race,
        curves=curves,
    )
    given = "" if data is None and graph is None else checksum((data, graph))
    order = order_of(several, set or {}, options, wishes, jobs=jobs, cluster=cluster, given=given)
    sweeping = Sweeping(order, here=not has_loop())
    place = temporary_folder("sweep") if out is None else folder_named(str(out))
    with sweep_folder([place], new=False) as folder:
        code = sweeping.perform(folder, _Unwatched())
    return Sweep(folder, code, temporary=out is None)
