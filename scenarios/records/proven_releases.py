"""What the files of a run prove of its releases: the ledger, the events and the plan, compared.

In a record the spend of a release stands before it, so that a run that was killed has no event without its charge; the
ledger file is an export of it. Files of other programs or of a failing disk may differ all the same. A release counts where any of them has it, and costs what the dearest says: no ε of a run is below what its events
prove, or what `world.json` planned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from mechanisms.accounting.spend import (
    UNITS,
    Hidden,
    Spend,
    at_its_own_fields,
    is_understated,
    rounded_up,
    unprotected,
)
from scenarios.language.json_numbers import number, show
from scenarios.records.file_guard import FolderError
from scenarios.records.ledger_file import charge_in_events, line_of, spend_of
from scenarios.records.release_columns import ReleaseColumns
from scenarios.records.run_folder import LEDGER, WORLD

if TYPE_CHECKING:
    from scenarios.records.world_facts import Facts


MADE = "proved_by"
"""The field of a line that no ledger file holds: it was made of an event."""
_NAMED = 5
"""So many agents are named; of more, how many there are is said."""

Release = tuple[int, int]
"""An agent, and the number of one of its releases."""


_OF_RELEASES = frozenset({"charged", "released"})


class ReleaseFact(msgspec.Struct, gc=False):
    """What an event says of a release. Its charge is an ε, or a μ: its law is said by the ledger and the plan alone."""

    kind: str
    seq: int = 0
    t: int = 0
    node: int | None = None
    k: int = -1
    charged: float | str | None = None


_DECODER = msgspec.json.Decoder(ReleaseFact)


def of_releases(line: bytes, what: str) -> Iterator[ReleaseFact]:
    """Yield what a line of an event says of a release; most say nothing, and are not decoded.

    Raises `FolderError`, which begins with `what`, where it is no event.
    """
    if b"charged" not in line and b"released" not in line and b"\\" not in line:
        return
    try:
        fact = _DECODER.decode(line)
    except (msgspec.MsgspecError, RecursionError, ValueError):
        raise FolderError(f"{what} is damaged: a line of it is no event") from None
    if fact.kind in _OF_RELEASES and fact.node is not None:
        yield fact


@dataclass(frozen=True, slots=True)
class Proof:
    """The releases of a run, as its files prove them."""

    lines: Sequence[dict[str, Any]]
    """A ledger line for each release, in the order of the ledger; those made of an event come last, and say so."""
    words: tuple[str, ...]
    """How the ledger and the events differ, for a person; empty where they agree."""

    def spends(self) -> dict[int, list[Spend]]:
        """Return every agent's spends, in the order of its releases."""
        if isinstance(self.lines, ReleaseColumns):
            return self.lines.of_agents()
        spends: dict[int, list[Spend]] = {}
        for line in sorted(self.lines, key=lambda line: (line["node"], line["k"])):
            spends.setdefault(line["node"], []).append(spend_of(line))
        return spends


def prove(
    lines: Iterable[dict[str, Any]],
    releases: Iterable[ReleaseFact],
    facts: Callable[[], Facts | None],
    path: Path,
    exported: Iterable[dict[str, Any]] | None = None,
) -> Proof:
    """Compare the lines of a ledger with what events say of releases.

    `facts` returns what the world was, None where that is not known: it is asked where anything was released. `path` is
    named in errors. `exported` are the lines of a ledger file that is not the same as the record, which then has the
    `lines`; None where there is none, or where the lines are those of the ledger file itself.
    """
    return _Comparison(facts, path).proof(lines, releases, exported)


