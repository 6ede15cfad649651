"""Every kind of event has words, and the same ones wherever lines of events are written."""

from typing import Any

import msgspec
import pytest

from actors.events import KINDS, Event
from scenarios.console.sources.feed import line_of
from scenarios.records.event_words import PHRASES, Background, kind_of, phrase, sentence
from scenarios.running.observers.progress_lines import TOLD, Lines

VALUES: dict[str, Any] = {
    "values": {},
    "cause": None,
    "spend": None,
    "cap": 8.0,
    "spent": 7.5,
    "charged": 0.5,
    "resent": False,
}


def some(kind: type[Event]) -> Event:
    """Make an event of a kind: numbers are 1, lists hold 1."""
    fields: dict[str, Any] = {}
    for field in msgspec.structs.fields(kind):
        text = str(field.type)
        if field.name in VALUES:
            fields[field.name] = VALUES[field.name]
        else:
            fields[field.name] = "why" if "str" in text else [1] if "Sequence" in text else 1
    return kind(**fields)


def test_every_kind_has_a_phrase() -> None:
    assert set(PHRASES) == set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_a_phrase_stands_in_every_line_and_an_explanation_has_its_own_words(
    kind: type[Event],
) -> None:
    event = some(kind)
    words = phrase(event, str)
    assert line_of(event, 5)[0].endswith(words)
    assert kind_of(event) in line_of(event, 5)[0]
    recorded = msgspec.to_builtins(event) | {"kind": kind_of(event)}
    assert sentence(recorded, Background(["dusk", "dawn"]))
    if kind in TOLD:
        lines: list[str] = []
        Lines(None, lines.append, str, as_json=False).tell(event)  # type: ignore[arg-type] # no sample is told
        assert lines[0].endswith(f"agent 1 {words}".rstrip())
