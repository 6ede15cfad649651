"""What Python is told of a scenario that cannot run."""

import traceback
from collections.abc import Callable

import pytest

from hush import run_sync, sweep
from scenarios.language.problems import ScenarioError

CALLS: dict[str, Callable[[], object]] = {
    "run_sync": lambda: run_sync("ring5-dropuot"),
    "run_sync, a key": lambda: run_sync("ring5-dropout", set={"network.lsos": 0.1}),
    "sweep": lambda: sweep("ring5-dropuot", seeds=range(2)),
}


@pytest.mark.parametrize("call", CALLS)
def test_an_error_of_a_call_without_an_event_loop_speaks_of_nothing_else(call: str) -> None:
    """`no running event loop … During handling of the above exception` stood above it."""
    with pytest.raises(ScenarioError) as caught:
        CALLS[call]()
    written = "".join(traceback.format_exception(caught.value))
    assert "During handling" not in written
    assert "event loop" not in written
    assert caught.value.__context__ is None
