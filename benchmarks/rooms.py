"""Where the processor time of an event loop goes, by room: hush's own profile, one run for each path."""

from collections.abc import Iterator
from typing import Any

from benchmarks import asynchronous
from benchmarks.measuring import Setting, Skip
from benchmarks.report import Row
from scenarios.planning.plan import Plan

ROOMS = (
    "clock",
    "agent",
    "links",
    "mechanism",
    "columns",
    "ledger",
    "record",
    "checks",
    "samples",
    "other",
)
"""Rooms of the profile that work while time passes; the rest of it counts as other."""


def measure(setting: Setting, name: str, n: int, d: int, ticks: int) -> Iterator[Row]:
    """Yield the share of each room of the event loop, by path, in per cent."""
    from benchmarks import hush_runs

    if setting.quick:
        n, ticks = 20, 2
    plan = hush_runs.plan_of(asynchronous.world(n, d, ticks))
    for path in hush_runs.PATHS:
        what = f"{path}, n = {n:,}, d = {d}: share of the event loop"
        try:
            shares, took, looks = shares_of(hush_runs.on_path(plan, path))
        except Skip as reason:
            for room in ROOMS:
                yield Row(f"{name}/{path}/{room}", f"{what}: {room}", "%", skipped=str(reason))
            continue
        for room in ROOMS:
            share = shares.get(room, 0.0)
            detail = {"µs per update": share * took, "looks": float(looks)}
            yield Row(f"{name}/{path}/{room}", f"{what}: {room}", "%", 100 * share, detail=detail)


def shares_of(plan: Plan) -> tuple[dict[str, float], float, int]:
    """Return the share of each room while time passes, the µs of an update, and how often the processor was looked at."""
    from benchmarks import hush_runs

    profile = new_profile()
    ran = hush_runs.execute(plan, at_begin=profile.start, at_end=profile.stop)
    shares = dict.fromkeys(ROOMS, 0.0)
    for room in profile.rooms():
        shares[room.name if room.name in ROOMS else "other"] += room.share
    return shares, 1e6 * ran.loop / ran.run.members.updates, profile.looks


def new_profile() -> Any:
    """Return a profile that has not begun; raise `Skip` for a version of hush without one."""
    try:
        from scenarios.running.profile import Profile
    except ImportError:
        raise Skip("this version of hush has no profile") from None
    return Profile()
