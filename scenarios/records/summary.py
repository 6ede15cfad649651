"""A run in figures: `summary.json`, and the same in words."""

from collections.abc import Callable, Collection, Iterable
from typing import Any

import numpy as np

from actors.agent import Agent
from scenarios.language.json_numbers import declared_by, figure, number
from scenarios.language.null_reasons import UNCALIBRATED, UNDECLARED, with_reasons
from scenarios.language.writer import to_toml
from scenarios.planning.plan import Plan

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


EXITS = {"pass": 0, "unknown": 4, "fail": 1, "diverged": 1}
"""The verdict of a run, and the exit code that it ends with."""


def _verdict(states: Iterable[str], verdicts: Collection[str]) -> str:
    """Judge a run by its agents' states and by its expectations, the worst first."""
    members = set(states) - {"absent"}
    if members == {"diverged"}:
        return "diverged"
    return next((worst for worst in ("fail", "unknown") if worst in verdicts), "pass")


def _survivors(nodes: list[Values]) -> Values:
    """Say over how many agents means are: who diverged, or was never a member, has no model to judge."""
    known = sum(1 for node in nodes if node["loss"] is not None)
    return {"agents": known, "of": len(nodes), "words": f"{known} of {len(nodes)} agents"}


def summarise(plan: Plan, status: str, agents: list[Agent], values: Values, more: Values) -> Values:
    """Fold the last sample into what `summary.json` holds."""
    score = "accuracy" if plan.loss.margin else "rmse"
    loss, epsilon = _numbers(values, "loss"), _numbers(values, "epsilon")
    claimed = _numbers(values, "epsilon.claimed")
    nodes = [_node(plan, agent, values, score) for agent in agents]
    judged = {judgement.verdict for judgement in more["judgements"]}
    if status == "interrupted":
        judged.add("unknown")  # what holds so far is no verdict
    verdict = _verdict([node["state"] for node in nodes], judged)
    summary = {
        "scenario": plan.name,
        "seed": plan.seed,
        "status": status,
        "verdict": "fail" if status == "failed" else verdict,
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
        "means_over": _survivors(nodes),
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
            "delta_may_exceed": _overridden(plan),
            "accountant": more["accountant"],
            "view": plan.privacy.view,
            "calibrated": plan.privacy.calibrated,
            "side_by_side": {k: figure(v) for k, v in more["side_by_side"].items()},
            "views": {k: figure(v) for k, v in more["views"].items()},
            "covered": plan.covered and not more["steered"],
            "not_covered": _not_covered(plan, steered=more["steered"]),
            "declared_by": declared_by(plan.kind),
        },
        "groups": [
            _group(name, [nodes[i] for i in ids], score) for name, ids in plan.groups.items()
        ],
        "nodes": nodes,
        "server": more["server"],
        "faults": more["faults"],
        "residual": more["residual"],
        "targets": more["targets"],
        "targets_not_covered": _chosen_by_an_oracle(plan, more["targets"]),
        "expectations": [j.as_json() for j in more["judgements"]],
        "invariants": more["invariants"],
        "notes": list(plan.notes),
        "warnings": list(plan.warnings),
        "wall_s": more["wall_s"],
        "updates_per_s": more["updates_per_s"],
    }
    return with_reasons(summary, _why_null(plan, score, more["why"]))


def _why_null(plan: Plan, score: str, why: Callable[[str], str]) -> dict[str, str]:
    """Return why figures of a summary may be missing, by patterns of their places."""
    end = "rounds" if plan.rounds is not None else "updates"
    gone, uncapped = "the agent diverged, or was never a member", "no budget was given: no cap"
    rules = {
        "epsilon.calibrated": UNCALIBRATED,
        "horizon_s": f"the run ends by {end}",
        "loss.*": why("loss"),
        f"{score}.train": why(f"{score}.train"),
        f"{score}.test": why(f"{score}.test"),
        "local": why("gain"),
        "gain": why("gain"),
        "harmed": why("harmed"),
        "objective": why("objective"),
        "optimum": why("optimum"),
        "gap": why("gap"),
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
    for kind, lost in (("nodes", gone), ("groups", "no agent of it has a model to judge")):
        rules |= {f"{kind}.*.{key}": uncapped for key in ("cap", "left")}
        rules |= {f"{kind}.*.{key}": lost for key in ("loss", score)}
        rules[f"{kind}.*.epsilon_basic"] = why("epsilon.basic")
    return {pattern: said for pattern, said in rules.items() if said}


def _overridden(plan: Plan) -> list[str]:
    """Return the groups whose δ was knowingly let stand, however large."""
    groups = plan.resolved["nodes"]
    chosen = [(group.get("budget") or {}).get("delta_may_exceed", False) for group in groups]
    return [name for name, may in zip(plan.groups, chosen, strict=True) if may]


def _not_covered(plan: Plan, *, steered: bool) -> list[str]:
    """Say why ε does not cover this run; empty where it does."""
    by_hand = ["a person steered this run and may have read data, so who took part depends on them"]
    return [*plan.uncovered, *(by_hand if steered else [])]


def _chosen_by_an_oracle(plan: Plan, targets: Values) -> Values:
    """Return of each ε at a target why it is not covered: its time depends on data; nothing where none is private."""
    return {
        name: f"an oracle's {plan.targets[name.partition('.')[2]]['metric']} chose the time"
        for name in targets
        if name.startswith("epsilon_to.")
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
        "means_over": _survivors(nodes),
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
    if not summary:
        return text
    was = summary["epsilon"]
    if tree["privacy"]["accountant"] == "tightest":
        text += f'# privacy.accountant: "tightest" was {was["accountant"]}\n'
    if was["calibrated"] is not None:
        text += f'# privacy.calibrate: "tightest" was {was["calibrated"]}\n'
    return text


def settled(summary: Values) -> int:
    """Return the exit code of what one run can judge: what is judged over seeds is left out."""
    verdicts = {e["verdict"] for e in summary.get("expectations", []) if not e.get("over")}
    return EXITS[_verdict((node["state"] for node in summary.get("nodes", [])), verdicts)]
