"""A run in words: the lines that show its summary to a person."""

from typing import Any

import numpy as np

from mechanisms.accounting.compose import TIGHTEST
from scenarios.language.json_numbers import figure, number, self_declared, without_dust
from scenarios.language.visible_text import UNWRAPPED, hung
from scenarios.planning.fault_kinds import FAULTS, Hits

Values = dict[str, Any]


def _show(value: Any, form: str = ".4g") -> str:
    if value is None:
        return "—"
    if value == "inf":
        return "∞"
    return format(value, form) if isinstance(value, (int, float)) else str(value)


def _figure(value: Any, form: str = ".4g") -> str:
    """Return a figure of models in words; what is left of it by rounding alone is 0."""
    return _show(without_dust(value) if isinstance(value, (int, float)) else value, form)


def in_words(summary: Values, width: int = UNWRAPPED) -> list[str]:
    """Return a summary as lines of at most about 100 characters; notes and warnings are no wider than `width`."""
    score = "accuracy" if "accuracy" in summary else "rmse"
    messages = summary["messages"]
    lines = [
        f"{summary['scenario']} · seed {summary['seed']} · {summary['status']} at "
        f"{_show(summary['ended_s'], '.6g')} s ({summary['ended_by']})",
        "",
        f"  loss      {_figure(summary['loss']['mean'])} mean, {_figure(summary['loss']['max'])} worst"
        f"{_over(summary)}   (an oracle's view: losses are not released)",
    ]
    test, local = summary[score]["test"], summary["local"]
    shown = f"  {score:<9} {_figure(test)} test, {_figure(summary[score]['train'])} train"
    if "validation" in summary[score]:
        shown += f", {_figure(summary[score]['validation'])} validation"
    shown += _over(summary)
    if local is not None and test is not None:
        shown += f"   purely local: {_figure(local[score])} test, loss {_figure(local['loss'])}"
    lines.append(shown)
    if summary["gain"] is not None:
        lines += _verdict_on_gain(summary, score)
    if summary["objective"] is not None:
        gap = summary["gap"]
        objective = f"  objective {_figure(summary['objective'], '.6g')}"
        if gap is None:
            objective += "   (no single minimum was found to compare it with)"
        else:
            objective += f", {_figure(figure(abs(number(gap))))} {'below' if number(gap) < 0 else 'above'} its optimum"
        lines.append(objective)
    lines += _diverged(summary) or _unscored(summary)
    lines += _epsilon_lines(summary)
    lines += _unspent(summary)
    lines += [
        f"  releases  {summary['releases']:,} charged, {summary['refused']:,} refused; "
        f"{summary['derived']:,} derived messages (free); {summary['updates']:,} updates",
        f"  messages  {messages['sent']:,} sent{_doubled(messages)} = {messages['delivered']:,} delivered + {messages['lost']:,} lost + "
        f"{messages['rejected']:,} rejected + {messages['in_flight']:,} in flight",
    ]
    if summary.get("server"):
        lines.append(
            f"  rounds    {summary['server']['rounds']:,} opened, {summary['server']['aborted']:,} aborted"
        )
    lines += _fault_lines(summary.get("faults") or [])
    if len(summary["groups"]) > 1:
        lines += ["", *_group_lines(summary["groups"], score)]
    for word, key in (("note      ", "notes"), ("warning   ", "warnings")):
        lines += [line for text in summary[key] for line in hung(word, text, width)]
    return [*lines, "", *_verdict_lines(summary)]


def entries(summary: Values) -> list[tuple[str, list[str]]]:
    """Return what `in_words` says of figures as words, each with its lines; groups, notes and verdicts have other places."""
    figures = in_words(summary | {"groups": [], "notes": [], "warnings": []})[2:]
    words: list[tuple[str, list[str]]] = []
    for line in figures[: figures.index("")]:
        word, said = line[2:12].strip(), line[12:].strip()
        said = said.replace("   (", " (").replace("   ", "; ")
        if word or not words:
            words.append((word, [said]))
        else:
            words[-1][1].append(said)
    return words


def _over(summary: Values) -> str:
    """Return over how many agents the means are; empty where those are all."""
    over = summary.get("means_over")
    return f" ({over['words']})" if over is not None and over["agents"] < over["of"] else ""


def _diverged(summary: Values) -> list[str]:
    states = [node["state"] for node in summary["nodes"]]
    gone, members = states.count("diverged"), len(states) - states.count("absent")
    if not gone:
        return []
    if gone == members:
        return [
            f"  verdict   DIVERGED: what each of the {gone} agents computes is no number any more"
        ]
    return [f"  diverged  {gone} of {members} agents: what they compute is no number any more"]


