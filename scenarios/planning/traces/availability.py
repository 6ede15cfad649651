"""Traces of devices that come and go: user behaviour as FLASH publishes it (Yang et al. 2021), logs of states, and sessions."""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from scenarios.language.value_rules import LONGEST_S
from scenarios.language.visible_text import visible
from scenarios.planning.files import BadData
from scenarios.planning.traces import Hygiene, Imported
from scenarios.planning.traces.text_rows import Row, is_header, moment, number, shown

_DAY = 86_400.0
_WRAPS = {"32 bits of milliseconds": 2**32 / 1000, "32 bits of seconds": 2.0**32, "a day": _DAY}
"""By how much a clock jumps back that begins anew, in seconds."""
_NEAR = 0.1
"""A jump back is a wrap where what is missing to one is less than this share of it."""
_GAP_S = _DAY
_ON = frozenset({"1", "true", "on", "up", "online", "available", "yes"})
_OFF = frozenset({"0", "false", "off", "down", "offline", "unavailable", "no"})
NEEDS = ("idle", "charging", "wifi")
"""What a device of the FLASH format must be to count as available."""
_CHANGES: dict[str, tuple[str, bool]] = {
    "screen_off": ("dark", True),
    "screen_on": ("dark", False),
    "screen_lock": ("locked", True),
    "screen_unlock": ("locked", False),
    "battery_charged_on": ("charging", True),
    "battery_charged_off": ("charging", False),
    "wifi": ("wifi", True),
    "unknown": ("wifi", False),
    "2g": ("wifi", False),
    "3g": ("wifi", False),
    "4g": ("wifi", False),
    "5g": ("wifi", False),
}
"""What a message of the FLASH format says of a device."""
_NO_CHANGE = frozenset({"battery_low", "battery_okay", "phone_on", "phone_off"})


class _Device(msgspec.Struct):
    """A device of the FLASH format, as far as it is read."""

    messages: str = ""


class Session(NamedTuple):
    """A device is there from one instant to another, in seconds; where that stands."""

    device: str
    begin: float
    end: float
    place: str


class _Change(NamedTuple):
    """What a device says at an instant, and whether it is there from then on."""

    time: float
    said: str
    online: bool
    place: str


def imported(
    text: str,
    rows: Sequence[Row],
    hygiene: Hygiene,
    unit_s: float,
    *,
    needs: Sequence[str] = NEEDS,
    from_start: bool = False,
) -> Imported:
    """Return the sessions of a trace as rows of id, from, to, in seconds.

    Dates count from the first session of the trace; numbers do so with `from_start`, else they stay as they are.
    """
    dated = text.lstrip().startswith("{")
    if dated:
        sessions = _of_messages(text, hygiene, needs)
    else:
        body = rows[1:] if rows and is_header(rows[0]) else rows
        if not body:
            raise BadData("holds no rows")
        words = [row for row in body if len(row.cells) != 3]
        if words:
            wanted = "must have rows of id,from,to or of id,time,state"
            raise BadData(f"{wanted}: {words[0].place} has {len(words[0].cells)} cells")
        is_log = _is_log(rows, body)
        sessions = (_of_log if is_log else _of_rows)(body, hygiene, unit_s)
        dated = number(body[0].cells[1]) is None
    return _written(_tidied(sessions, hygiene), hygiene, from_start=dated or from_start)


def _is_log(rows: Sequence[Row], body: Sequence[Row]) -> bool:
    """Whether rows are id, time, state: by the name of the last column, or because its cells are words and no numbers."""
    if rows[0] is not body[0]:
        return rows[0].cells[-1].lower() in {"state", "status", "online", "available", "event"}
    states = {row.cells[2].lower() for row in body[:1000]}
    return all(state in _ON | _OFF and number(state) is None for state in states)


