"""What the files of a run prove of its releases: the ledger and the events, compared.

A ledger line is written before the events that rest on it, so that a run that was killed has no event without its line.
Files of other programs, of older versions or of a failing disk may differ all the same. A release counts where either
file has it, and costs what the dearer of the two says: no ε of a run is below what its events prove.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from mechanisms.accounting.spend import UNITS, Spend, rounded_up, unprotected
from scenarios.language.json_numbers import number, show
from scenarios.records.file_guard import FolderError
from scenarios.records.ledger_file import line_of, spend_of
from scenarios.records.run_folder import LEDGER, WORLD

if TYPE_CHECKING:
    from scenarios.records.world_facts import Facts


MADE = "proved_by"
"""The field of a line that no ledger file holds: it was made of an event."""
_NAMED = 5
"""So many agents are named; of more, how many there are is said."""

Release = tuple[int, int]
"""An agent, and the number of one of its releases."""


class ReleaseFact(msgspec.Struct, gc=False):
    """What an event says of a release. Its charge is an ε, or a μ: its law is said by the ledger and the plan alone."""

    kind: str
    seq: int = 0
    t: int = 0
    node: int | None = None
    k: int = -1
    charged: float | str | None = None


@dataclass(frozen=True, slots=True)
class Proof:
    """The releases of a run, as its files prove them."""

    lines: tuple[dict[str, Any], ...]
    """A ledger line for each release, in the order of the ledger; those made of an event come last, and say so."""
    words: tuple[str, ...]
    """How the ledger and the events differ, for a person; empty where they agree."""

    def spends(self) -> dict[int, list[Spend]]:
        """Return every agent's spends, in the order of its releases."""
        spends: dict[int, list[Spend]] = {}
        for line in sorted(self.lines, key=lambda line: (line["node"], line["k"])):
            spends.setdefault(line["node"], []).append(spend_of(line))
        return spends


def prove(
    lines: Iterable[dict[str, Any]],
    releases: Iterable[ReleaseFact],
    facts: Callable[[], Facts | None],
    path: Path,
) -> Proof:
    """Compare the lines of a ledger with what events say of releases.

    `facts` returns what the world was, None where that is not known: it is asked where anything was released. `path` is
    named in errors.
    """
    return _Comparison(facts, path).proof(lines, releases)


class _Comparison:
    """Both files of one run, read side by side."""

    def __init__(self, facts: Callable[[], Facts | None], path: Path) -> None:
        self._facts = facts
        self._path = path
        self._written: dict[Release, dict[str, Any]] = {}
        self._seen: dict[Release, tuple[float, ReleaseFact]] = {}
        """What each release costs by its events, and the event: infinite where it was released and never charged."""

    def proof(self, lines: Iterable[dict[str, Any]], releases: Iterable[ReleaseFact]) -> Proof:
        for line in lines:
            release = line["node"], line["k"]
            former = self._written.get(release)
            if former is None or number(former["charged"]) < number(line["charged"]):
                self._written[release] = line
        for fact in releases:
            self._note(fact)
        lacking = [release for release in self._seen if release not in self._written]
        low = [r for r, line in self._written.items() if self._costs(r) > number(line["charged"])]
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
            (*kept, *replaced.values()), tuple(_in_words(lacking, low, odd, beyond, replaced))
        )

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
        """Return a line for each release whose noise the ledger tells otherwise than the plan: the worst of its charge.

        Where the two do not even agree on what a charge counts, it is infinite.
        """
        lines = {}
        for node, k in releases:
            line = self._written[node, k]
            unit = UNITS[spend_of(line).law]
            agreed = unit if unit == UNITS[_plan_of(line, planned[node]).law] else None
            charge = max(number(line["charged"]), self._costs((node, k)))
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


def _is_odd(line: Mapping[str, Any], planned: Mapping[int, Sequence[Spend]]) -> bool:
    """Whether a line tells another noise than its agent planned: its law and dimension never change in a run."""
    mine = planned.get(line["node"])
    if not mine:
        return False
    plan = _plan_of(line, mine)
    return (line["law"], line["d"]) != (plan.law, plan.d)


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
    lacking: Sequence[Release],
    low: Sequence[Release],
    odd: Sequence[Release],
    beyond: Sequence[Release],
    replaced: Mapping[Release, Mapping[str, Any]],
) -> Iterator[str]:
    """Yield how the files differ, a line each."""
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
            f"{LEDGER} tells another noise than {WORLD} for {_releases(odd)}: charged at the worst"
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
