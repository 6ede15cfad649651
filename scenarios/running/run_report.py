"""The report of a run that is over: its last sample and its verdicts, folded into what `summary.json` holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from actors.agent import UP, Agent
from actors.membership import Membership
from mechanisms.abilities import LeavesResidual
from scenarios.language.json_numbers import declared_by, figure, number
from scenarios.language.json_table import JsonTable
from scenarios.language.null_reasons import UNCALIBRATED, UNDECLARED, with_reasons
from scenarios.planning.plan import Plan
from scenarios.records.summary import BY_HAND, Values, verdict_of

if TYPE_CHECKING:
    from scenarios.running.observers.checks import Checks
    from scenarios.running.run_observers import RunObservers
    from scenarios.running.snapshot import WorldSnapshot


_MESSAGES = ("sent", "delivered", "superseded", "lost", "rejected", "duplicated", "in_flight")


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run ended."""

    status: str
    """`finished`, `interrupted` or `failed`."""
    reason: str
    instant: int
    """In nanoseconds of simulated time."""
    wall_s: float
    steered: bool
    """Whether a person changed anything."""


def report(
    plan: Plan, members: Membership, observers: RunObservers, values: Values, ending: Ending
) -> Values:
    """Return what `summary.json` holds; `values` are the metrics of the last sample.

    Where a figure is missing (None), `reasons` says why.
    """
    agents = members.agents[: plan.size]
    server = members.agents[plan.size] if plan.server is not None else None
    budget, expectations, steered = observers.budget, observers.expectations, ending.steered
    score = "accuracy" if plan.loss.margin else "rmse"
    loss, epsilon = _numbers(values, "loss"), _numbers(values, "epsilon")
    claimed = _numbers(values, "epsilon.claimed")
    nodes = _nodes(plan, agents, values, score)
    targets = expectations.targets()
    summary = {
        "scenario": plan.name,
        "seed": plan.seed,
        "status": ending.status,
        "verdict": _verdict(ending.status, nodes, observers),
        "steered_by_hand": steered,
        "mechanism": plan.kind,
        "horizon_s": None if plan.horizon is None else plan.horizon / 1e9,
        "ended_s": ending.instant / 1e9,
        "ended_by": ending.reason,
        "updates": sum(agent.updates for agent in agents),
        "releases": sum(agent.store.made for agent in agents),
        "derived": int(np.sum(values["derived"])),
        "refused": sum(agent.refused for agent in agents),
        "messages": {key: values[f"messages.{key}"] for key in _MESSAGES},
        "bytes_sent": values["bytes.sent"],
        **{metric: values.get(metric) for metric in ("objective", "optimum", "gap")},
        "gap_relative": values.get("gap.relative"),
        "means_over": _survivors(nodes),
        "loss": {
            "mean": _mean(values, "loss"),
            "max": figure(float(np.nanmax(loss))) if not np.isnan(loss).all() else None,
        },
        score: {points: _mean(values, f"{score}.{points}") for points in _judged_on(plan)},
        "local": _local(observers.snapshot, values),
        "central": _central(observers.snapshot, values),
        "gain": _mean(values, "gain"),
        "harmed": values.get("harmed"),
        "epsilon": {
            "max": figure(float(epsilon.max())),
            "mean": figure(float(epsilon.mean())),
            "claimed": figure(float(claimed.max())) if claimed is not None else None,
            "delta": max(node.delta for node in plan.nodes),
            "delta_may_exceed": _overridden(plan),
            "accountant": budget.accountant_name(),
            "view": plan.privacy.view,
            "calibrated": plan.privacy.calibrated,
            "asked": plan.privacy.accountant,
            "held_by": _holders(plan),
            "side_by_side": {k: figure(v) for k, v in budget.side_by_side().items()},
            "views": {
                view: figure(float(budget.by(plan.privacy.accountant, view).max()))
                for view in plan.privacy.seen
            },
            "covered": plan.covered and not steered,
            "not_covered": _not_covered(plan, steered=steered),
            "declared_by": declared_by(plan.kind),
        },
        "groups": [_group(name, nodes.at(ids), score) for name, ids in plan.groups.items()],
        "nodes": nodes,
        "server": None if server is None else {"rounds": server.rounds, "aborted": server.aborted},
        "faults": _faults(observers.checks, members.agents),
        "residual": _residual(agents),
        "targets": targets,
        "targets_not_covered": _chosen_by_an_oracle(plan, targets),
        "expectations": [judgement.as_json() for judgement in expectations.judgements],
        "invariants": {
            name: {"verdict": v.verdict, "first": v.first, "detail": v.detail}
            for name, v in observers.checks.verdicts.items()
        },
        "notes": list(plan.notes),
        "warnings": list(plan.warnings),
        "wall_s": round(ending.wall_s, 4),
        "updates_per_s": round(members.updates / ending.wall_s, 1),
    }
    is_unscored = bool(observers.snapshot.unscored())
    rules = _why_null(plan, score, observers.measurements.why, is_unscored=is_unscored)
    return with_reasons(summary, rules)


