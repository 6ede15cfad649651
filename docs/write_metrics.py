"""Write the metrics and the accountants into docs/reference.md from their records.

python docs/write_metrics.py
"""

import re
from collections.abc import Iterable
from pathlib import Path

from scenarios.planning.accountant import KINDS, AccountantKind, named
from scenarios.planning.metric import Metric, Taken
from scenarios.planning.metric_names import ordered

PAGE = Path(__file__).parents[1] / "docs/reference.md"


def _metrics(title: str, metrics: Iterable[Metric]) -> str:
    again = "; at the end, where an expectation asks for it (section 8)"
    rows = [
        f"| `{metric.name}` | {metric.words}{again if metric.taken is Taken.AGAIN else ''} |"
        for metric in metrics
    ]
    return "\n".join([f"| {title} | |", "| --- | --- |", *rows])


def _accountant(kind: AccountantKind) -> str:
    keys = {
        "accountant": kind.is_headline,
        "calibrate": kind.calibrates,
        "filter": kind.is_filter,
    }
    names = ", ".join(f"`{key}`" for key, may in keys.items() if may) or "none"
    return f"| `{kind.name}` | {kind.words} | {names} |"


def page(text: str) -> str:
    """Return the page with its tables written anew."""
    agents = _metrics("of each agent", (m for m in ordered() if m.per_agent))
    network = _metrics("of the network", (m for m in ordered() if not m.per_agent))
    rows = [_accountant(KINDS[name]) for name in named(lambda _: True)]
    head = [
        "| accountant | composes by | keys of `[privacy]` that may name it |",
        "| --- | --- | --- |",
    ]
    tables = {"metrics": f"{agents}\n\n{network}", "accountants": "\n".join([*head, *rows])}
    for what, table in tables.items():
        parts = re.fullmatch(
            f"(.*<!-- {what}: [^\\n]*\\n).*(<!-- end of {what} -->.*)", text, re.DOTALL
        )
        if parts is None:
            raise ValueError(f"{PAGE.name} has no place for {what}")
        text = f"{parts[1]}\n{table}\n\n{parts[2]}"
    return text


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text("utf-8")), "utf-8")
