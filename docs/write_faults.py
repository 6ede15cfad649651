"""Write the tables of actions into docs/faults.md from the modules of their records.

python docs/write_faults.py
"""

import inspect
import re
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

from scenarios.language.table_rules import keys_of
from scenarios.planning.fault_kinds import FaultKind, fault_kinds

PAGE = Path(__file__).parents[1] / "docs/faults.md"


def _usage(kind: FaultKind[Any]) -> str:
    if kind.table is None:
        return f"{kind.name} = {'T' if kind.on == 'agents' else 'L'}"
    return f"{kind.name} = {{ {', '.join(keys_of(kind.table))} }}"


def _words(kind: FaultKind[Any]) -> str:
    """Return what the module of a record says after the name."""
    module = import_module(f"scenarios.planning.faults.{kind.name}")
    words = inspect.getdoc(module) or ""
    return " ".join(words.split()).removeprefix(f"{kind.name}: ").rstrip(".")


def _table(title: str, kinds: Iterable[FaultKind[Any]]) -> str:
    rows = [f"| `{_usage(kind)}` | {_words(kind)} |" for kind in kinds]
    return "\n".join([f"| {title} | |", "| --- | --- |", *rows])


def page(text: str) -> str:
    """Return the page with its tables written anew."""
    agents = _table("action on agents", (k for k in fault_kinds() if k.on == "agents"))
    links = _table("action on links", (k for k in fault_kinds() if k.on != "agents"))
    parts = re.fullmatch(
        r"(.*<!-- actions: [^\n]*\n).*(<!-- end of actions -->.*)", text, re.DOTALL
    )
    if parts is None:
        raise ValueError(f"{PAGE.name} has no place for actions")
    return f"{parts[1]}\n{agents}\n\n{links}\n\n{parts[2]}"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text("utf-8")), "utf-8")
