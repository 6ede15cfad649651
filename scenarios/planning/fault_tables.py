"""The vocabulary of faults (reference.md, section 4), as data: timing, targets, actions and their parameters."""

from scenarios.language.table_rules import REQUIRED, Field, Fields, Kind, Many, Table
from scenarios.language.value_rules import (
    Choice,
    Either,
    Flag,
    Name,
    Number,
    Text,
    count,
    duration,
    positive,
    signed_duration,
    size,
)

_WHOLE = count(0)
_COUNT = count()
_POSITIVE = positive()
_SHAPE = Number(above=0, least=0.05, most=1e6)
"""Below, the middle of a distribution is shorter than a nanosecond or its tail longer than 285 years; above, it is constant."""
SHARE = Number(low=0, high=1)
_LONG = duration(zero=False)

DISTRIBUTIONS: dict[str, Fields] = {
    "constant": {"value": Field(duration(), REQUIRED)},
    "uniform": {"min": Field(duration(), REQUIRED), "max": Field(duration(), REQUIRED)},
    "exponential": {"mean": Field(_LONG, REQUIRED)},
    "normal": {"mean": Field(duration(), REQUIRED), "std": Field(duration(), REQUIRED)},
    "lognormal": {
        "median": Field(_LONG, REQUIRED),
        "sigma": Field(Number(above=0, high=20), REQUIRED),
    },
    "gamma": {"mean": Field(_LONG, REQUIRED), "shape": Field(_SHAPE, REQUIRED)},
    "pareto": {"min": Field(_LONG, REQUIRED), "alpha": Field(_SHAPE, REQUIRED)},
    "weibull": {
        "scale": Field(_LONG, REQUIRED),
        "shape": Field(Number(low=0.05, most=1e6), REQUIRED),
    },
    "trace": {"path": Field(Text("a path"), REQUIRED)},
}
LENGTH = Kind("distribution", DISTRIBUTIONS, ("constant", "value", _LONG))

SESSIONS: dict[str, tuple[float, float]] = {
    "bittorrent-debian": (0.38, 42.4 * 60),
    "bittorrent-redhat": (0.34, 21.3 * 60),
    "bittorrent-flatout": (0.59, 41.9 * 60),
}
"""Shape and scale in seconds of measured Weibull sessions (Stutzbach and Rejaie 2006)."""
_SESSION = Kind(
    "distribution or preset",
    {**DISTRIBUTIONS, **{name: {"scaled": Field(_POSITIVE, 1.0)} for name in SESSIONS}},
    ("constant", "value", _LONG),
)

CHOICES = ("count", "percent", "neighbours_of", "degree_above", "highest", "lowest")
_CHOICE = Table(
    {
        "count": Field(_COUNT),
        "percent": Field(Number(low=0, high=100)),
        "neighbours_of": Field(Either("an id or ids", _WHOLE, Many(_WHOLE, 1))),
        "degree_above": Field(_WHOLE),
        "highest": Field(Name("the name of a metric")),
        "lowest": Field(Name("the name of a metric")),
        "of": Field(Name("the name of a group")),
        "redraw": Field(Flag(), False),
    }
)
WORDS = ("all", "one", "minority", "majority", "server", "event")
_TARGET_SAYS = 'ids, the name of a group, "one", or a choice: [3, 4], "phones", { count = 2 }'
TARGET = Either(_TARGET_SAYS, Name(), Many(_WHOLE, 1), _CHOICE)
LINKS = Either(
    f"{_TARGET_SAYS}; or pairs such as [[1, 2]]",
    Name(), Many(_WHOLE, 1), Many(Many(_WHOLE, 2, 2), 1), _CHOICE,
)  # fmt: skip