def _unscored(summary: Values) -> list[str]:
    """Return why no model has a loss, where none has."""
    why = summary.get("reasons", {}).get("loss.*", "")
    return [f"            {why}"] if summary["loss"]["mean"] is None and why else []


def _doubled(messages: Values) -> str:
    copies = messages["duplicated"]
    return f" + {copies:,} duplicated" if copies else ""


def faults_in_words(faults: list[Values]) -> list[str]:
    """Return how often each fault happened, and what it hit: a text for each name."""
    by_name: dict[str, list[int]] = {}
    for fault in faults:
        mine = by_name.setdefault(fault["name"], [0, 0, 0])
        for at, key in enumerate(("fired", "struck", "touched")):
            mine[at] += fault[key]
    return [f"{name} {counts[0]}×{_hit(name, counts)}" for name, counts in by_name.items()]


def _hit(name: str, counts: list[int]) -> str:
    fired, struck, touched = counts
    if touched:
        return f" ({touched:,} messages)"
    counts_targets = name in FAULTS and FAULTS[name].hits is not Hits.UNTOLD
    return " (hit no agent)" if fired and not struck and counts_targets else ""


def _fault_lines(faults: list[Values]) -> list[str]:
    words = faults_in_words(faults)
    return [f"  faults    {', '.join(words)}"] if words else []


def _epsilon_lines(summary: Values) -> list[str]:
    """Return the lines on ε: the headline with its terms, what was claimed, every accountant, every view."""
    epsilon = summary["epsilon"]
    lines = [
        f"  ε         {_show(epsilon['max'])} largest, {_show(epsilon['mean'])} mean"
        f"   ({epsilon['view']} view, δ = {_show(epsilon['delta'])}, accountant: {epsilon['accountant']})"
    ]
    if epsilon["max"] != 0 and "asked" in epsilon:
        lines.append(f"            {_headline(epsilon['asked'], epsilon.get('declared_by'))}")
    if epsilon["max"] == 0 and summary["releases"]:
        lines.append("            0 says that δ alone covers it: something was released")
    code = epsilon.get("declared_by")
    declared = self_declared(code) if code else ""
    if declared:
        lines.append(f"            NOT COVERED: {declared}")
    claimed = epsilon.get("claimed")
    if claimed is not None and _above(epsilon["max"], claimed):
        lines.append(f"            its calibration claims {_show(claimed)}: that is not kept")
    if epsilon.get("delta_may_exceed"):
        groups = ", ".join(epsilon["delta_may_exceed"])
        lines.append(f"            δ of {groups} may exceed 1/m: budget.delta_may_exceed")
    others = [f"{name} {_show(value)}" for name, value in epsilon["side_by_side"].items()]
    if len(others) > 1:
        lines.append(f"            the same ledgers by {', '.join(others)}")
        if len({_show(value) for value in epsilon["side_by_side"].values()}) > 1:
            lines.append(f"            {WHY_THEY_DIFFER}")
    reasons = [reason for reason in epsilon.get("not_covered", ()) if reason != declared]
    lines += [f"            NOT COVERED: {reason}" for reason in reasons]
    if len(epsilon["views"]) > 1 and len(set(map(str, epsilon["views"].values()))) > 1:
        views = [f"{view} {_show(value)}" for view, value in epsilon["views"].items()]
        lines.append(f"            in every view: {', '.join(views)}")
    return lines


WHY_THEY_DIFFER = (
    "each is an upper bound on one loss; they differ by what their arguments give away"
)
"""Why accountants show different ε of the same releases."""


def _headline(asked: str, code: str | None) -> str:
    """Return by which rule the ε that stands first was chosen; `code` is what declares the charges itself."""
    if asked == TIGHTEST and code:
        return "the headline is the accountant that comes lowest on what the code declares"
    if asked == TIGHTEST:
        return "the headline is the least bound that is proved: the accountant that comes lowest"
    return f'the headline is by the accountant that privacy.accountant names: "{asked}"'


def _held(holders: list[str]) -> str:
    """Return what holds the caps."""
    return f"each agent's cap is held by {' or '.join(holders)}, over all that an eavesdropper sees of its releases"


