"""The verb `trace`: import what others measured, with a report of what is wrong with it."""

import argparse
from pathlib import Path
from typing import Any

from scenarios.language.problems import ScenarioError
from scenarios.language.visible_text import say, say_json, visible
from scenarios.planning.files import BadData
from scenarios.planning.traces import REPAIRS, Hygiene, Imported
from scenarios.records.whole_file import write_new


def perform(chosen: argparse.Namespace) -> int:
    """Import a trace; return 2 where its values cannot be used, and nothing is written then."""
    match chosen.what:
        case "import":
            return _import(chosen)
        case what:
            raise NotImplementedError(f"nothing is done with traces by {what!r}")


def _import(chosen: argparse.Namespace) -> int:
    from scenarios.planning.traces.reading import read_trace

    repairs = frozenset(part for word in chosen.repair for part in word.split(",") if part)
    for name in sorted(repairs - set(REPAIRS)):
        raise ScenarioError.of(f"--repair {name}", f"known: {', '.join(REPAIRS)}")
    out = None if chosen.out is None else Path(chosen.out)
    if out is not None and out.exists():
        raise ScenarioError.of(chosen.out, "exists already: nothing was written")
    try:
        trace = read_trace(
            Path(chosen.file),
            chosen.kind,
            Hygiene(repairs),
            unit=chosen.unit,
            halve=chosen.rtt,
            needs=tuple(chosen.needs.split(",")),
            from_start=chosen.from_start,
        )
    except BadData as error:
        raise ScenarioError.of(chosen.file, str(error)) from None
    usable = trace.hygiene.is_usable
    if (
        usable
        and out is not None
        and not write_new(out, "".join(f"{line}\n" for line in trace.lines))
    ):
        raise ScenarioError.of(chosen.out, "exists already: nothing was written")
    written = out if usable else None
    if chosen.json:
        say_json(_as_json(trace, written))
    else:
        say(*_in_words(trace, written))
    if not usable:
        said = "values cannot be used as they are: nothing was written"
        raise ScenarioError.of(chosen.file, said)
    return 0


def _as_json(trace: Imported, out: Path | None) -> dict[str, Any]:
    return {
        "kind": trace.kind,
        "usable": trace.hygiene.is_usable,
        "facts": trace.hygiene.facts,
        "flaws": [flaw.as_json() for flaw in trace.hygiene.flaws],
        "out": None if out is None else str(out),
    }


def _in_words(trace: Imported, out: Path | None) -> list[str]:
    lines = [f"{trace.kind}: " + ", ".join(_fact(*item) for item in trace.hygiene.facts.items())]
    lines += [f"  {flaw.in_words()}" for flaw in trace.hygiene.flaws] or ["  no flaw was found"]
    if out is not None:
        lines += ["", f"{visible(str(out))} is written; a scenario in its folder uses it by", ""]
        lines += [f"  {line}" for line in trace.usage.format(visible(out.name)).split("\n")]
    return lines


def _fact(name: str, value: Any) -> str:
    words = name.removesuffix("_s").replace("_", " ")
    unit = " s" if name.endswith("_s") else ""
    return f"{words} {value:.4g}{unit}" if isinstance(value, float) else f"{words} {value}"
