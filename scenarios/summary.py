"""A run in figures: `summary.json`, and the same in words."""

from typing import Any

import numpy as np

from actors.agent import Agent
from scenarios.claims import Judgement
from scenarios.plan import Plan
from scenarios.values import figure, number
from scenarios.write import to_toml

Values = dict[str, Any]


def _numbers(values: Values, name: str) -> Any:
    found = values.get(name)
    return None if found is None else np.array([number(v) for v in found])


def _mean(values: Values, name: str) -> Any:
    found = _numbers(values, name)
    return (
        None
        if found is None
        else figure(float(np.nanmean(found)))
        if not np.isnan(found).all()
        else None
    )


def summarise(plan: Plan, status: str, agents: list[Agent], values: Values, more: Values) -> Values:
    """Fold the last sample into what `summary.json` holds."""
    score = "accuracy" if plan.loss.margin else "rmse"
    loss, epsilon = _numbers(values, "loss"), _numbers(values, "epsilon")
    claimed = _numbers(values, "epsilon.claimed")
    nodes = [_node(plan, agent, values, score) for agent in agents]
    return {
        "scenario": plan.name,
        "seed": plan.seed,
        "status": status,
        "steered_by_hand": more["steered"],
        "mechanism": plan.kind,
        "horizon_s": None if plan.horizon is None else plan.horizon / 1e9,
        "ended_s": more["ended_s"],
        "ended_by": more["ended_by"],
        "updates": sum(agent.updates for agent in agents),
        "releases": sum(len(agent.store.ledger) for agent in agents),
        "derived": int(np.sum(values["derived"])),
        "refused": sum(agent.refused for agent in agents),
        "messages": {
            key: values[f"messages.{key}"]
            for key in (
                "sent",
                "delivered",
                "superseded",
                "lost",
                "rejected",
                "duplicated",
                "in_flight",
            )
        },
        "bytes_sent": values["bytes.sent"],
        "objective": values.get("objective"),
        "optimum": values.get("optimum"),
        "gap": values.get("gap"),
        "gap_relative": values.get("gap.relative"),
        "loss": {
            "mean": _mean(values, "loss"),
            "max": figure(float(np.nanmax(loss))) if not np.isnan(loss).all() else None,
        },
        score: {"train": _mean(values, f"{score}.train"), "test": _mean(values, f"{score}.test")},
        "local": more["local"],
        "gain": _mean(values, "gain"),
        "harmed": values.get("harmed"),
        "epsilon": {
            "max": figure(float(epsilon.max())),
            "mean": figure(float(epsilon.mean())),
            "claimed": figure(float(claimed.max())) if claimed is not None else None,
            "delta": _delta(plan),
            "accountant": more["accountant"],
            "view": plan.privacy.view,
            "side_by_side": {k: figure(v) for k, v in more["side_by_side"].items()},
            "views": {k: figure(v) for k, v in more["views"].items()},
            "covered": plan.covered and not more["steered"],
        },
        "groups": [
            _group(name, [nodes[i] for i in ids], score) for name, ids in plan.groups.items()
        ],
        "nodes": nodes,
        "server": more["server"],
        "faults": more["faults"],
        "residual": more["residual"],
        "targets": more["targets"],
        "expectations": [j.as_json() for j in more["judgements"]],
        "invariants": more["invariants"],
        "notes": list(plan.notes),
        "warnings": list(plan.warnings),
        "wall_s": more["wall_s"],
        "updates_per_s": more["updates_per_s"],
    }


def _delta(plan: Plan) -> float:
    return max(node.delta for node in plan.nodes)


def _node(plan: Plan, agent: Agent, values: Values, score: str) -> Values:
    i, cap = agent.id, agent.habits.cap
    state = "spent" if agent.spent and agent.status == "up" else agent.status
    if agent.plight.paused and agent.status == "up":
        state = "paused"
    basic = values.get("epsilon.basic")
    return {
        "id": i,
        "group": plan.nodes[i].group,
        "state": "diverged" if agent.diverged else state,
        "updates": agent.updates,
        "releases": len(agent.store.ledger),
        "refused": agent.refused,
        "epsilon": values["epsilon"][i],
        "epsilon_basic": None if basic is None else basic[i],
        "cap": None if cap is None else cap.epsilon,
        "delta": plan.nodes[i].delta,
        "left": values["epsilon.left"][i],
        "loss": values["loss"][i],
        score: (values.get(f"{score}.test") or values[f"{score}.train"])[i],
    }


def _group(name: str, nodes: list[Values], score: str) -> Values:
    def fold(key: str, how: Any) -> Any:
        known = [number(node[key]) for node in nodes if node[key] is not None]
        return figure(float(how(known))) if known else None

    states = sorted({node["state"] for node in nodes})
    return {
        "name": name,
        "count": len(nodes),
        "state": {state: sum(1 for node in nodes if node["state"] == state) for state in states},
        "updates": sum(node["updates"] for node in nodes),
        "releases": sum(node["releases"] for node in nodes),
        "refused": sum(node["refused"] for node in nodes),
        "epsilon": fold("epsilon", max),
        "epsilon_basic": fold("epsilon_basic", max),
        "cap": fold("cap", max),
        "left": fold("left", np.mean),
        "loss": fold("loss", np.mean),
        score: fold(score, np.mean),
    }


def with_headline(tree: Values, summary: Values) -> str:
    """Write a scenario in full, and what accountant "tightest" was in this run."""
    text = to_toml(tree)
    if tree["privacy"]["accountant"] != "tightest" or not summary:
        return text
    return f'{text}# privacy.accountant: "tightest" was {summary["epsilon"]["accountant"]}\n'


def settled(summary: Values) -> int:
    """Return the same for what one run can judge: what is judged over seeds is left out."""
    verdicts = {e["verdict"] for e in summary.get("expectations", []) if not e.get("over")}
    return 1 if "fail" in verdicts else 4 if "unknown" in verdicts else 0


def worst_exit(judgements: list[Judgement]) -> int:
    """Return 1 when an expectation failed, 4 when one is unknown, else 0."""
    verdicts = {judgement.verdict for judgement in judgements}
    return 1 if "fail" in verdicts else 4 if "unknown" in verdicts else 0