def _of_rows(body: Sequence[Row], hygiene: Hygiene, unit_s: float) -> list[Session]:
    """Read sessions: rows of id, from, to."""
    sessions, missing, negative, backward = list[Session](), list[str](), list[str](), list[str]()
    for row in body:
        begin, end = (_instant(cell, row, unit_s) for cell in row.cells[1:])
        if not (math.isfinite(begin) and math.isfinite(end)):
            missing.append(row.place)
        elif begin < 0:
            negative.append(row.place)
        elif not begin < end:
            backward.append(row.place)
        else:
            sessions.append(Session(row.cells[0], begin, end, row.place))
    hygiene.mend("times that are missing", missing, {"drop": "dropped"})
    hygiene.mend("negative times", negative, {"drop": "dropped"})
    hygiene.mend("sessions that end before they begin", backward, {"drop": "dropped"})
    return _without_duplicates(sessions, hygiene)


def _without_duplicates(sessions: list[Session], hygiene: Hygiene) -> list[Session]:
    seen, kept, twice = set[tuple[str, float, float]](), list[Session](), list[str]()
    for session in sessions:
        if session[:3] in seen:
            twice.append(session.place)
        else:
            seen.add(session[:3])
            kept.append(session)
    hygiene.find("duplicated rows", twice, "dropped: they say nothing new")
    return kept


def _of_log(body: Sequence[Row], hygiene: Hygiene, unit_s: float) -> list[Session]:
    """Read a log: rows of id, time, state."""
    logs, missing, unknown = dict[str, list[_Change]](), list[str](), list[str]()
    for row in body:
        time, state = _instant(row.cells[1], row, unit_s), row.cells[2].lower()
        if not math.isfinite(time):
            missing.append(row.place)
        elif state not in _ON | _OFF:
            unknown.append(row.place)
        else:
            logs.setdefault(row.cells[0], []).append(_Change(time, state, state in _ON, row.place))
    hygiene.mend("times that are missing", missing, {"drop": "dropped"})
    hygiene.mend("states that are neither on nor off", unknown, {"drop": "dropped"})
    return _of_changes(logs, hygiene)


def _of_messages(text: str, hygiene: Hygiene, needs: Sequence[str]) -> list[Session]:
    """Read the FLASH format: JSON of device → messages, lines of a time, a tab and a state."""
    try:
        devices = msgspec.json.decode(text.encode(), type=dict[str, _Device])
    except (msgspec.MsgspecError, RecursionError) as error:
        raise BadData(f"must be JSON of devices, each with its messages: {error}") from None
    logs, unreadable, unknown = dict[str, list[_Change]](), list[str](), list[str]()
    for device, said in devices.items():
        is_so = dict.fromkeys(("dark", "locked", "charging", "wifi"), False)
        log = logs.setdefault(device, [])
        for n, line in enumerate(said.messages.replace("\0", "").split("\n"), 1):
            if not line.strip():
                continue
            place = f"message {n} of device {device}"
            when, _, state = line.strip().partition("\t")
            time, state = moment(when.strip()), state.strip().lower()
            if time is None:
                unreadable.append(place)
                continue
            if state in _CHANGES:
                part, holds = _CHANGES[state]
                is_so[part] = holds
            elif state not in _NO_CHANGE and not state.endswith("%"):
                unknown.append(place)
            idle = is_so["dark"] or is_so["locked"]
            online = all(idle if need == "idle" else is_so[need] for need in needs)
            log.append(_Change(time, state, online, place))
    hygiene.facts["available while"] = ", ".join(needs)
    hygiene.mend("messages without a time", unreadable, {"drop": "dropped"})
    hygiene.find("states that are not known", unknown, "ignored: they change nothing")
    return _of_changes(logs, hygiene)


def _of_changes(logs: dict[str, list[_Change]], hygiene: Hygiene) -> list[Session]:
    """Return the sessions of logs: from a state of on to the next of off, or to the last that a device says."""
    back, wrapped, twice, gaps = list[str](), list[str](), list[str](), list[str]()
    sessions = list[Session]()
    unwraps, drops = "unwrap" in hygiene.allowed, "drop" in hygiene.allowed
    for device, log in logs.items():
        sane, shift = list[_Change](), 0.0
        for change in log:
            last = sane[-1] if sane else None
            now = change._replace(time=change.time + shift)
            if last is not None and now[:2] == last[:2]:
                twice.append(change.place)
                continue
            if last is not None and now.time < last.time:
                jump = _wrap(last.time - now.time)
                (back if jump is None else wrapped).append(change.place)
                if jump is not None and unwraps:
                    shift += jump
                    now = now._replace(time=now.time + jump)
                elif drops:
                    continue
            if last is not None and now.time - last.time > _GAP_S:
                gaps.append(change.place)
            sane.append(now)
        sessions += _spells(device, sane)
    hygiene.find("duplicated rows", twice, "dropped: they say nothing new")
    hygiene.mend(
        "clocks that begin anew (by a day, or 32 bits)",
        wrapped,
        {
            "unwrap": "what was lost was added again",
            "drop": "dropped until the clock has caught up",
        },
    )
    hygiene.mend("clocks that go back", back, {"drop": "dropped until the clock has caught up"})
    hygiene.find("silences of more than a day", gaps, "kept: a state holds until the next is told")
    return sessions