def agreeing(
    columns: ReleaseColumns, singles: Iterable[ReleaseFact], facts: Facts | None
) -> Proof | None:
    """Return the proof of a record whose parts agree, at little cost; None where `prove` must tell how they differ.

    `columns` are all its charges, `singles` what events that are in no row say of releases.
    """
    charged = set[Release]()
    known: dict[int, float] = {}
    for fact in singles:
        if fact.kind == "charged":
            known[fact.seq] = number(fact.charged)
            charged.add((fact.node or 0, fact.k))
        elif (fact.node or 0, fact.k) not in charged:
            return None
    if known:
        costs = [number(charge_in_events(line)) for line in columns.spends]
        places = np.flatnonzero(np.isin(columns.seq, list(known))).tolist()
        if len(places) < len(known):
            return None
        if any(known[int(columns.seq[i])] != costs[int(columns.place[i])] for i in places):
            return None
    if not columns.are_without_gaps or any(
        is_understated(spend_of(line)) for line in columns.spends
    ):
        return None
    if facts is not None and len(columns):
        planned = _planned(facts)
        plans = np.repeat([part.plan for part in facts.budgets], [p.count for p in facts.budgets])
        if columns.node.max() >= len(plans):
            return None
        if any(_is_odd(line, planned) for line in columns.told_apart(plans)):
            return None
    return Proof(columns, ())


class _Comparison:
    """Both files of one run, read side by side."""

    def __init__(self, facts: Callable[[], Facts | None], path: Path) -> None:
        self._facts = facts
        self._path = path
        self._written: dict[Release, dict[str, Any]] = {}
        self._seen: dict[Release, tuple[float, ReleaseFact]] = {}
        """What each release costs by its events, and the event: infinite where it was released and never charged."""

    def proof(
        self,
        lines: Iterable[dict[str, Any]],
        releases: Iterable[ReleaseFact],
        exported: Iterable[dict[str, Any]] | None,
    ) -> Proof:
        for line in lines:
            self._take(line)
        changed = [] if exported is None else list(self._compare(exported))
        for fact in releases:
            self._note(fact)
        cheap = [
            release for release, line in self._written.items() if is_understated(spend_of(line))
        ]
        for release in cheap:
            self._written[release] = _by_its_fields(self._written[release])
        lacking = [release for release in self._seen if release not in self._written]
        low = [
            release
            for release, line in self._written.items()
            if self._costs(release) > number(charge_in_events(line))
        ]
        beyond = [release for release in self._written if release not in self._seen]
        self._refuse_gaps()
        facts = self._facts() if self._written or self._seen else None
        planned = {} if facts is None else _planned(facts)
        odd = [release for release, line in self._written.items() if _is_odd(line, planned)]
        replaced = self._lines_of_events([*lacking, *low], facts, planned) | self._worst_lines(
            odd, planned
        )
        kept = [line for release, line in self._written.items() if release not in replaced]
        return Proof(
            (*kept, *replaced.values()),
            (*changed, *_in_words(cheap, lacking, low, odd, beyond, replaced)),
        )

    def _take(self, line: dict[str, Any]) -> None:
        """Take a line of the ledger: of two on one release, the dearer."""
        release = line["node"], line["k"]
        former = self._written.get(release)
        if former is None or number(former["charged"]) < number(line["charged"]):
            self._written[release] = line

    def _compare(self, exported: Iterable[dict[str, Any]]) -> Iterator[str]:
        """Take what a ledger file has beyond the record, or charges more, and yield how the two differ."""
        told, other = set[Release](), list[Release]()
        recorded = dict(self._written)
        for line in exported:
            release = line["node"], line["k"]
            told.add(release)
            if recorded.get(release) != line:
                other.append(release)
                self._take(line)
        lacking = [release for release in recorded if release not in told]
        if lacking:
            yield f"{LEDGER} lacks {_releases(lacking)} that the record proves: charged as the record says"
        if other:
            yield f"{LEDGER} tells {_releases(other)} otherwise than the record: charged at the dearer of the two"

    def _note(self, fact: ReleaseFact) -> None:
        assert fact.node is not None, "facts are of agents"  # noqa: S101
        release = fact.node, fact.k
        if fact.kind == "charged":
            charge, known = number(fact.charged), self._seen.get(release)
            if not charge >= 0:
                raise FolderError(f"event {fact.seq} of {self._path} charges {fact.charged!r}")
            if known is None or known[0] < charge:
                self._seen[release] = charge, fact
        elif release not in self._seen:  # nothing says what it cost, unless the ledger does
            self._seen[release] = 0.0 if release in self._written else float("inf"), fact

    def _costs(self, release: Release) -> float:
        """What the events say that a release costs; 0 where they do not show it."""
        seen = self._seen.get(release)
        return 0.0 if seen is None else seen[0]

    def _refuse_gaps(self) -> None:
        """Refuse releases before which another is missing in both files: those are counted from 0."""
        counts: dict[int, int] = {}
        for node, k in sorted(self._written.keys() | self._seen.keys()):
            if k != counts.get(node, 0):
                raise FolderError(
                    f"{self._path}: {LEDGER} is damaged: agent {node} has release {k} and no release {counts.get(node, 0)}"
                )
            counts[node] = k + 1

    def _worst_lines(
        self, releases: Sequence[Release], planned: Mapping[int, Sequence[Spend]]
    ) -> dict[Release, dict[str, Any]]:
        """Return a line for each release that the ledger tells otherwise than the plan: the worst of its charge.

        Where the two do not even agree on what a charge counts, it is infinite.
        """
        lines = {}
        for node, k in releases:
            line = self._written[node, k]
            unit = UNITS[spend_of(line).law]
            agreed = unit if unit == UNITS[_plan_of(line, planned[node]).law] else None
            meant = planned[node][k].charged if k < len(planned[node]) else 0.0
            charge = max(number(line["charged"]), self._costs((node, k)), meant)
            spend = _spend(charge, agreed, [line], None)
            lines[node, k] = _made(line["seq"], line["t"], (node, k), spend)
        return lines

    def _lines_of_events(
        self,
        releases: Sequence[Release],
        facts: Facts | None,
        planned: Mapping[int, Sequence[Spend]],
    ) -> dict[Release, dict[str, Any]]:
        """Return a line for each release that the ledger lacks, or charges too little."""
        if not releases:
            return {}
        own: dict[int, list[dict[str, Any]]] = {}
        for (node, _), line in self._written.items():
            own.setdefault(node, []).append(line)
        lines = {}
        for node, k in sorted(releases):
            charge, fact = self._seen[node, k]
            unit = _unit(charge, k, own.get(node, []), planned.get(node, ()))
            spend = _spend(charge, unit, own.get(node, []), facts)
            lines[node, k] = _made(fact.seq, fact.t, (node, k), spend)
        return lines


