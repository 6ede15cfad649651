"""The schedule digest a second time, from the files alone: written after the text of `observers.rows`, not its code."""

import hashlib
import math
import struct
from collections.abc import Iterable
from typing import Any

CHANGES = {"joined": 0, "left": 1, "restarted": 2, "paused": 3, "resumed": 4}
LOSSES = {"nothing": 5, "volatile": 6, "all": 7}
OF_TURNS = {
    "woke",
    "round_opened",
    "proposed",
    "charged",
    "refused",
    "released",
    "sent",
    "duplicated",
}
ACTS = {"released": 1, "charged": 2, "refused": 3, "proposed": 4}


def charge_of(told: float | str) -> int:
    return -2 if told == "inf" else round(min(float(told) * 10**9, 2**62))


def split(events: Iterable[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Put the events of each turn together, and every other event that has a row alone."""
    parts: list[list[dict[str, Any]]] = []
    held = set[tuple[int, int]]()
    for event in events:
        kind = event["kind"]
        if kind in {"sent", "duplicated"}:
            pairs = (
                zip(event["to"], event["arrives"], strict=True)
                if kind == "sent"
                else [(event["receiver"], event["arrives"])]
            )
            held |= {(event["seq"], to) for to, arrival in pairs if arrival == -2}
        if kind in {"delivered", "rejected"}:
            event = event | {"held": (event["cause"], event["node"]) in held}  # noqa: PLW2901
            if not event["held"] and event.get("reason") != "corrupt":
                continue
        elif kind in OF_TURNS:
            last = parts[-1] if parts else []
            same = (
                bool(last)
                and last[0]["kind"] in OF_TURNS
                and all(last[0][k] == event[k] for k in ("node", "t"))
            )
            again = kind == "proposed" and any(e["kind"] == "proposed" for e in last)
            if same and not again and kind not in {"woke", "round_opened"}:
                last.append(event)
                continue
        elif kind not in {
            *CHANGES,
            "crashed",
            "fault_began",
            "fault_ended",
            "round_closed",
            "round_aborted",
            "sampled",
        }:
            continue
        parts.append([event])
    return parts


def row_of(part: list[dict[str, Any]]) -> list[int]:
    first = part[0]
    t, node = first["t"], first["node"]
    match first["kind"]:
        case "fault_began" | "fault_ended" as kind:
            targets = first["targets"]
            return [2 if kind == "fault_began" else 3, t, first["fault"], len(targets), *targets]
        case "crashed":
            return [4, t, node, LOSSES[first["lost"]]]
        case "round_closed" | "round_aborted" as kind:
            return [
                5,
                t,
                node,
                first["round"],
                int(kind == "round_aborted"),
                len(first["survivors"]),
                *first["survivors"],
            ]
        case "delivered" | "rejected":
            verdict = 2 if first.get("reason") == "corrupt" else int(first["kind"] == "rejected")
            return [6, first["arrived"], node, first["sender"], verdict]
        case "sampled":
            return [7, t]
        case kind if kind in CHANGES:
            return [4, t, node, CHANGES[kind]]
    paid = [e for e in part if e["kind"] in {"proposed", "charged", "refused"}]
    k, charge = (paid[-1]["k"], charge_of(paid[-1]["charged"])) if paid else (-1, -1)
    act = next((code for kind, code in ACTS.items() if any(e["kind"] == kind for e in part)), 0)
    messages: list[int] = []
    for e in part:
        if e["kind"] == "sent":
            for to, arrival in zip(e["to"], e["arrives"], strict=True):
                messages += [to, max(arrival, -1), max(-arrival, 0) if arrival < 0 else 0]
        elif e["kind"] == "duplicated":
            fate = -e["arrives"] if e["arrives"] < 0 else 0
            messages += [e["receiver"], max(e["arrives"], -1), 4 + fate]
    woke = int(first["kind"] in {"woke", "round_opened"})
    return [1, t, node, woke, k, charge, act, len(messages) // 3, *messages]


def rows(events: Iterable[dict[str, Any]]) -> list[list[int]]:
    return [row_of(part) for part in split(events)]


def digest(events: Iterable[dict[str, Any]]) -> str:
    numbers = [number for row in rows(events) for number in row]
    assert all(not math.isnan(n) for n in numbers)
    return hashlib.sha256(struct.pack(f"<{len(numbers)}q", *numbers)).hexdigest()
