"""Why an event happened: its causes, back to a wake or a fault; what was merged; and what came of it."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from scenarios.language.json_numbers import folded, number, show
from scenarios.records.proven_releases import MADE

Event = dict[str, Any]
_CONSEQUENCES = 12
_SHOWN = ("loss", "accuracy.test", "rmse.test", "gap", "epsilon", "releases", "nodes.up")


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
        self._spends = {(line["node"], line["k"]): line for line in ledger}
        for event in events:
            self.by_seq[event["seq"]] = event
            self._size = event.get("nodes", self._size)
            if event.get("cause") is not None:
                self._after.setdefault(event["cause"], []).append(event["seq"])
            if event["kind"] == "sent" and not event.get("resent"):
                self._sent[event["node"], event["version"]] = event["seq"]

    def chain(self, seq: int) -> list[Event]:
        """Return an event and its causes, the nearest first."""
        found, seen = list[Event](), set[int]()
        at: int | None = seq
        while at is not None and at in self.by_seq and at not in seen:
            seen.add(at)
            found.append(self.by_seq[at])
            at = self.by_seq[at].get("cause")
        return found

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
        """Return what came of an event directly."""
        return [self.by_seq[s] for s in self._after.get(seq, [])]

    def words(self, event: Event) -> str:
        """Tell one event to a person."""
        node = event.get("node")
        who = "" if node is None else "the server " if node == self._size else f"agent {node} "
        return f"{event['seq']:>7}  {_time(event):>12}  {who}{self._told(event)}"

    def _told(self, event: Event) -> str:
        tell: dict[str, Callable[[Event], str]] = {
            "proposed": lambda e: f"proposed release {e['k']}, for {show(number(e['charged']))}",
            "charged": lambda e: f"was charged for release {e['k']}{self._spend(e)}",
            "released": lambda e: f"drew the noise of release {e['k']}, solved, and had it ready",
            "refused": lambda e: (
                f"refused release {e['k']}: all planned ones are made"
                if e["cap"] is None
                else f"refused release {e['k']}: {show(e['spent'])} of {show(e['cap'])} were spent"
            ),
            "sent": self._sending,
            "delivered": self._arrival,
            "rejected": self._arrival,
            "lost": lambda e: (
                f"lost version {e['version']} on its way to agent {e['receiver']}{_by(e)}"
            ),
            "merged": self._merging,
            "fault_began": self._fault,
            "fault_ended": self._fault,
            "sampled": self._sample,
        }
        return tell.get(event["kind"], self._plainly)(event)

    @staticmethod
    def _plainly(event: Event) -> str:
        skipped = {"seq", "t", "kind", "node", "cause", "late_ns", "values"}
        more = ", ".join(f"{k} {v}" for k, v in event.items() if k not in skipped)
        return f"{event['kind']} ({more})" if more else str(event["kind"])

    @staticmethod
    def _sample(event: Event) -> str:
        """Tell what an oracle saw; per-node metrics as their mean."""
        found = {name: folded(value) for name, value in event["values"].items()}
        told = [f"{name} {show(found[name])}" for name in _SHOWN if name in found]
        return f"an oracle looked: {', '.join(told)}"

    def _fault(self, event: Event) -> str:
        number = event["fault"]
        name = self._faults[number] if number < len(self._faults) else event["action"]
        undone = event["kind"] == "fault_ended"
        done = f"is undone: {event['action']}" if undone else "began"
        return f"fault {number} ({name}) {done} for {event['targets']}"

    @staticmethod
    def _arrival(event: Event) -> str:
        verb = "got" if event["kind"] == "delivered" else "rejected"
        told = f"{verb} version {event['version']} of agent {event['sender']}"
        why = f" ({event['reason']})" if event.get("reason") else ""
        return f"{told}, which arrived at {show(event['arrived'] / 1e9)} s{why}"

    @staticmethod
    def _merging(event: Event) -> str:
        heard = zip(event["senders"], event["versions"], strict=True)
        return "merged what it had heard of " + ", ".join(f"{s} (version {v})" for s, v in heard)

    @staticmethod
    def _sending(event: Event) -> str:
        again = " once more" if event.get("resent") else ""
        what = f"sent version {event['version']}{again} ({event['bytes']} bytes)"
        ways = []
        for to, arrives in zip(event["to"], event["arrives"], strict=True):
            fate = {-1: "lost", -2: "held"}.get(
                arrives
            ) or f"{show((arrives - event['t']) / 1e9)} s"
            ways.append(f"{to}: {fate}")
        return f"{what} to {', '.join(ways[:8])}{' …' if len(ways) > 8 else ''}{_by(event)}"

    def _spend(self, event: Event) -> str:
        line = self._spends.get((event["node"], event["k"]))
        if line is None:
            return ""
        if MADE in line:
            return f": {show(number(line['charged']))}, by this event: the ledger does not say it"
        if line.get("law") == "none":
            return f", without noise: {show(number(line['charged']))}"
        return (
            f": {show(number(line['charged']))} ({line.get('law', '?')} noise of scale {show(number(line['scale']))}, "
            f"sensitivity {show(number(line['sensitivity']))})"
        )


def _by(event: Event) -> str:
    faults = ", ".join(map(str, event.get("by") or ()))
    return f", by fault {faults}" if faults else ""


def _time(event: Event) -> str:
    return f"{event['t'] / 1e9:.6g} s"


def in_words(causes: Causes, seq: int) -> list[str]:
    """Tell why an event happened, and what came of it."""
    chain = causes.chain(seq)
    lines = [causes.words(chain[0])]
    lines += [f"  because {causes.words(event).strip()}" for event in chain[1:]]
    heard = causes.heard(seq)
    lines += [f"    having heard {causes.words(event).strip()}" for event in heard]
    after = causes.after(seq)
    lines += [f"  then    {causes.words(event).strip()}" for event in after[:_CONSEQUENCES]]
    if len(after) > _CONSEQUENCES:
        lines.append(f"          … and {len(after) - _CONSEQUENCES} more")
    return lines


def as_tree(causes: Causes, seq: int) -> dict[str, Any]:
    """Tell the same to a program."""
    chain = causes.chain(seq)
    return {
        "event": chain[0],
        "causes": chain[1:],
        "heard": causes.heard(seq),
        "then": causes.after(seq),
    }
