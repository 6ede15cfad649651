"""How functions are compiled: by numba, once for each machine; the result is kept beside the code, or in the user's cache."""

from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

from numba import njit
from numba.extending import intrinsic

Function = TypeVar("Function", bound=Callable[..., Any])

LOOSE = frozenset({"reassoc", "contract", "arcp", "nsz"})
"""Sums may be taken in any order, so that several numbers are added at once."""
FUSED = frozenset({"contract"})
"""A product and a sum may be rounded once."""
_Flags = frozenset[str]


def _forget_old_code() -> None:
    """Remove compiled code that is older than any source it is made of: numba looks only at the file of each function itself.

    Beside the files here those are the layout of rows and the tables of durations, whose numbers are compiled in.
    """
    here = Path(__file__).parent
    compiled_in = (find_spec(name) for name in ("actors.turns", "clocks.durations"))
    others = (Path(spec.origin) for spec in compiled_in if spec is not None and spec.origin)
    sources = (*here.glob("*.py"), *others)
    newest = max(source.stat().st_mtime_ns for source in sources)
    with suppress(
        OSError
    ):  # a place that cannot be written to holds no such code, or was never changed
        for kept in (here / "__pycache__").glob("*.nb[ci]"):
            if kept.stat().st_mtime_ns < newest:
                kept.unlink()


_forget_old_code()


def compiled(flags: _Flags = frozenset()) -> Callable[[Function], Function]:
    """Return what compiles a function; `flags` say how far arithmetic may differ from IEEE 754.

    Compiled functions work on arrays that the caller holds: none of them takes memory, and so none counts references.
    """

    def compile_it(function: Function) -> Function:
        made: Any = njit(cache=True, _nrt=False, fastmath=set(flags))  # type: ignore[call-overload] # it has this option
        ready: Function = made(function)
        return ready

    return compile_it


def instruction(make: Callable[..., Any]) -> Any:
    """Return an instruction for compiled functions, which is made of instructions of the processor (see numba's `intrinsic`)."""
    return intrinsic(make)
