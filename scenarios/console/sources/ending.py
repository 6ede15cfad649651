"""How a run ended, in a few lines: when and why, and whether what its scenario expects came true."""

from collections.abc import Sequence
from typing import Any

from scenarios.console.drawing.styled_text import BAD, GOOD, WARN
from scenarios.language.json_numbers import show
from scenarios.records.summary_text import expectation_line

_STYLES = {"pass": GOOD, "fail": BAD, "unknown": WARN}
_MOST = 2


def ending(summary: dict[str, Any], message: str, folder: object) -> Sequence[tuple[str, str]]:
    """Tell a summary, or why there is none."""
    if not summary or message:
        return [(f"{message or 'nothing was judged'} · {folder}", BAD)]
    lines = [
        (
            f"{summary['status']} at {show(summary['ended_s'])} s ({summary['ended_by']}) · {folder}",
            WARN,
        )
    ]
    if summary.get("verdict") == "diverged":
        lines.append(("every agent diverged: what each computes is no number any more", BAD))
    expected = summary["expectations"]
    missed = [expectation for expectation in expected if expectation["verdict"] != "pass"]
    unfinished = summary["status"] == "interrupted"
    for expectation in missed[:_MOST]:
        text = expectation_line(expectation, unfinished=unfinished)
        lines.append((text, _STYLES[expectation["verdict"]]))
    if expected and not missed:
        so_far = " so far" if unfinished else ""
        lines.append((f"✓ all {len(expected)} expectations hold{so_far}", GOOD))
    elif len(missed) > _MOST:
        text, style = lines[-1]
        lines[-1] = f"{text}; and {len(missed) - _MOST} more of {len(expected)}", style
    return lines
