"""The verb `replay`: a recording in the live console, or a picture of one moment of it; nothing is computed."""

import argparse
import asyncio
import math
import sys
from pathlib import Path

from scenarios.command.option_values import pace, seconds
from scenarios.console.control.replay_control import ReplayControl
from scenarios.console.drawing.palette import theme_named
from scenarios.console.screens.screen import save, show, written
from scenarios.console.screens.svg import animation
from scenarios.console.screens.terminal import can_be_full, is_plain
from scenarios.console.screens.viewer import Viewer, viewer_of_recording
from scenarios.console.sources.recording import Recording
from scenarios.language.visible_text import say
from scenarios.records.file_guard import FolderError, guarded
from scenarios.running.control import Signals
from scenarios.running.run import INTERRUPTED

_SIZE = (100, 30)
_FPS, _MOST_FRAMES = 2.0, 2000


def perform(chosen: argparse.Namespace) -> int:
    """Show a recording; without a terminal, write one frame of it."""
    with guarded(chosen.run):
        return _replay(chosen)


def _replay(chosen: argparse.Namespace) -> int:
    folder = Path(chosen.run)
    size, at, speed = _size(chosen.size), seconds(chosen.at, "--at", zero=True), pace(chosen.speed)
    drawn = chosen.ascii if chosen.svg is not None else is_plain(asked=chosen.ascii)
    viewer, control = viewer_of_recording(chosen.folders.run(chosen.run), speed, ascii_only=drawn)
    recording = control.source
    if recording.upcoming is None:
        raise FolderError(f"{folder} has no events: it was cut off before the first, or is damaged")
    shows = chosen.svg is None and can_be_full()
    viewer.theme = theme_named(chosen.theme, light=None, few_colors=False)
    _open(viewer, chosen)
    if _moves(chosen):
        return _animate(viewer, control, chosen, size)
    if at is not None:
        _check_instant(recording, at, f"--at {chosen.at}")
    if at is not None or not shows:
        recording.seek(recording.length if at is None else round(at * 1e9))
        control.hold()
    if chosen.svg is not None:
        say(f"wrote {save(viewer.picture(*size), Path(chosen.svg), '')}")
        return 0
    if not shows:
        say(*written(viewer.draw(*size)))
        return 0
    return _watch(viewer, control, chosen)


def _moves(chosen: argparse.Namespace) -> bool:
    """Whether a picture that moves is asked for; raise `FolderError` for its options without a picture."""
    given = [
        name
        for name, value in (("--from", chosen.begins), ("--to", chosen.ends), ("--fps", chosen.fps))
        if value is not None
    ]
    if given and chosen.svg is None:
        raise FolderError(f"{given[0]} goes with --svg FILE")
    if given and chosen.at is not None:
        raise FolderError(f"--at is one moment, and {given[0]} asks for a picture that moves")
    return bool(given)


def _check_instant(recording: Recording, instant: float, words: str) -> None:
    if instant * 1e9 > recording.length:
        end = recording.length / 1e9
        raise FolderError(f"{words} is after the end of {recording.record.path} at {end:g} s")


def _animate(
    viewer: Viewer, control: ReplayControl, chosen: argparse.Namespace, size: tuple[int, int]
) -> int:
    """Write frames of a recording as one picture that moves."""
    recording = control.source
    begins = seconds(chosen.begins, "--from", zero=True) or 0.0
    ends = seconds(chosen.ends, "--to", zero=True)
    for instant, words in ((begins, f"--from {chosen.begins}"), (ends, f"--to {chosen.ends}")):
        if instant is not None:
            _check_instant(recording, instant, words)
    ends = recording.length / 1e9 if ends is None else ends
    fps, speed = _fps(chosen.fps), 1.0 if chosen.speed is None else control.speed
    if ends < begins:
        raise FolderError(f"--to {ends:g} s is before --from {begins:g} s")
    if speed == math.inf:
        raise FolderError("--speed max shows no picture that moves; give a number")
    stride = speed / fps
    count = 1 + math.floor((ends - begins) / stride + 1e-9)
    if count > _MOST_FRAMES:
        raise FolderError(
            f"{count:,} frames are more than {_MOST_FRAMES:,}: a smaller --fps, a larger --speed, or a shorter time"
        )
    control.hold()
    frames = []
    for k in range(count):
        recording.seek(round((begins + k * stride) * 1e9))
        frames.append(viewer.moving(*size, speed))
    text = animation(frames, fps, size[0], viewer.title, viewer.theme)
    say(
        f"wrote {save(text, Path(chosen.svg), '')}: {count} frames, {count / fps:.1f} s, {len(text) / 1e3:.0f} kB"
    )
    return 0


def _fps(text: str | None) -> float:
    """Read frames a second."""
    if text is None:
        return _FPS
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0.1 <= value <= 60:
        raise FolderError(f"--fps must be a number from 0.1 to 60, got {text}")
    return value


def _open(viewer: Viewer, chosen: argparse.Namespace) -> None:
    pane = viewer.session.pane
    size = pane.source.facts.size
    pane.change(scale=chosen.view or pane.view.scale)
    if chosen.node is not None:
        if not 0 <= chosen.node < size:
            raise FolderError(f"--node: no agent {chosen.node}: ids run from 0 to {size - 1}")
        pane.change(opened=chosen.node)


def _watch(viewer: Viewer, control: ReplayControl, chosen: argparse.Namespace) -> int:
    async def watch() -> None:
        await show(viewer, control.perform(), chosen.color, chosen.theme)

    with Signals(control):
        asyncio.run(watch())
    sys.stdout.flush()
    return INTERRUPTED if control.interrupted else 0


def _size(text: str | None) -> tuple[int, int]:
    """Read COLUMNSxLINES."""
    if text is None:
        return _SIZE
    columns, _, lines = text.partition("x")
    if not (
        columns.isdecimal()
        and lines.isdecimal()
        and 20 <= int(columns) <= 500
        and 8 <= int(lines) <= 300
    ):
        raise FolderError(f"--size must be such as 100x30, from 20x8 to 500x300; got {text}")
    return int(columns), int(lines)
