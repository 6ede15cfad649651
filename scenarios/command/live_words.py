"""How a run is shown, and what is said before anything that takes time is loaded."""

import argparse
from collections.abc import Sequence

from scenarios.console.screens.terminal import can_be_full, is_dumb, is_interactive
from scenarios.language.problems import ScenarioError
from scenarios.language.visible_text import say
from scenarios.planning.check_scenario import CheckedScenario

_MANY = 2000
"""So many agents take a noticeable time to be built."""


def how_shown(chosen: argparse.Namespace) -> str:
    """Return `full`, `lines`, `json` or `off`; raise `ScenarioError` for a screen where there is no terminal."""
    if chosen.quiet:
        return "off"
    if chosen.live in {"lines", "json", "off"}:
        return str(chosen.live)
    if chosen.live == "full" and not can_be_full(asked=True):
        problem = "needs a terminal: keys and screen; lines goes anywhere"
        raise ScenarioError.of("--live full", problem)
    return "full" if chosen.live == "full" or can_be_full() else "lines"


def announce(chosen: argparse.Namespace, scenarios: Sequence[CheckedScenario]) -> None:
    """Say on standard error why there is no screen, or how many agents are built, where that takes a while."""
    if chosen.live == "auto" and not chosen.quiet and is_interactive() and is_dumb():
        say(
            "hush: this terminal has no screen to draw on (TERM): the run is told in lines",
            error=True,
        )
    count = sum(group.count for one in scenarios for group in one.read.nodes)
    if count >= _MANY and how_shown(chosen) == "full":
        say(f"hush: building {count:,} agents …", error=True)
