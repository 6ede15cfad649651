"""What a screen shows, made up: a model of any size, and its frame as text."""

import math
from dataclasses import replace
from functools import cache
from typing import Any

from scenarios.console.assembly.panels import candidates
from scenarios.console.assembly.places import places
from scenarios.console.drawing.frame import frame
from scenarios.console.drawing.layout import scale_for
from scenarios.console.drawing.model import (
    Cohort,
    Crowd,
    Feed,
    Header,
    Messages,
    Model,
    Nodes,
    Point,
    Row,
    SidePanel,
    Story,
    Window,
)
from scenarios.console.drawing.network import Dot, Geometry, NetworkView


def row(i: int, **changes: Any) -> Row:
    return replace(Row(i, "up", 2.0, 8.0, 0.5, [0.7, 0.6, 0.5], 12, 3, 1.5), **changes)


HEADER = Header(
    name="small",
    mechanism="cd",
    mode="live",
    seed=7,
    goes="plays",
    speed=math.inf,
    now_s=12.5,
    seq=99,
    end_s=60.0,
    share=0.4,
    pace=math.nan,
    events_per_s=9000.0,
    left_s=3.0,
    wall_s=2.0,
    queue=12,
    memory_mb=80.0,
    recorded_mb=1.0,
    privacy="eavesdropper view, δ = 1e-05, gaussian",
    steered=False,
    covered=True,
    invariants=13,
    held=13,
    broken="",
)


STORY = Story(
    metric="loss*",
    of_agents=True,
    points=[Point(0.0, 0.6, 0.5, 0.7), Point(10.0, 0.4, 0.3, 0.5)],
    references=[("alone", 0.45)],
    headline="gain +0.05 over alone",
    gains=True,
    spent=[(0.0, 0.0), (10.0, 0.25)],
)
LINKS = {(0, 1): 0.012, (1, 2): -1.0, (2, 3): -2.0, (3, 4): math.nan}
PACES = [(5.0, 0.0), (6.0, 0.1)]


def sides(scale: str, **parts: Any) -> list[SidePanel]:
    """The panels that may stand beside the events at a scale, with made-up parts, or given ones."""
    parts = {"links": LINKS, "throughput": PACES, **parts}
    shown = candidates(scale, "")
    return [SidePanel(panel.name, parts[panel.name], panel.draw, panel.fits) for panel in shown]


@cache
def network_view(count: int) -> NetworkView:
    """A ring of so many agents, of which every second one has spent a half."""
    edges = [(i, (i + 1) % count) for i in range(count if count > 2 else count - 1)]
    ring = [(min(a, b), max(a, b)) for a, b in edges]
    shares = [0.5 if i % 2 else 0.0 for i in range(count)]
    dots = [Dot(str(i), "up", share, i) for i, share in enumerate(shares)]
    return NetworkView(
        Geometry(places(count, ring), ring),
        dots,
        {},
        frozenset(),
        "ε/cap",
        0.0,
        1.0,
        0,
        0,
        0,
    )


def model(count: int = 5, scale: str = "", **changes: Any) -> Model:
    rows = [row(i) for i in range(min(count, 60))]
    nodes = Nodes(
        rows=rows,
        first=0,
        listed=count,
        count=count,
        cursor=0,
        sort="id",
        filter="",
        states=["up"] * count,
        shares=[0.25] * count,
        epsilon_worst=2.0,
        epsilon_median=1.5,
        worst=0,
        losses=(0.4, 0.5, 0.6),
    )
    crowd = Crowd(
        12.0,
        12.0,
        [*((f"{10 * i}–{10 * i + 10}%", i) for i in range(10)), ("spent ■", 1)],
        [("ε spent", [0, 1, 2, 3, 4, 5, 6])],
        [Cohort("phones", 5, 4, 1.0, 0.5)],
        [("ε", [(1, "up", 2.0)])],
        {"up": count},
    )
    windows = [
        Window(0, "crash", "crash", (2,), 1.0, None, 20.0),
        Window(1, "loss", "loss", (1, 3), 30.0, None, 40.0),
    ]
    base = Model(
        header=HEADER,
        nodes=nodes,
        scale=scale or scale_for(count),
        crowd=crowd,
        network=network_view(min(count, 120)),
        story=STORY,
        windows=windows,
        fault=None,
        link=None,
        messages=Messages(100, 0, 90, 4, 2, 4, 7, 7),
        feed=Feed([("1.0 sent", "plain")], "all"),
        sides=sides(scale or scale_for(count)),
        keys=[("space", "pause"), ("q", "quit")],
    )
    return replace(base, **changes)


def text(found: Model, width: int = 100, height: int = 30) -> list[str]:
    return ["".join(span for span, _ in line) for line in frame(found, width, height)]