def _holders(plan: Plan) -> list[str]:
    """Return the accountants that hold the caps of agents; none without caps."""
    return sorted({node.cap.accountant for node in plan.nodes if node.cap is not None})


def models(plan: Plan, members: Membership) -> dict[str, Any]:
    """Return the arrays of `models.npz`: `theta`, `released`, and `server` where there is one.

    `released` is the model in the last message of each agent, NaN where the agent sent none.
    """
    agents, d = members.agents[: plan.size], plan.dimension
    published = [agent.store.published for agent in agents]
    arrays: dict[str, Any] = {
        "theta": np.array([agent.model for agent in agents]),
        "released": np.array([np.full(d, np.nan) if p is None else p[:d] for p in published]),
    }
    if plan.server is not None:
        arrays["server"] = members.agents[plan.size].model
    return arrays


def _verdict(status: str, nodes: JsonTable, observers: RunObservers) -> str:
    if status == "failed":
        return "fail"
    verdicts = {judgement.verdict for judgement in observers.expectations.judgements}
    if status == "interrupted":
        verdicts.add("unknown")  # what holds so far is no verdict
    return verdict_of(nodes.columns["state"], verdicts)


def _local(snapshot: WorldSnapshot, values: Values) -> Values | None:
    """Return loss and score of purely local learning; None where the sample did not compare with it."""
    local = snapshot.local if "gain" in values else None
    if local is None or not snapshot.scores.has_test:
        return None
    return snapshot.judged(local)


def _central(snapshot: WorldSnapshot, values: Values) -> Values | None:
    """Return loss and score at the exact minimum of what the kind minimises; None where that is not known."""
    minimiser = snapshot.optimum_theta if "gap" in values else None
    if minimiser is None or not snapshot.scores.has_test:
        return None
    return snapshot.judged(minimiser)


def _faults(checks: Checks, agents: list[Agent]) -> list[Values]:
    """Return how often each fault happened, how many agents it struck, and how many messages it touched."""
    known = checks.faults
    return [
        {
            "name": fault.name,
            "fired": fired,
            "struck": struck,
            "touched": sum(agent.outbox.touched[fault.number] for agent in agents),
        }
        for fault, fired, struck in zip(known.faults, known.fired, known.struck, strict=True)
    ]


def _residual(agents: list[Agent]) -> float | None:
    """Return the largest gradient norm that any agent's solver took for a minimum; None where none solves."""
    kinds = {type(agent.mechanism): agent.mechanism for agent in agents}
    solving = {kind for kind, one in kinds.items() if isinstance(one, LeavesResidual)}
    norms = [
        cast("LeavesResidual", agent.mechanism).residual(agent.state)
        for agent in agents
        if type(agent.mechanism) in solving
    ]
    return max(norms, default=None)


def _numbers(values: Values, name: str) -> Any:
    """Return a metric of every agent, NaN where it has no value; None where the sample does not hold it."""
    each = values.get(name)
    return None if each is None else np.array([number(v) for v in each])


def _judged_on(plan: Plan) -> tuple[str, ...]:
    """Return which points scores are means over: validation points where a share is held out."""
    return ("train", "test", "validation") if plan.shards.validation else ("train", "test")


def _mean(values: Values, name: str) -> Any:
    """Return the mean of a metric over the agents that have a value; None where none has."""
    numbers = _numbers(values, name)
    if numbers is None or np.isnan(numbers).all():
        return None
    return figure(float(np.nanmean(numbers)))


def _survivors(nodes: JsonTable) -> Values:
    """Return over how many agents means are: one that diverged, or was never a member, has no model to judge."""
    known = sum(1 for loss in nodes.columns["loss"] if loss is not None)
    return {"agents": known, "of": len(nodes), "words": f"{known} of {len(nodes)} agents"}


