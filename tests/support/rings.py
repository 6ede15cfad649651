"""A small world as a file, run on a terminal."""

import textwrap
from pathlib import Path

from tests.support.terminal import Terminal

RING = """
    schema = 1
    name = "ring"
    [run]
    seed = 7
    horizon = "60s"
    [data]
    source = "blobs"
    dimension = 3
    points = 20
    [task]
    l2 = 0.1
    [network]
    topology = "complete"
    latency = "50ms"
    [[nodes]]
    name = "peers"
    count = {count}
    budget = {{ epsilon = 8.0, delta = 1e-5 }}
    [mechanism]
    kind = "cd"
    noise = "gaussian"
    releases = 40
"""


def write(folder: Path, count: int) -> Path:
    file = folder / f"ring{count}.toml"
    text = textwrap.dedent(RING.format(count=count))
    file.write_text(text.replace('"complete"', '"ring"') if count > 100 else text)
    return file


def started(
    file: Path, columns: int = 100, lines: int = 30, *more: str, out: str = "run"
) -> Terminal:
    words = ("run", str(file), "--out", str(file.parent / out), "--speed", "4", *more)
    return Terminal(columns, lines, *words, cwd=file.parent)


def instant(terminal: Terminal) -> str:
    return terminal.screen.display[0].partition(" t ")[2].split(" ")[0]
