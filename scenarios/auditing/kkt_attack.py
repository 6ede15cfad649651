"""The KKT inference attack on a scenario: one run is overheard, and one record is guessed from it."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from mechanisms.admm import Alternating
from mechanisms.inference import Eavesdropper, infer
from mechanisms.vectors import Vector
from scenarios.auditing.watched_run import perform, renoised
from scenarios.language.json_numbers import figure, show
from scenarios.language.problems import Problem, ScenarioError
from scenarios.planning import totals
from scenarios.planning.plan import Plan

KNOWLEDGE: dict[str, tuple[str, ...]] = {
    "η and θ known": (),
    "η secret": ("eta",),
    "η and θ secret": ("eta", "theta"),
}


@dataclass(frozen=True, slots=True)
class Recovered:
    """How near the attacker came, with what he knew."""

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
        said = (
            f"the KKT attack is on the ADMM family (admm, dvp, pvp, madmm, pp), not on {plan.kind}"
        )
        if isinstance(mechanism, Alternating):
            loss = plan.resolved["task"]["loss"]
            said = f"the KKT attack is on losses of a margin (logistic, smoothed-hinge), not on {loss['kind'] if isinstance(loss, dict) else loss}"
        raise ScenarioError([Problem(plan.name, said)])
    x, y = plan.shards.train[node]
    if not 0 <= record < len(y):
        said = f"agent {node} has records 0 to {len(y) - 1}"
        raise ScenarioError([Problem("--record", said)])
    listening = Eavesdropper(mechanism)
    agents = perform(renoised(plan, "attack/kkt"), {node: listening.watch}).agents
    if not listening.glimpses:
        raise ScenarioError([Problem(plan.name, f"agent {node} released nothing to be overheard")])
    rows = x * y[:, None]
    truth, others = rows[record], np.delete(rows, record, axis=0)
    found = []
    for knows, secret in KNOWLEDGE.items():
        guess = infer(
            listening.glimpses, others, plan.loss, mechanism.objective.weight, secret=secret
        )
        found.append(_compared(knows, guess.record, truth, guess.misfit))
    ledger, delta = agents[node].store.ledger, plan.nodes[node].delta
    charged, accountant = totals.charged(plan, ledger.tally, delta)
    claimed = totals.claimed(plan, ledger.spends, delta)
    length = float(np.linalg.norm(truth))
    return KktFinding(
        node, record, length, len(listening.glimpses), tuple(found), claimed, charged,
        delta, accountant,
    )  # fmt: skip


def _compared(knows: str, guess: Vector, truth: Vector, misfit: float) -> Recovered:
    lengths = float(np.linalg.norm(guess) * np.linalg.norm(truth))
    cosine = float(guess @ truth) / lengths if lengths > 0 else 0.0
    return Recovered(knows, float(np.linalg.norm(guess - truth)), cosine, misfit)


def as_json(found: KktFinding) -> dict[str, Any]:
    """As a file holds it."""
    told = {key: figure(v) if isinstance(v, float) else v for key, v in asdict(found).items()}
    return told | {"recovered": [asdict(r) for r in found.recovered]}


def in_words(plan: Plan, found: KktFinding) -> list[str]:
    """Tell a person what was recovered, and what had been promised."""
    view = plan.privacy.view
    lines = [
        f"{plan.name} · {plan.kind} · seed {plan.seed} · KKT inference of record {found.record} of agent {found.node}",
        "  the attacker knows all other records, C, ρ and the degrees, and hears every broadcast"
        f" ({found.releases} releases)",
        f"  guessing 0 is off by {found.length:.3g}, the record's own length",
    ]
    lines += [
        f"  {r.knows:<16} off by {r.error:.3g}, cosine {r.cosine:.4f}" for r in found.recovered
    ]
    return [
        *lines,
        f"  promised         ε = {show(found.claimed)}; charged ε = {show(found.charged)} ({view} view, δ = {found.delta:g}, "
        f"accountant: {found.accountant})",
    ]