_CHANCE = Table({"on": Field(LINKS, REQUIRED), "p": Field(SHARE, REQUIRED)})
STORAGE = ("torn", "unsynced", "stale")
PRIVACY = (
    "crash-after-charge", "crash-after-send", "duplicate-request", "replay", "counter-rollback",
    "twin", "poison",
)  # fmt: skip
_NODE_ACTIONS: Fields = {
    "crash": Field(TARGET),
    "restart": Field(TARGET),
    "leave": Field(TARGET),
    "join": Field(TARGET),
    "pause": Field(TARGET),
    "slow": Field(Table({"on": Field(TARGET, REQUIRED), "factor": Field(_POSITIVE, REQUIRED)})),
    "churn": Field(
        Table(
            {
                "on": Field(TARGET, REQUIRED),
                "session": Field(_SESSION),
                "downtime": Field(_SESSION),
                "per_node": Field(Many(_POSITIVE, 1, 100)),
                "path": Field(Text("a path")),
                "by": Field(Choice("leave", "crash"), "leave"),
            }
        )
    ),
    "clock": Field(
        Table(
            {
                "on": Field(TARGET, REQUIRED),
                "offset": Field(signed_duration()),
                "drift": Field(Number(above=-1, high=10)),
                "jump": Field(signed_duration()),
                "freeze": Field(Flag()),
            }
        )
    ),
    "storage": Field(
        Table({"on": Field(TARGET, REQUIRED), "kind": Field(Choice(*STORAGE), REQUIRED)})
    ),
    "privacy": Field(
        Table(
            {
                "on": Field(TARGET, REQUIRED),
                "kind": Field(Choice(*PRIVACY), REQUIRED),
                "factor": Field(_POSITIVE),
            }
        )
    ),
}
_LINK_ACTIONS: Fields = {
    "loss": Field(
        Table(
            {
                "on": Field(LINKS, REQUIRED),
                "p": Field(SHARE),
                "kind": Field(Choice("gilbert-elliott")),
                "enter": Field(SHARE),
                "leave": Field(SHARE),
                "good": Field(SHARE),
                "bad": Field(SHARE),
            }
        )
    ),
    "delay": Field(
        Table(
            {
                "on": Field(LINKS, REQUIRED),
                "latency": Field(LENGTH, REQUIRED),
                "correlation": Field(Number(low=0, below=1), 0.0),
            }
        )
    ),
    "duplicate": Field(_CHANCE),
    "reorder": Field(_CHANCE),
    "corrupt": Field(_CHANCE),
    "rate": Field(
        Table(
            {
                "on": Field(LINKS, REQUIRED),
                "bytes": Field(size(zero=False), REQUIRED),
                "burst": Field(size(), 0.0),
            }
        )
    ),
    "hold": Field(LINKS),
    "partition": Field(
        Table(
            {
                "groups": Field(Many(Many(_WHOLE, 1), 1)),
                "isolate": Field(TARGET),
                "bridge": Field(TARGET),
                "mode": Field(Choice("cut", "slow", "jam"), "cut"),
                "latency": Field(LENGTH),
            }
        )
    ),
}
ON_NODES = tuple(_NODE_ACTIONS)
ON_LINKS = tuple(_LINK_ACTIONS)
ACTIONS = (*ON_NODES, *ON_LINKS)
TIMES = ("at", "every", "when")

FAULT: Fields = {
    "name": Field(Name()),
    "at": Field(duration()),
    "every": Field(LENGTH),
    "from": Field(duration()),
    "when": Field(Text("a condition")),
    "times": Field(_COUNT),
    "nth": Field(_COUNT),
    "later": Field(duration()),
    "after": Field(duration()),
    "until": Field(duration()),
    "probability": Field(SHARE),
    "for": Field(LENGTH),
    "lose": Field(Choice("volatile", "all", "nothing")),
    "edges": Field(Either('ids or "rule"', Choice("rule"), Many(_WHOLE, 1))),
    "direction": Field(Choice("both", "to", "from")),
    "oracle": Field(Flag()),
    **_NODE_ACTIONS,
    **_LINK_ACTIONS,
}
