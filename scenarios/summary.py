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
        },
        "groups": [
            _group(name, [nodes[i] for i in ids], score) for name, ids in plan.groups.items()
        ],
        "nodes": nodes,
        "server": more["server"],
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


def _show(value: Any, form: str = ".4g") -> str:
    if value is None:
        return "—"
    if value == "inf":
        return "∞"
    return format(value, form) if isinstance(value, (int, float)) else str(value)


def in_words(summary: Values) -> list[str]:
    """Tell a summary to a person, lines of at most about 100 characters."""
    score = "accuracy" if "accuracy" in summary else "rmse"
    messages = summary["messages"]
    lines = [
        f"{summary['scenario']} · seed {summary['seed']} · {summary['status']} at "
        f"{_show(summary['ended_s'], '.6g')} s ({summary['ended_by']})",
        "",
        f"  loss      {_show(summary['loss']['mean'])} mean, {_show(summary['loss']['max'])} worst"
        "   (an oracle's view: losses are not released)",
    ]
    test, local = summary[score]["test"], summary["local"]
    shown = f"  {score:<9} {_show(test)} test, {_show(summary[score]['train'])} train"
    if local is not None and test is not None:
        shown += f"   purely local: {_show(local[score])} test, loss {_show(local['loss'])}"
    lines.append(shown)
    if summary["gain"] is not None:
        lines += _verdict_on_gain(summary, score)
    if summary["objective"] is not None:
        gap = summary["gap"]
        told = f"  objective {_show(summary['objective'], '.6g')}"
        if gap is None:
            told += "   (no single minimum was found to compare it with)"
        else:
            told += f", {_show(figure(abs(number(gap))))} {'below' if number(gap) < 0 else 'above'} its optimum"
        lines.append(told)
    diverged = sum(1 for node in summary["nodes"] if node["state"] == "diverged")
    if diverged:
        lines.append(f"  diverged  {diverged} agents hold models that are no numbers any more")
    lines += _epsilon_lines(summary)
    lines += _unspent(summary)
    lines += [
        f"  releases  {summary['releases']:,} charged, {summary['refused']:,} refused; "
        f"{summary['derived']:,} derived messages (free); {summary['updates']:,} updates",
        f"  messages  {messages['sent']:,} sent = {messages['delivered']:,} delivered + {messages['lost']:,} lost + "
        f"{messages['rejected']:,} rejected + {messages['in_flight']:,} in flight",
    ]
    if summary.get("server"):
        lines.append(
            f"  rounds    {summary['server']['rounds']:,} opened, {summary['server']['aborted']:,} aborted"
        )
    if len(summary["groups"]) > 1:
        lines += ["", *_group_lines(summary["groups"], score)]
    lines += [f"  note      {note}" for note in summary["notes"]]
    lines += [f"  warning   {warning}" for warning in summary["warnings"]]
    return [*lines, "", *_verdict_lines(summary)]


def _epsilon_lines(summary: Values) -> list[str]:
    """Tell ε: the headline with its terms, what was claimed, every accountant, every view."""
    epsilon = summary["epsilon"]
    lines = [
        f"  ε         {_show(epsilon['max'])} largest, {_show(epsilon['mean'])} mean"
        f"   ({epsilon['view']} view, δ = {_show(epsilon['delta'])}, accountant: {epsilon['accountant']})"
    ]
    if epsilon["max"] == 0 and summary["releases"]:
        lines.append("            0 says that δ alone covers it: something was released")
    claimed = epsilon.get("claimed")
    if claimed is not None and _above(epsilon["max"], claimed):
        lines.append(f"            its calibration claims {_show(claimed)}: that is not kept")
    others = [f"{name} {_show(value)}" for name, value in epsilon["side_by_side"].items()]
    if len(others) > 1:
        lines.append(f"            the same ledgers by {', '.join(others)}")
    if len(epsilon["views"]) > 1 and len(set(map(str, epsilon["views"].values()))) > 1:
        seen = [f"{view} {_show(value)}" for view, value in epsilon["views"].items()]
        lines.append(f"            in every view: {', '.join(seen)}")
    return lines


def _unspent(summary: Values) -> list[str]:
    """Tell what caps leave, as their filters count it, and what they refused."""
    left = [number(node["left"]) for node in summary["nodes"] if node.get("left") is not None]
    if not left:
        return []
    refused = summary["refused"]
    return [
        f"  budget    {_show(float(np.mean(left)), '.2f')} left on average, {_show(max(left), '.2f')} at most; "
        f"{refused:,} releases were refused"
    ]


def _above(charged: Any, claimed: Any) -> bool:
    """Whether the truth is above what was claimed, by more than rounding."""
    return number(charged) > number(claimed) * (1 + 1e-4)


def _verdict_on_gain(summary: Values, score: str) -> list[str]:
    gain, harmed = summary["gain"], summary["harmed"]
    better = "beats" if gain > 0 else "does NOT beat"
    noisy = summary["releases"] > 0 and summary["epsilon"]["max"] != "inf"
    learner = "private learning" if noisy else "learning together"
    return [
        f"            {learner} {better} purely local learning here: {gain:+.4g} {score} on average;",
        f"            {_show(100 * (harmed or 0), '.0f')} % of the agents are worse off than alone",
    ]


def _group_lines(groups: list[Values], score: str) -> list[str]:
    lines = [
        f"  {'group':<12} {'agents':>6} {'releases':>8} {'refused':>7} {'ε max':>8} {'cap':>6} {'loss':>8} {score:>9}"
    ]
    lines += [
        f"  {g['name'][:12]:<12} {g['count']:>6} {g['releases']:>8} {g['refused']:>7} {_show(g['epsilon']):>8} "
        f"{_show(g['cap']):>6} {_show(g['loss']):>8} {_show(g[score]):>9}"
        for g in groups
    ]
    return lines


def _verdict_lines(summary: Values) -> list[str]:
    broken = [name for name, found in summary["invariants"].items() if found["verdict"] == "fail"]
    unknown = [n for n, found in summary["invariants"].items() if found["verdict"] == "unknown"]
    held = sum(1 for found in summary["invariants"].values() if found["verdict"] == "pass")
    lines = [
        f"  invariants {held}/{len(summary['invariants'])} hold"
        + (f"; BROKEN: {', '.join(broken)}" if broken else "")
        + (f"; unknown: {', '.join(unknown)}" if unknown else "")
    ]
    marks = {"pass": "✓", "fail": "✕", "unknown": "?"}
    lines += [
        f"  {marks[found['verdict']]} expected {found['wanted']}; got {_show(found['got'], '.6g')}"
        + (f" ({found['note']})" if found.get("note") else "")
        for found in summary["expectations"]
    ]
    targets = summary["targets"].items()
    return lines + [f"  target    {name} = {_show(value, '.6g')}" for name, value in targets]


def with_headline(plan: Plan, summary: Values) -> str:
    """Write the scenario in full, and what accountant "tightest" was in this run."""
    text = to_toml(plan.resolved)
    if plan.privacy.accountant != "tightest" or not summary:
        return text
    return f'{text}# privacy.accountant: "tightest" was {summary["epsilon"]["accountant"]}\n'


def worst_exit(judgements: list[Judgement]) -> int:
    """Return 1 when an expectation failed, 4 when one is unknown, else 0."""
    verdicts = {judgement.verdict for judgement in judgements}
    return 1 if "fail" in verdicts else 4 if "unknown" in verdicts else 0
