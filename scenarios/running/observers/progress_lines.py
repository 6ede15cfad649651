"""Lines for pipes and CI: one per stretch of time and one per fault; words, or JSON."""

import errno
import json
import time
from collections.abc import Callable
from typing import Any

from actors.events import (
    Crashed,
    Event,
    FaultBegan,
    FaultEnded,
    Finished,
    Joined,
    Left,
    Restarted,
    RoundAborted,
    Sampled,
    Violated,
)
from actors.log import Batch
from scenarios.language.json_numbers import number
from scenarios.language.null_reasons import UNMEASURED, nulls
from scenarios.planning.plan import Plan
from scenarios.records.event_words import kind_of, phrase

TOLD = (FaultBegan, FaultEnded, Crashed, Restarted, Joined, Left, RoundAborted, Violated)
"""Kinds of events with a line each."""
_SHARE = 0.05
_PATIENCE_S = 10.0


class Lines:
    """An observer that writes a line every 5 % of simulated time, or every ten seconds.

    It is a patient one, behind the recorder: what it says stands in the record.
    """

    def __init__(
        self,
        plan: Plan,
        write: Callable[[str], Any],
        terms: Callable[[], str],
        *,
        as_json: bool,
        name: str = "",
        why: Callable[[str], str] = lambda _: "",
    ) -> None:
        self._why = why
        self._name = name
        self._plan = plan
        self._terms = terms
        self._write = write
        self._json = as_json
        self._next = 0
        self._told = time.monotonic()

    def fold(self, batch: Batch) -> None:
        """Say what of the next events is to be said."""
        for event in batch.singles:
            if isinstance(event, (Sampled, Finished, *TOLD)):
                self.tell(event)

    def tell(self, event: Event) -> None:
        """Write the line of an event, where one is due."""
        if isinstance(event, TOLD):
            agent = "" if event.node is None else f" agent {event.node}"
            what = f"{kind_of(event):<13}{agent} {phrase(event, str)}"
            text = f"{event.t / 1e9:10.3f} s {what}".strip()
            self._say({"kind": type(event).__name__.lower(), "t": event.t, "text": text})
        elif isinstance(event, Sampled) and self._due(event):
            self._say(self._sample(event))

    def _due(self, event: Sampled) -> bool:
        late = time.monotonic() - self._told > _PATIENCE_S
        if event.t < self._next and not late:
            return False
        stride = int((self._plan.horizon or 0) * _SHARE)
        self._next = event.t + stride
        self._told = time.monotonic()
        return True

    def _sample(self, event: Sampled) -> dict[str, Any]:
        values = event.values
        losses = [number(v) for v in values["loss"] if v is not None]
        epsilon = max(map(number, values["epsilon"]))
        loss = sum(losses) / len(losses) if losses else float("nan")
        shown = f"{loss:.4f}" if losses else f"— ({self._why('loss') or UNMEASURED})"
        gap = values.get("gap")
        text = (
            f"{event.t / 1e9:10.3f} s sample   up {values['nodes.up']:>5}   loss {shown} (oracle)   "
            f"ε max {epsilon:.4g} ({self._terms()})   "
            f"releases {sum(values['releases'])}"
        )
        line = {
            "kind": "sample",
            "t": event.t,
            "up": values["nodes.up"],
            "loss": loss if losses else None,
            "gap": gap,
            "epsilon": epsilon if epsilon != float("inf") else "inf",
            "releases": sum(values["releases"]),
            "text": text.strip(),
        }
        reasons = {name: self._why(name) or UNMEASURED for name in nulls(line)}
        return line | ({"reasons": reasons} if reasons else {})

    def _say(self, line: dict[str, Any]) -> None:
        named = {"scenario": self._name} if self._name else {}
        if self._json:
            text = json.dumps(named | {k: v for k, v in line.items() if k != "text"})
        else:
            text = f"{self._name}: {line['text']}" if self._name else line["text"]
        try:
            self._write(text)
        except (BrokenPipeError, ValueError):  # the reader went away; the run goes on
            self._write = lambda _: None
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            self._write = lambda _: None  # so did a terminal