def _wrap(jump: float) -> float | None:
    """Return by how much a clock began anew that went back so far; None where it went back otherwise."""
    return next((whole for whole in _WRAPS.values() if 0 <= whole - jump < _NEAR * whole), None)


def _spells(device: str, log: Iterable[_Change]) -> list[Session]:
    spells, began, last = list[Session](), None, None
    for change in log:
        if change.online and began is None:
            began = change
        elif not change.online and began is not None:
            if change.time > began.time:
                spells.append(Session(device, began.time, change.time, began.place))
            began = None
        last = change
    if began is not None and last is not None and last.time > began.time:
        spells.append(Session(device, began.time, last.time, began.place))
    if not spells and last is not None:
        spells.append(Session(device, last.time, last.time, last.place))  # it was there never
    return spells


def _tidied(sessions: list[Session], hygiene: Hygiene) -> list[Session]:
    """Merge sessions that overlap, and leave out devices that are never there."""
    of = dict[str, list[Session]]()
    for session in sessions:
        of.setdefault(session.device, []).append(session)
    overlaps, never, tidy = list[str](), list[str](), list[Session]()
    for device, its in of.items():
        kept = list[Session]()
        for session in sorted((s for s in its if s.begin < s.end), key=lambda s: s[1:3]):
            if kept and session.begin < kept[-1].end:
                overlaps.append(session.place)
                kept[-1] = kept[-1]._replace(end=max(kept[-1].end, session.end))
            else:
                kept.append(session)
        if not kept:
            never.append(f"device {device}")
        tidy += kept
    hygiene.mend("sessions that overlap", overlaps, {"merge": "merged into one"})
    hygiene.find("devices that are never there", never, "left out: they have no number")
    return tidy


def _written(sessions: list[Session], hygiene: Hygiene, *, from_start: bool) -> Imported:
    """Return the rows of churn: ids by the order in which devices first stand in the file."""
    if not sessions:
        raise BadData("holds no session: no device is ever there")
    ids = {name: i for i, name in enumerate(dict.fromkeys(s.device for s in sessions))}
    first = min(session.begin for session in sessions)
    last = max(session.end for session in sessions)
    origin = first if from_start else 0.0
    ends = last - origin
    if not ends < LONGEST_S:
        raise BadData(
            f"lasts {ends:.3g} s, more than 285 years: perhaps the unit is another (--unit)"
        )
    online = sum(session.end - session.begin for session in sessions)
    hygiene.facts |= {
        "devices": len(ids),
        "sessions": len(sessions),
        "first_s": first - origin,
        "last_s": ends,
        "online": online / ((last - first) * len(ids)),
    }
    names = [f"# agent {i}: {visible(name)[:80]}" for name, i in ids.items()]
    rows = [f"{ids[s.device]} {s.begin - origin!r} {s.end - origin!r}" for s in sessions]
    usage = '[[fault]]\nat = "0s"\nchurn = {{ on = "all", path = "{}" }}'
    return Imported("availability", ("# id from to, in seconds", *names, *rows), hygiene, usage)


def _instant(cell: str, row: Row, unit_s: float) -> float:
    """Read an instant in seconds: a number of units, or a date and time. Raises BadData for what is none."""
    value = number(cell)
    if value is None:
        value = moment(cell)
        if value is None:
            raise BadData(f"{row.place}: {shown(cell)} is no time")
        return value
    return value * unit_s