def _made(seq: int, t: int, release: Release, spend: Spend) -> dict[str, Any]:
    """Return the ledger line of a spend that was made of an event."""
    node, k = release
    return {"seq": seq, "t": t, "node": node, "k": k, **line_of(spend), MADE: "events"}


def _planned(facts: Facts) -> dict[int, tuple[Spend, ...]]:
    """Return what each agent meant to release; agents without a plan are left out."""
    plans = {part.plan: facts.planned(part.plan) or () for part in facts.budgets}
    parts = [part for part in facts.budgets for _ in range(part.count)]
    return {i: plans[part.plan] for i, part in enumerate(parts)}


def _plan_of(line: Mapping[str, Any], mine: Sequence[Spend]) -> Spend:
    """Return what its agent planned for the release of a line, or last of all where it is beyond the plan."""
    k: int = line["k"]
    return mine[min(k, len(mine) - 1)]


def _by_its_fields(line: Mapping[str, Any]) -> dict[str, Any]:
    """Return a line with the charge that its own fields give."""
    return {**line, **line_of(at_its_own_fields(spend_of(line)))}


def _is_odd(line: Mapping[str, Any], planned: Mapping[int, Sequence[Spend]]) -> bool:
    """Whether a line tells another noise than its agent planned, or less than the release was to cost.

    Its law and its dimension never change in a run, and no charge is below the planned one. The charge of a perturbed
    objective follows from how many neighbours there are at that time: it may be anything.
    """
    mine = planned.get(line["node"])
    if not mine:
        return False
    plan = _plan_of(line, mine)
    if (line["law"], line["d"]) != (plan.law, plan.d):
        return True
    if line["k"] >= len(mine) or plan.solve is not None:
        return False
    charged, summed, hidden = line["charged"], line.get("summed"), line.get("hidden")
    in_sums = plan.charged if plan.summed is None else plan.summed
    return (
        number(charged) < plan.charged
        or number(charged if summed is None else summed) < in_sums
        or (hidden is not None and _is_milder((number(hidden), line["contraction"]), plan.hidden))
    )


