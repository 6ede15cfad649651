"""The profile of a run as files of its folder, and in words."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scenarios.language.visible_text import visible
from scenarios.pictures.flame_graph import flame_graph
from scenarios.records.folder_error import FolderError
from scenarios.records.run_folder import FLAMES, FOLDED
from scenarios.records.whole_file import write_whole
from scenarios.running.profile import Profile, RoomShare
from scenarios.running.profile_rooms import ROOMS

_BAR, _WIDE = 24, 58
"""The length of the longest bar; so wide a terminal has room for bars."""
_WIDER = _WIDE + 1 + max(len(room.summary) for room in ROOMS.values())
"""So wide a terminal has room for words beside the bars."""
_MOST_BYTES = 64 << 20
"""No profile is larger; a larger file is none, and is not read."""


def write_profile(profile: Profile, folder: Path, name: str) -> tuple[Path, Path]:
    """Write a profile into the folder of its run, as stacks and as a flame graph; return both files.

    Raises `OSError` where the disk takes them not.
    """
    folded = profile.folded()
    lines = [f"{';'.join(map(_frame, stack))} {spent}\n" for stack, spent in folded.items()]
    stacks, picture = folder / FOLDED, folder / FLAMES
    write_whole(stacks, "".join(lines))
    title = f"hush run {name}: {profile.spent_s:.2f} s of processor time, {profile.looks:,} samples"
    colors = {room.name: room.color for room in ROOMS.values()}
    write_whole(picture, flame_graph(folded, colors, title))
    return stacks, picture


def _frame(name: str) -> str:
    """Return a name as one frame of a line: `;` parts frames, and a line ends with a blank and a number."""
    return visible(name).replace(";", ",")


def read_profile(folder: Path) -> dict[str, float]:
    """Return the processor time of each room (s) from the folder of a run; raise `FolderError` where it has no profile."""
    file = folder / FOLDED
    if not file.is_file():
        raise FolderError(f"{folder} has no {FOLDED}: only runs with --profile leave one")
    if file.stat().st_size > _MOST_BYTES:
        raise FolderError(f"{file} is damaged: it has more than {_MOST_BYTES:,} bytes")
    spent: dict[str, int] = {}
    for number, line in enumerate(file.read_text("utf-8", errors="replace").splitlines(), start=1):
        stack, _, microseconds = line.rpartition(" ")
        room = stack.partition(";")[0]
        if room not in ROOMS or not (microseconds.isascii() and microseconds.isdigit()):
            raise FolderError(f"{file} is damaged: line {number} is no stack of a room")
        spent[room] = spent.get(room, 0) + int(microseconds[:18])
    return {room: spent[room] / 1e6 for room in ROOMS if room in spent}


def in_words(profile: Profile, width: int) -> list[str]:
    """Return where time went as lines for a person, none wider than `width` where that is 58 or more."""
    rooms = sorted(profile.rooms(), key=lambda room: -room.spent_s)
    most = max((room.share for room in rooms), default=0.0)
    head = f"  where {profile.spent_s:.2f} s of processor time went ({profile.looks:,} samples)"
    own = f"  looking itself took {profile.own_s:.2f} s more ({_percent(own_share(profile))})"
    return [head, *(_line(room, most, width) for room in rooms), own]


def own_share(profile: Profile) -> float:
    """Return what looking took, as a share of what the run took."""
    return profile.own_s / profile.spent_s if profile.spent_s else 0.0


def _line(room: RoomShare, most: float, width: int) -> str:
    line = f"  {room.name:<9} {_percent(room.share):>7} {room.spent_s:>9.3f} s"
    if width >= _WIDE:
        bar = "█" * max(1, round(_BAR * room.share / most)) if room.share and most else ""
        line = f"{line}  {bar:<{_BAR}}"
    if width >= _WIDER:
        line = f"{line}  {room.summary}"
    return line.rstrip()


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def as_json(profile: Profile, files: Mapping[str, str]) -> dict[str, Any]:
    """Return a profile as JSON has it: seconds, shares and samples by room."""
    rooms = {
        room.name: {"spent_s": room.spent_s, "share": room.share, "samples": room.looks}
        for room in profile.rooms()
    }
    return {
        "kind": "profile",
        "spent_s": profile.spent_s,
        "samples": profile.looks,
        "looking_s": profile.own_s,
        "rooms": rooms,
        **files,
    }
