"""The Python interface of hush: `run`, `run_sync`, `check`, `open_run`, `sweep`, `open_sweep`, and two warnings.

The names are loaded when they are first used, so `import hush` loads no NumPy. The pytest plugin stands in
this package, so `import hush` must also succeed in a project whose own folders shadow the packages below.
"""

from typing import TYPE_CHECKING, Any

from hush.packages import shadowed

if TYPE_CHECKING:
    from scenarios import (
        DamagedRun,
        InterruptedRun,
        check,
        open_run,
        open_sweep,
        run,
        run_sync,
        sweep,
    )

    __version__: str

__all__ = [
    "DamagedRun",
    "InterruptedRun",
    "__version__",
    "check",
    "open_run",
    "open_sweep",
    "run",
    "run_sync",
    "sweep",
]


def __getattr__(name: str) -> Any:
    """Return a name of the interface; raise ImportError where another package shadows one of ours."""
    if name not in __all__:
        raise AttributeError(f"module 'hush' has no attribute {name!r}")
    sentence = shadowed()
    if sentence is not None:
        raise ImportError(sentence)
    if name == "__version__":
        from scenarios.records.run_folder import version

        return version()
    import scenarios

    return getattr(scenarios, name)
