"""Why an event happened: its causes, back to a wake or a fault; what was merged; and what came of it."""

from collections.abc import Iterator, Sequence
from typing import Any

from scenarios.records.event_words import Background, sentence

Event = dict[str, Any]


class Causes:
    """The events of a run, by number."""

    def __init__(
        self, events: Iterator[Event], ledger: list[Event], faults: Sequence[str] = ()
    ) -> None:
        self._faults = faults
        self._size = 0
        self.by_seq: dict[int, Event] = {}
        self._after: dict[int, list[int]] = {}
        self._sent: dict[tuple[int, int], int] = {}
        self._spends: dict[Any, Event] = {(line["node"], line["k"]): line for line in ledger}
        for event in events:
            self.by_seq[event["seq"]] = event
            self._size = event.get("nodes", self._size)
            if event.get("cause") is not None:
                self._after.setdefault(event["cause"], []).append(event["seq"])
            if event["kind"] == "sent" and not event.get("resent"):
                self._sent[event["node"], event["version"]] = event["seq"]

    def chain(self, seq: int) -> list[Event]:
        """Return an event and its causes, the nearest first."""
        causes, passed = list[Event](), set[int]()
        at: int | None = seq
        while at is not None and at in self.by_seq and at not in passed:
            passed.add(at)
            causes.append(self.by_seq[at])
            at = self.by_seq[at].get("cause")
        return causes

    def heard(self, seq: int) -> list[Event]:
        """Return the messages that an agent took over in the same wake, before it acted: they are causes too."""
        woke = next((e for e in self.chain(seq) if e["kind"] == "woke"), None)
        merged = [] if woke is None else [self.by_seq[s] for s in self._after.get(woke["seq"], [])]
        if self.by_seq[seq]["kind"] == "merged":
            merged = [self.by_seq[seq]]
        pairs = [
            pair
            for event in merged
            if event["kind"] == "merged"
            for pair in zip(event["senders"], event["versions"], strict=True)
        ]
        return [self.by_seq[self._sent[pair]] for pair in pairs if pair in self._sent]

    def after(self, seq: int) -> list[Event]:
        """Return the events that an event caused directly."""
        return [self.by_seq[s] for s in self._after.get(seq, [])]

    def words(self, event: Event, *, in_full: bool = False) -> str:
        """Return one event in words, with its number and its time; `in_full` with every receiver of a message."""
        node = event.get("node")
        agent = "" if node is None else "the server " if node == self._size else f"agent {node} "
        background = Background(self._faults, self._spends.get((node, event.get("k"))), in_full)
        seconds = f"{event['t'] / 1e9:.6g} s"
        return f"{event['seq']:>7}  {seconds:>12}  {agent}{sentence(event, background)}"


def in_words(causes: Causes, seq: int) -> list[str]:
    """Return lines for a person: why an event happened, and what it caused."""
    chain = causes.chain(seq)
    lines = [causes.words(chain[0], in_full=True)]
    lines += [f"  because {causes.words(event).strip()}" for event in chain[1:]]
    heard = causes.heard(seq)
    lines += [f"    having heard {causes.words(event).strip()}" for event in heard]
    after = causes.after(seq)
    lines += [f"  then    {causes.words(event).strip()}" for event in after]
    return lines


def as_tree(causes: Causes, seq: int) -> dict[str, Any]:
    """Return the same as plain values for a program."""
    chain = causes.chain(seq)
    return {
        "event": chain[0],
        "causes": chain[1:],
        "heard": causes.heard(seq),
        "then": causes.after(seq),
    }
