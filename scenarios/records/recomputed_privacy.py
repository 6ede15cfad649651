"""The privacy of a run, recomputed from its record: ε, what became of releases, and the ledger for other programs."""

import csv
import io
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import msgspec

from actors.events import Diverged
from mechanisms.accounting.export import as_tree, events
from mechanisms.accounting.loss import tally
from scenarios.language.json_numbers import declared_by, figure, number, show
from scenarios.records.budget import Budget
from scenarios.records.file_guard import FolderError, Resolved
from scenarios.records.ledger_file import FIELDS
from scenarios.records.proven_releases import MADE
from scenarios.records.recorded_plan import Remembered
from scenarios.records.release_fates import Fates
from scenarios.records.run_folder import RESOLVED, WORLD
from scenarios.records.summary import BY_HAND

if TYPE_CHECKING:
    from scenarios.records.reader import RunRecord

_COLUMNS = ("node", "k", "t", *FIELDS, MADE)


def fates_of(record: "RunRecord") -> Fates:
    """Return what became of each release."""
    fates = Fates(record.facts.size)
    fates.fold(record.typed_events())
    return fates


def budget_of(record: "RunRecord") -> Budget:
    """Return a budget that was charged with every release of a run, as the run itself had it after its last event."""
    facts = record.facts
    _refuse_other_terms(record)
    plan: Any = Remembered(facts)
    budget = Budget(plan, live=facts.numerical)
    budget.last = record.is_over
    for node, spends in record.proof.spends().items():
        if node >= facts.size:
            problem = f"its record holds agent {node}, and {WORLD} {facts.size} agents"
            raise FolderError(f"{record.path} is damaged: {problem}")
        for spend in spends:
            budget.charge(node, spend)
    budget.fold(Diverged(0, 0, node, None) for node in sorted(record.counts.diverged))
    return budget


def _refuse_other_terms(record: "RunRecord") -> None:
    """Raise `FolderError` where the scenario in full promises something else than the facts of the world.

    An ε rests on both: at another δ, in another view, or by another accountant it is another number.
    """
    facts, resolved = record.facts, record.resolved
    groups = msgspec.convert(resolved, Resolved).nodes
    promised_deltas = [d for group in groups for d in [group.delta] * group.count]
    deltas = [d for part in facts.budgets for d in [part.delta] * part.count]
    privacy = resolved["privacy"]
    caps = [part.cap for part in facts.budgets for _ in range(part.count)]
    epsilons = [e for group in groups for e in [group.epsilon] * group.count]
    for what, promised, recorded in (
        ("kinds of mechanism", resolved["mechanism"]["kind"], facts.kind),
        ("views", privacy["views"][0], facts.view),
        ("accountants", privacy["accountant"], facts.accountant),
        ("deltas", promised_deltas, deltas),
        # What is printed has a budget and no cap.
        ("caps", epsilons, [e if c is None else c for e, c in zip(epsilons, caps, strict=False)]),
    ):
        if promised != recorded:
            problem = f"{WORLD} and {RESOLVED} name different {what}"
            raise FolderError(f"{record.path} is damaged: {problem}")


def epsilon_of(record: "RunRecord") -> dict[str, Any]:
    """Return the ε of a run from its record alone, by the rule and the plans that the run had, as `summary.json` holds it."""
    facts, budget = record.facts, record.budget
    each, reasons = budget.headline().tolist(), not_covered(record)
    return {
        "max": figure(max(each, default=0.0)),
        "mean": figure(sum(each) / max(1, len(each))),
        "delta": max(part.delta for part in facts.budgets),
        "accountant": budget.accountant_name(),
        "view": facts.view,
        "covered": not reasons,
        "not_covered": reasons,
        "declared_by": declared_by(facts.kind),
    }


def not_covered(record: "RunRecord") -> list[str]:
    """Return why ε does not cover a run, as its summary says it; empty where it does."""
    by_hand = [BY_HAND] if record.manifest.get("steered_by_hand") else []
    return [*record.facts.not_covered, *by_hand]


def cut_off_in_words(summary: dict[str, Any]) -> list[str]:
    """Return lines for a person on a run that was cut off."""
    epsilon, messages = summary["epsilon"], summary["messages"]
    worst = number(epsilon["max"])
    return [
        f"{summary['scenario']} · seed {summary['seed']} · {summary['status']} at {summary['ended_s']:g} s; counted from its events",
        f"  ε         {show(worst)} largest, {show(number(epsilon['mean']))} mean   ({epsilon['view']} view, "
        f"δ = {epsilon['delta']:g}, accountant: {epsilon['accountant']}; from its ledger and events)",
        *(f"            NOT COVERED: {reason}" for reason in epsilon["not_covered"]),
        f"  releases  {summary['releases']:,} charged, {summary['refused']:,} refused; "
        f"{summary['derived']:,} derived messages (free); {summary['updates']:,} updates",
        f"  messages  {messages['sent']:,} sent = {messages['delivered']:,} delivered + {messages['lost']:,} lost + "
        f"{messages['rejected']:,} rejected + {messages['in_flight']:,} in flight",
    ]


def as_csv(record: "RunRecord") -> str:
    """Return the ledger as a table, a row for each release."""
    sink = io.StringIO()
    writer = csv.DictWriter(sink, _COLUMNS, extrasaction="ignore", restval="")
    writer.writeheader()
    writer.writerows(record.proof.lines)
    return sink.getvalue()


def ledger_text(record: "RunRecord") -> Iterator[bytes]:
    """Yield the ledger as lines of JSON, one or many at a time: those of the files, or of what they prove where they differ."""
    if record.proof.words:
        return (msgspec.json.encode(line) + b"\n" for line in record.proof.lines)
    return record.ledger_text()


def as_events(record: "RunRecord") -> dict[str, Any]:
    """Return every agent's ledger as plain data of dp-accounting's events."""
    agents = {
        str(node): {relation: as_tree(event) for relation, event in events(tally(mine)).items()}
        for node, mine in sorted(record.proof.spends().items())
    }
    return {
        "adjacency": "replace one record of one agent, sizes public; sensitivities are of that already",
        "delta": max(part.delta for part in record.facts.budgets),
        "agents": agents,
    }


def heard_in_words(record: "RunRecord") -> list[str]:
    """Return lines for a person: how much neighbours heard directly.

    That is information, not an ε: what one agent hears it can pass on.
    """
    fates = fates_of(record)
    made = fates.made
    shares = sorted(heard / made[node] for (node, _), heard in fates.directly().items())
    if not shares:
        return ["  heard     nobody heard a release directly"]
    vain = sum(map(len, fates.unread()))
    return [
        f"  heard     a neighbour heard {100 * shares[len(shares) // 2]:.0f} % of an agent's releases directly (median of "
        f"{len(shares):,} pairs; {100 * shares[0]:.0f}–{100 * shares[-1]:.0f} %): information, not an ε",
        f"            {vain:,} of {sum(made):,} releases were read by nobody, {sum(map(len, fates.unheard())):,} of them "
        f"delivered to nobody, {sum(map(len, fates.unsent())):,} never sent",
    ]
