"""The verb `replay`: a recording in the live console, or a picture of one moment of it; nothing is computed."""

import argparse
import asyncio
import sys
from pathlib import Path

from scenarios.command.option_values import pace, seconds, warn
from scenarios.console.control.replay_control import ReplayControl
from scenarios.console.screens.screen import save, show, written
from scenarios.console.screens.terminal import can_be_full, is_plain
from scenarios.console.screens.viewer import Viewer, viewer_of_recording
from scenarios.language.visible_text import say
from scenarios.records.file_guard import FolderError, guarded
from scenarios.running.control import Signals
from scenarios.running.run import INTERRUPTED

_SIZE = (100, 30)


def perform(chosen: argparse.Namespace) -> int:
    """Show a recording; without a terminal, write one frame of it."""
    with guarded(chosen.run):
        return _replay(chosen)


def _replay(chosen: argparse.Namespace) -> int:
    folder = Path(chosen.run)
    size, at, speed = _size(chosen.size), seconds(chosen.at, "--at", zero=True), pace(chosen.speed)
    drawn = chosen.ascii if chosen.svg is not None else is_plain(asked=chosen.ascii)
    viewer, control = viewer_of_recording(folder, speed, ascii_only=drawn)
    recording = control.source
    warn(recording.record)
    if recording.upcoming is None:
        raise FolderError(f"{folder} has no events: it was cut off before the first, or is damaged")
    shows = chosen.svg is None and can_be_full()
    if at is not None and at * 1e9 > recording.length:
        raise FolderError(
            f"--at {chosen.at} is after the end of {folder} at {recording.length / 1e9:g} s"
        )
    if at is not None or not shows:
        recording.seek(recording.length if at is None else round(at * 1e9))
        control.hold()
    _open(viewer, chosen)
    if chosen.svg is not None:
        say(f"wrote {save(viewer.picture(*size), Path(chosen.svg), '')}")
        return 0
    if not shows:
        say(*written(viewer.draw(*size)))
        return 0
    return _watch(viewer, control, chosen)


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
        await show(viewer, control.perform(), chosen.color)

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