def _is_milder(hidden: tuple[float, float], planned: Hidden | None) -> bool:
    """Whether the cost of a hidden step is told without being planned, or below what was planned."""
    return planned is None or hidden[0] < planned.mu or hidden[1] < planned.contraction


def _unit(
    charge: float, k: int, own: Sequence[Mapping[str, Any]], planned: Sequence[Spend]
) -> str | None:
    """Return what a charge counts, "epsilon" or "mu"; None where neither ledger nor plan tells.

    The plan tells where it has this very charge for this release. Else all other lines of the agent must agree, else
    all of the plan.
    """
    if k < len(planned) and number(rounded_up(planned[k].charged)) == charge:
        return UNITS[planned[k].law]
    for laws in ({line["law"] for line in own}, {spend.law for spend in planned}):
        units = {UNITS[law] for law in laws}
        if len(units) == 1:
            return units.pop()
    return None


def _spend(
    charge: float, unit: str | None, own: Sequence[Mapping[str, Any]], facts: Facts | None
) -> Spend:
    """Return the worst spend with a charge: of a pure ε or of a μ nothing more is known than that; else it is infinite."""
    kind = own[0]["mechanism"] if own else "unknown" if facts is None else facts.kind
    d = own[0]["d"] if own else 0
    if unit is None or charge == float("inf"):
        return unprotected(kind, d)
    law = "gaussian" if unit == "mu" else "pure"
    return Spend(kind, law, "unknown", 0.0, float("inf"), "l2", d, 0.0, charge, charge)


def _in_words(
    cheap: Sequence[Release],
    lacking: Sequence[Release],
    low: Sequence[Release],
    odd: Sequence[Release],
    beyond: Sequence[Release],
    replaced: Mapping[Release, Mapping[str, Any]],
) -> Iterator[str]:
    """Yield how the files differ, a line each."""
    if cheap:
        yield (
            f"{_releases(cheap)} are charged less than their own scale and sensitivity give: charged by these"
        )
    if lacking:
        yield (
            f"{LEDGER} lacks {_releases(lacking)} that the events prove: charged as the events say"
            f"{_at_worst(lacking, replaced)}"
        )
    if low:
        yield (
            f"{LEDGER} charges less than the events for {_releases(low)}: charged as the events say"
            f"{_at_worst(low, replaced)}"
        )
    if odd:
        yield (
            f"what is written tells another noise or charge than {WORLD} for {_releases(odd)}: charged at the worst"
            f"{_at_worst(odd, replaced)}"
        )
    if beyond:
        yield f"{LEDGER} holds {_releases(beyond)} that no event shows: charged all the same"


def _releases(which: Sequence[Release]) -> str:
    """Return how many releases there are, with the names of their agents where they are few."""
    agents = sorted({node for node, _ in which})
    names = f"agent{'s' * (len(agents) != 1)} {', '.join(map(str, agents))}"
    of_agents = names if len(agents) <= _NAMED else f"{len(agents):,} agents"
    return f"{len(which):,} release{'s' * (len(which) != 1)} of {of_agents}"


def _at_worst(which: Sequence[Release], replaced: Mapping[Release, Mapping[str, Any]]) -> str:
    """Return what is assumed of the noise, which no ledger line tells."""
    laws = {replaced[release]["law"] for release in which}
    names = {"pure": "a pure ε", "gaussian": "a μ", "none": f"ε = {show(float('inf'))}"}
    return f", as {' or '.join(names[law] for law in names if law in laws)} each"