def _why_null(
    plan: Plan, score: str, why: Callable[[str], str], *, is_unscored: bool
) -> dict[str, str]:
    """Return why figures of a summary may be missing, by patterns of their places."""
    end = "rounds" if plan.rounds is not None else "updates"
    gone, uncapped = "the agent diverged, or was never a member", "no budget was given: no cap"
    if is_unscored:
        gone = f"not scored: model(state) is None, or no numbers; or {gone}"
    rules = {
        "epsilon.calibrated": UNCALIBRATED,
        "horizon_s": f"the run ends by {end}",
        "loss.*": why("loss"),
        "local": why("gain"),
        "central": why("gap") or why("gain"),
        "gap_relative": why("gap.relative"),
        "epsilon.claimed": "the calibration claims no ε",
        "epsilon.declared_by": UNDECLARED,
        "server": f"{plan.kind} has no server",
        "residual": "no agent solves for a minimum",
        "targets.*": "the target was not reached, or not held to the end",
        "expectations.*.got": "the metric had no value: see the note",
        "expectations.*.first": "no single event decided it",
        "expectations.*.t": "no single event decided it",
        "invariants.*.first": "no event broke it",
    }
    own = ("gain", "harmed", "objective", "optimum", "gap")
    rules |= {metric: why(metric) for metric in own}
    rules |= {f"{score}.{points}": why(f"{score}.{points}") for points in _judged_on(plan)}
    for kind, lost in (("nodes", gone), ("groups", "no agent of it has a model to judge")):
        rules |= {f"{kind}.*.{key}": uncapped for key in ("cap", "left")}
        rules |= {f"{kind}.*.{key}": lost for key in ("loss", score)}
        rules[f"{kind}.*.epsilon_basic"] = why("epsilon.basic")
    return {pattern: reason for pattern, reason in rules.items() if reason}


def _overridden(plan: Plan) -> list[str]:
    """Return the groups whose scenario allows any δ, however large."""
    groups = plan.resolved["nodes"]
    chosen = [(group.get("budget") or {}).get("delta_may_exceed", False) for group in groups]
    return [name for name, may in zip(plan.groups, chosen, strict=True) if may]


def _not_covered(plan: Plan, *, steered: bool) -> list[str]:
    """Return why ε does not cover this run; empty where it does."""
    return [*plan.uncovered, *([BY_HAND] if steered else [])]


def _chosen_by_an_oracle(plan: Plan, targets: Values) -> Values:
    """Return, for each ε at a target, why ε does not cover it: the time at which it was read depends on data."""
    return {
        name: f"an oracle's {plan.targets[name.partition('.')[2]].selection.metric} chose the time"
        for name in targets
        if name.startswith("epsilon_to.")
    }


def _nodes(plan: Plan, agents: list[Agent], values: Values, score: str) -> JsonTable:
    """Return what is said of each agent; the columns of metrics are those of the sample."""
    caps = [agent.settings.cap for agent in agents]
    return JsonTable(
        {
            "id": range(len(agents)),
            "group": [node.group for node in plan.nodes],
            "points": plan.shards.sizes,
            "state": [_state(agent) for agent in agents],
            "updates": [agent.updates for agent in agents],
            "releases": [agent.store.made for agent in agents],
            "refused": [agent.refused for agent in agents],
            "epsilon": values["epsilon"],
            "epsilon_basic": values.get("epsilon.basic") or [None] * len(agents),
            "cap": [None if cap is None else cap.epsilon for cap in caps],
            "delta": [node.delta for node in plan.nodes],
            "left": values["epsilon.left"],
            "loss": values["loss"],
            score: values.get(f"{score}.test") or values[f"{score}.train"],
        }
    )


def _state(agent: Agent) -> str:
    """Return the state of an agent at the end: the status of its membership, unless something else says more."""
    if agent.diverged:
        return "diverged"
    if agent.status != UP:
        return agent.status
    return "paused" if agent.fault_state.paused else "spent" if agent.spent else UP


def _group(name: str, nodes: JsonTable, score: str) -> Values:
    def fold(key: str, how: Any) -> Any:
        known = [number(value) for value in nodes.columns[key] if value is not None]
        return figure(float(how(known))) if known else None

    states = Counter(nodes.columns["state"])
    return {
        "name": name,
        "count": len(nodes),
        "means_over": _survivors(nodes),
        "state": dict(sorted(states.items())),
        **{key: sum(nodes.columns[key]) for key in ("updates", "releases", "refused")},
        **{key: fold(key, max) for key in ("epsilon", "epsilon_basic", "cap")},
        **{key: fold(key, np.mean) for key in ("left", "loss", score)},
    }
