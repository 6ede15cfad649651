"""The privacy of a run, recomputed from its record: ε, what became of releases, and the ledger for other programs."""

import csv
import io
from collections.abc import Iterator
from typing import Any

import msgspec

from actors.events import Diverged, Finished
from mechanisms.accounting import disclosure
from mechanisms.accounting.disclosure import Reader
from mechanisms.accounting.export import as_tree, events
from mechanisms.accounting.loss import Tally, tally
from mechanisms.accounting.spend import Spend
from mechanisms.accounting.views import add_in
from scenarios.language.json_numbers import declared_by, figure, number, self_declared, show
from scenarios.planning.mechanism import MECHANISMS
from scenarios.records.budget import Budget
from scenarios.records.file_guard import FolderError
from scenarios.records.ledger_file import FIELDS
from scenarios.records.proven_releases import MADE
from scenarios.records.reader import RunRecord
from scenarios.records.recorded_plan import Remembered
from scenarios.records.release_fates import Fates
from scenarios.records.run_folder import RESOLVED, WORLD

_DELTA = 1e-5
"""The δ of an agent without a budget."""
_COLUMNS = ("node", "k", "t", *FIELDS, MADE)


def fates_of(record: RunRecord) -> Fates:
    """Return what became of each release."""
    fates = Fates(sum(group["count"] for group in record.resolved["nodes"]))
    fates.fold(record.typed_events())
    return fates


def _deltas(record: RunRecord) -> list[float]:
    """Return every agent's δ."""
    deltas: list[float] = []
    for group in record.resolved["nodes"]:
        deltas += [group.get("budget", {}).get("delta", _DELTA)] * group["count"]
    return deltas


def epsilon_of(record: RunRecord) -> dict[str, Any]:
    """Return the ε of a run that was cut off, by the rule and the plans that the run had, as `summary.json` would hold it.

    A folder of before hush 0.5 names no plans: agents that diverged are then charged by basic composition.
    """
    settled, spends = record.resolved, record.proof.spends()
    deltas = _deltas(record)
    if spends and max(spends) >= len(deltas):
        problem = f"its files hold agent {max(spends)}, and its scenario {len(deltas)} agents"
        raise FolderError(f"{record.path} is damaged: {problem}")
    stopped, over = set[int](), False
    for event in record.rare_events():
        if isinstance(event, Diverged) and event.node is not None:
            stopped.add(event.node)
        over |= isinstance(event, Finished)
    if record.has_facts:
        facts = record.facts
        if [part.delta for part in facts.budgets for _ in range(part.count)] != deltas:
            problem = f"{WORLD} and {RESOLVED} name different deltas"
            raise FolderError(f"{record.path} is damaged: {problem}")
        plan: Any = Remembered(facts)
        each, accountant = _by_plan(plan, spends, stopped, numerical=facts.numerical, over=over)
        view = facts.view
    else:
        each, accountant = _without_plan(settled, deltas, spends, stopped)
        view = settled["privacy"]["views"][0]
    return {
        "max": figure(max(each, default=0.0)),
        "mean": figure(sum(each) / max(1, len(each))),
        "delta": max(deltas),
        "accountant": accountant,
        "view": view,
        "declared_by": declared_by(settled["mechanism"]["kind"]),
    }


def _by_plan(
    plan: Any, spends: dict[int, list[Spend]], stopped: set[int], *, numerical: bool, over: bool
) -> tuple[list[float], str]:
    """Return every agent's ε, and the accountant of the largest, as the run itself had them at this point."""
    budget = Budget(plan, live=numerical)
    budget.last = over
    for node, mine in spends.items():
        for spend in mine:
            budget.charge(node, spend)
    budget.fold(Diverged(0, 0, node, None) for node in stopped)
    return budget.headline().tolist(), budget.accountant_name()


def _without_plan(
    settled: dict[str, Any],
    deltas: list[float],
    spends: dict[int, list[Spend]],
    stopped: set[int],
) -> tuple[list[float], str]:
    privacy = settled["privacy"]
    name, view = settled["mechanism"]["kind"], privacy["views"][0]
    adaptive, kind = ":" in name, MECHANISMS.get(name)
    shows = kind is not None and not kind.releases
    totals = []
    for node, delta in enumerate(deltas):
        bag = add_in(view, Tally(), spends.get(node, []))
        reader = Reader(view, privacy["accountant"], delta, None, adaptive, shows)
        totals.append(disclosure.epsilon_of(bag, reader, unplanned_stop=node in stopped))
    worst = max(totals, default=(0.0, "basic"))
    return [epsilon for epsilon, _ in totals], worst[1]


def cut_off_in_words(summary: dict[str, Any]) -> list[str]:
    """Return lines for a person on a run that was cut off."""
    epsilon, messages = summary["epsilon"], summary["messages"]
    worst = number(epsilon["max"])
    return [
        f"{summary['scenario']} · seed {summary['seed']} · {summary['status']} at {summary['ended_s']:g} s; counted from its events",
        f"  ε         {show(worst)} largest, {show(number(epsilon['mean']))} mean   ({epsilon['view']} view, "
        f"δ = {epsilon['delta']:g}, accountant: {epsilon['accountant']}; from its ledger and events)",
        *([f"            {self_declared(code)}"] if (code := epsilon["declared_by"]) else []),
        f"  releases  {summary['releases']:,} charged, {summary['refused']:,} refused; "
        f"{summary['derived']:,} derived messages (free); {summary['updates']:,} updates",
        f"  messages  {messages['sent']:,} sent = {messages['delivered']:,} delivered + {messages['lost']:,} lost + "
        f"{messages['rejected']:,} rejected + {messages['in_flight']:,} in flight",
    ]


def as_csv(record: RunRecord) -> str:
    """Return the ledger as a table, a row for each release."""
    sink = io.StringIO()
    writer = csv.DictWriter(sink, _COLUMNS, extrasaction="ignore", restval="")
    writer.writeheader()
    writer.writerows(record.proof.lines)
    return sink.getvalue()


def ledger_text(record: RunRecord) -> Iterator[bytes]:
    """Yield the ledger as lines of JSON, one or many at a time: those of the files, or of what they prove where they differ."""
    if record.proof.words:
        return (msgspec.json.encode(line) + b"\n" for line in record.proof.lines)
    return record.ledger_text()


def as_events(record: RunRecord) -> dict[str, Any]:
    """Return every agent's ledger as plain data of dp-accounting's events."""
    agents = {
        str(node): {relation: as_tree(event) for relation, event in events(tally(mine)).items()}
        for node, mine in sorted(record.proof.spends().items())
    }
    return {
        "adjacency": "replace one record of one agent, sizes public; sensitivities are of that already",
        "delta": max(_deltas(record)),
        "agents": agents,
    }


def heard_in_words(record: RunRecord) -> list[str]:
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