def _unspent(summary: Values) -> list[str]:
    """Return a line on what caps leave, as their filters count it, and on what they refused; none without caps."""
    left = [number(node["left"]) for node in summary["nodes"] if node.get("left") is not None]
    if not left:
        return []
    epsilon, refused = summary["epsilon"], summary["refused"]
    by, holders = epsilon.get("calibrated"), epsilon.get("held_by")
    held = [f"  budget    {_held(holders)}"] if holders else []
    label = "          " if held else "  budget  "
    return [
        *held,
        f"{label}  {_show(float(np.mean(left)), '.2f')} left on average, {_show(max(left), '.2f')} at most; "
        f"{refused:,} releases were refused{f'; noise calibrated by {by}' if by else ''}",
    ]


def _above(charged: Any, claimed: Any) -> bool:
    """Whether the charge is above the claim by more than rounding."""
    return number(charged) > number(claimed) * (1 + 1e-4)


def _verdict_on_gain(summary: Values, score: str) -> list[str]:
    gain, harmed = without_dust(summary["gain"]), summary["harmed"]
    better = "beats" if gain > 0 else "does NOT beat"
    noisy = summary["releases"] > 0 and summary["epsilon"]["max"] != "inf"
    learner = "private learning" if noisy else "learning together"
    if _is_unfinished(summary):
        return [
            f"            so far {learner} is at {gain:+.4g} {score} from purely local learning on average,",
            f"            and {_show(100 * (harmed or 0), '.0f')} % of the agents are worse off than alone",
        ]
    return [
        f"            {learner} {better} purely local learning here: {gain:+.4g} {score} on average;",
        f"            {_show(100 * (harmed or 0), '.0f')} % of the agents are worse off than alone",
    ]


def _group_lines(groups: list[Values], score: str) -> list[str]:
    counts = [_counted(group) for group in groups]
    room = max(6, *map(len, counts))
    wide = max(12, *(len(g["name"]) for g in groups))
    lines = [
        f"  {'group':<{wide}} {'agents':>{room}} {'releases':>8} {'refused':>7} {'ε max':>8} {'cap':>6} {'loss':>8} {score:>9}"
    ]
    lines += [
        f"  {g['name']:<{wide}} {count:>{room}} {g['releases']:>8} {g['refused']:>7} {_show(g['epsilon']):>8} "
        f"{_show(g['cap']):>6} {_figure(g['loss']):>8} {_figure(g[score]):>9}"
        for g, count in zip(groups, counts, strict=True)
    ]
    return lines


def _counted(group: Values) -> str:
    """Return how many agents a group has, and over how many of them its means are, where those are fewer."""
    over = group.get("means_over")
    fewer = over is not None and over["agents"] < over["of"]
    return f"{over['agents']} of {group['count']}" if over and fewer else str(group["count"])


def _verdict_lines(summary: Values) -> list[str]:
    verdicts = {name: invariant["verdict"] for name, invariant in summary["invariants"].items()}
    broken = [name for name, verdict in verdicts.items() if verdict == "fail"]
    unknown = [name for name, verdict in verdicts.items() if verdict == "unknown"]
    passes = list(verdicts.values()).count("pass")
    unfinished = _is_unfinished(summary)
    so_far = " so far" if unfinished else ""
    lines = [
        f"  invariants {passes}/{len(verdicts)} hold{so_far}"
        + (f"; BROKEN: {', '.join(broken)}" if broken else "")
        + (f"; unknown: {', '.join(unknown)}" if unknown else "")
    ]
    lines += [f"  {expectation_line(f, unfinished=unfinished)}" for f in summary["expectations"]]
    unproved = summary.get("targets_not_covered", {})
    for name, value in summary["targets"].items():
        reason = f"   (not covered: {unproved[name]})" if name in unproved else ""
        lines.append(f"  target    {name} = {_show(value, '.6g')}{so_far}{reason}")
    return lines


def _is_unfinished(summary: Values) -> bool:
    """Whether a run was ended before its end: its figures are of its first part, and no verdict."""
    return bool(summary["status"] == "interrupted")


def expectation_line(expect: Values, *, unfinished: bool = False) -> str:
    """Return what was expected and what came, with a mark of the verdict; of an unfinished run the value so far."""
    mark = {"pass": "✓", "fail": "✕", "unknown": "?"}[expect["verdict"]]
    note = f" ({expect['note']})" if expect.get("note") else ""
    return f"{mark} expected {expect['wanted']}{_got(expect, unfinished=unfinished)}{note}"


def _got(expect: Values, *, unfinished: bool) -> str:
    if expect["wanted"].startswith("sometimes"):
        return "" if expect["t"] is None else f"; first at {_show(expect['t'], '.6g')} s"
    if unfinished and expect["verdict"] == "unknown":
        return "" if expect["got"] is None else f"; {_show(expect['got'], '.6g')} so far"
    return f"; got {_show(expect['got'], '.6g')}"
