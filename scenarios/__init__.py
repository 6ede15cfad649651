"""Which world, how it is run, and who watches. Part of hush."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scenarios.api import InterruptedRun, check, open_run, run, run_sync

__all__ = ["InterruptedRun", "check", "open_run", "run", "run_sync"]


def __getattr__(name: str) -> Any:
    """Load the interface only when it is asked for: `hush --help` must not pay for NumPy."""
    if name in __all__:
        from scenarios import api

        return getattr(api, name)
    raise AttributeError(f"module 'scenarios' has no attribute {name!r}")
