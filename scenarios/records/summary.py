"""The verdict of a run and its exit code, by `summary.json`; and the scenario in full, with what the run chose."""

from collections.abc import Collection, Iterable
from typing import Any

from mechanisms.accounting.compose import TIGHTEST
from scenarios.language.writer import to_toml

Values = dict[str, Any]

BY_HAND = "a person steered this run and may have read data, so who took part depends on them"
"""Why ε does not cover a run that a person steered."""
EXITS = {"pass": 0, "unknown": 4, "fail": 1, "diverged": 1}
"""The verdict of a run, and the exit code that it ends with."""


def verdict_of(states: Iterable[str], verdicts: Collection[str]) -> str:
    """Judge a run by its agents' states and by its expectations, the worst first."""
    members = set(states) - {"absent"}
    if members == {"diverged"}:
        return "diverged"
    return next((worst for worst in ("fail", "unknown") if worst in verdicts), "pass")


def with_headline(tree: Values, summary: Values) -> str:
    """Write a scenario in full, and what accountant "tightest" was in this run."""
    text = to_toml(tree)
    if not summary:
        return text
    was = summary["epsilon"]
    if tree["privacy"]["accountant"] == TIGHTEST:
        text += f'# privacy.accountant: "tightest" was {was["accountant"]}\n'
    if was["calibrated"] is not None:
        text += f'# privacy.calibrate: "tightest" was {was["calibrated"]}\n'
    return text


def settled(summary: Values) -> int:
    """Return the exit code of what one run can judge: what is judged over seeds is left out."""
    verdicts = {e["verdict"] for e in summary.get("expectations", []) if not e.get("over")}
    return EXITS[verdict_of((node["state"] for node in summary.get("nodes", [])), verdicts)]
