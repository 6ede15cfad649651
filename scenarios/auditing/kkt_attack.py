"""The KKT inference attack on a scenario: one run is overheard, and one record is guessed from it."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from mechanisms.admm import Alternating
from mechanisms.inference import Eavesdropper, infer
from mechanisms.vectors import Vector
from scenarios.auditing.watched_run import perform, renoised
from scenarios.language.json_numbers import figure, show
from scenarios.language.problems import ScenarioError
from scenarios.planning import totals
from scenarios.planning.mechanism import names_in
from scenarios.planning.plan import Plan

KNOWLEDGE: dict[str, tuple[str, ...]] = {
    "η and θ known": (),
    "η secret": ("eta",),
    "η and θ secret": ("eta", "theta"),
}


@dataclass(frozen=True, slots=True)
class Recovered:
    """The attacker's guess under one assumption of what is known."""

    knows: str
    error: float
    cosine: float
    misfit: float


@dataclass(frozen=True, slots=True)
class KktFinding:
    """What the attack recovered of one record, beside what was promised."""

    node: int
    record: int
    length: float
    releases: int
    recovered: tuple[Recovered, ...]
    claimed: float
    charged: float
    delta: float
    accountant: str


def kkt(plan: Plan, node: int = 0, record: int = 0) -> KktFinding:
    """Overhear one run of a plan, and guess a record of one agent."""
    mechanism = plan.nodes[node].mechanism
    if not isinstance(mechanism, Alternating) or not plan.loss.margin:
        known = names_in("consensus")
        problem = f"the KKT attack is on the ADMM family ({known}), not on {plan.kind}"
        if isinstance(mechanism, Alternating):
            loss = plan.resolved["task"]["loss"]
            problem = f"the KKT attack is on losses of a margin (logistic, smoothed-hinge), not on {loss['kind'] if isinstance(loss, dict) else loss}"
        raise ScenarioError.of(plan.name, problem)
    x, y = plan.shards.train[node]
    if not 0 <= record < len(y):
        raise ScenarioError.of("--record", f"agent {node} has records 0 to {len(y) - 1}")
    listening = Eavesdropper(mechanism)
    agents = perform(renoised(plan, "attack/kkt"), {node: listening.watch}).agents
    if not listening.glimpses:
        raise ScenarioError.of(plan.name, f"agent {node} released nothing to be overheard")
    rows = x * y[:, None]
    truth, others = rows[record], np.delete(rows, record, axis=0)
    recovered = []
    for knows, secret in KNOWLEDGE.items():
        guess = infer(
            listening.glimpses, others, plan.loss, mechanism.objective.weight, secret=secret
        )
        recovered.append(_compared(knows, guess.record, truth, guess.misfit))
    ledger, delta = agents[node].store.ledger, plan.nodes[node].delta
    charged, accountant = totals.charged(plan, ledger.tally, delta)
    claimed = totals.claimed(plan, ledger.spends, delta)
    length = float(np.linalg.norm(truth))
    return KktFinding(
        node,
        record,
        length,
        len(listening.glimpses),
        tuple(recovered),
        claimed,
        charged,
        delta,
        accountant,
    )


def _compared(knows: str, guess: Vector, truth: Vector, misfit: float) -> Recovered:
    lengths = float(np.linalg.norm(guess) * np.linalg.norm(truth))
    cosine = float(guess @ truth) / lengths if lengths > 0 else 0.0
    return Recovered(knows, float(np.linalg.norm(guess - truth)), cosine, misfit)


def as_json(finding: KktFinding) -> dict[str, Any]:
    """Return the finding as a file holds it."""
    tree = {key: figure(v) if isinstance(v, float) else v for key, v in asdict(finding).items()}
    return tree | {"recovered": [asdict(r) for r in finding.recovered]}


def in_words(plan: Plan, finding: KktFinding) -> list[str]:
    """Return lines for a person: what was recovered, and what was promised."""
    view = plan.privacy.view
    lines = [
        f"{plan.name} · {plan.kind} · seed {plan.seed} · KKT inference of record {finding.record} of agent {finding.node}",
        "  the attacker knows all other records, C, ρ and the degrees, and hears every broadcast"
        f" ({finding.releases} releases)",
        f"  guessing 0 is off by {finding.length:.3g}, the record's own length",
    ]
    lines += [
        f"  {r.knows:<16} off by {r.error:.3g}, cosine {r.cosine:.4f}" for r in finding.recovered
    ]
    return [
        *lines,
        f"  promised         ε = {show(finding.claimed)}; charged ε = {show(finding.charged)} ({view} view, δ = {finding.delta:g}, "
        f"accountant: {finding.accountant})",
    ]
