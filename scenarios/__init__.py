"""Which world, how it is run, and who watches. Part of hush."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scenarios.api.opened_folder import DamagedRun
    from scenarios.api.result import InterruptedRun, open_run
    from scenarios.api.runs import check, run, run_sync
    from scenarios.api.sweep_result import open_sweep
    from scenarios.experiments.python_sweep import sweep

__all__ = [
    "DamagedRun",
    "InterruptedRun",
    "check",
    "open_run",
    "open_sweep",
    "run",
    "run_sync",
    "sweep",
]

_HOMES = {
    "scenarios.api.opened_folder": ("DamagedRun",),
    "scenarios.api.result": ("InterruptedRun", "open_run"),
    "scenarios.api.runs": ("check", "run", "run_sync"),
    "scenarios.api.sweep_result": ("open_sweep",),
    "scenarios.experiments.python_sweep": ("sweep",),
}
"""Which module each name comes from."""


def __getattr__(name: str) -> Any:
    """Load the interface only when it is asked for: `hush --help` must not pay for NumPy."""
    for home, names in _HOMES.items():
        if name in names:
            from importlib import import_module

            return getattr(import_module(home), name)
    raise AttributeError(f"module 'scenarios' has no attribute {name!r}")
