"""The tables, keys, kinds and defaults of a scenario file (reference.md, section 2), as data."""

from scenarios.language.table_rules import ABSENT, REQUIRED, Field, Fields, Free, Kind, Many, Table
from scenarios.language.value_rules import (
    LARGEST,
    SMALLEST,
    Choice,
    Either,
    Flag,
    Name,
    Number,
    Tag,
    Text,
    count,
    duration,
    positive,
    rate,
    size,
)
from scenarios.planning.fault_tables import DISTRIBUTIONS, FAULT
from scenarios.planning.mechanism_tables import MECHANISMS

_SEED = Number(low=0, whole=True)
_WHOLE = count(0)
_COUNT = count()
_POSITIVE = positive()
_CONCENTRATION = Number(above=0, least=1e-3, most=1e9)
_SHARE = Number(low=0, high=1)
_LONG = duration(zero=False)

_LATENCIES = {**DISTRIBUTIONS, "matrix": {"path": Field(Text("a path"), REQUIRED)}}
LATENCY = Kind("distribution", _LATENCIES, ("constant", "value", duration()))
COMPUTE = Kind("distribution", DISTRIBUTIONS, ("constant", "value", duration()))

CLOCKS: dict[str, Fields] = {
    "poisson": {"rate": Field(rate(), 1.0)},
    "synchronous": {"period": Field(_LONG, "1s")},
    "barrier": {"timeout": Field(_LONG), "quorum": Field(Number(above=0, high=1), 1.0)},
    "periodic": {
        "period": Field(_LONG, "1s"),
        "jitter": Field(duration(), "0s"),
        "drift": Field(Number(above=-1, high=10), 0.0),
    },
    "trace": {
        "wakes": Field(Many(Many(Number(low=0), 2, 2), 1)),
        "path": Field(Text("a path")),
    },
}

TOPOLOGIES: dict[str, Fields] = {
    "complete": {},
    "ring": {},
    "path": {},
    "star": {},
    "grid": {"rows": Field(_COUNT, REQUIRED), "columns": Field(_COUNT, REQUIRED)},
    "regular": {"degree": Field(_COUNT, REQUIRED)},
    "erdos-renyi": {"p": Field(Number(low=0, high=1, least=1e-9), REQUIRED)},
    "small-world": {"degree": Field(_COUNT, REQUIRED), "rewire": Field(_SHARE, 0.1)},
    "scale-free": {"attach": Field(_COUNT, REQUIRED)},
    "similarity": {"gamma": Field(_POSITIVE, 0.1), "public": Field(Flag(), False)},
    "knn": {"k": Field(_COUNT, 10), "public": Field(Flag(), False)},
    "edges": {
        "edges": Field(Many(Many(Number(low=0, least=SMALLEST, most=LARGEST), 2, 3)), REQUIRED)
    },
    "file": {"path": Field(Text("a path"), REQUIRED)},
}

SPLITS: dict[str, Fields] = {
    "even": {},
    "uneven": {"ratio": Field(Number(low=1, most=LARGEST), REQUIRED)},
    "uniform": {"min": Field(_COUNT, REQUIRED), "max": Field(_COUNT, REQUIRED)},
    "sizes": {"of": Field(Many(_COUNT, 1), REQUIRED)},
    "dirichlet": {"alpha": Field(_CONCENTRATION, REQUIRED)},
    "sizes-dirichlet": {"alpha": Field(_CONCENTRATION, REQUIRED)},
    "by-user": {},
}

_SPREAD = Table({"min": Field(_COUNT, REQUIRED), "max": Field(_COUNT, REQUIRED)})
_EVERY_SOURCE: Fields = {
    "scale": Field(Choice("refuse", "row"), "refuse"),
    "split": Field(Kind("split", SPLITS)),
}
_MADE: Fields = {
    "dimension": Field(Number(low=1, high=100_000, whole=True), 20),
    "points": Field(
        Either("a whole number >= 1 or { min, max }", _COUNT, _SPREAD), {"min": 10, "max": 100}
    ),
    "test_points": Field(_WHOLE, 100),
    "flip": Field(Number(low=0, high=0.5), 0.05),
    "bias": Field(Flag(), False),
    **_EVERY_SOURCE,
}
SOURCES: dict[str, Fields] = {
    "separators": _MADE,
    "blobs": _MADE,
    "files": {"path": Field(Text("a path"), REQUIRED), **_EVERY_SOURCE},
}

LOSSES: dict[str, Fields] = {
    "logistic": {},
    "smoothed-hinge": {"width": Field(_POSITIVE, 0.5)},
    "squared": {"clip": Field(_POSITIVE)},
    "welsch": {},
}

STARTS: dict[str, Fields] = {
    "zeros": {},
    "random": {},
    "file": {"path": Field(Text("a path"), REQUIRED)},
    "local": {},
}

SERVER: Fields = {
    "deadline": Field(_LONG, "10s"),
    "quorum": Field(Number(above=0, high=1), 1.0),
    "sample": Field(Number(above=0, high=1), 1.0),
}

_RUN: Fields = {
    "seed": Field(_SEED),
    "engine": Field(Choice("virtual", "wall"), "virtual"),
    "horizon": Field(_LONG),
    "rounds": Field(_COUNT),
    "updates": Field(_COUNT),
    "until": Field(_LONG),
    "stop": Field(Choice("horizon", "spent"), "horizon"),
    "sample_every": Field(_LONG, "1s"),
}

_BUDGET = Table(
    {
        "epsilon": Field(_POSITIVE, REQUIRED),
        "delta": Field(Number(low=0, below=1, least=1e-100), 1e-5),
        "delta_may_exceed": Field(Flag(), False),
        "on_exhausted": Field(Choice("listen", "smooth", "leave"), "listen"),
    }
)

_NODES: Fields = {
    "name": Field(Name()),
    "count": Field(_COUNT, 1),
    "clock": Field(Kind("clock", CLOCKS, own=True), {"kind": "poisson", "rate": 1.0}),
    "compute": Field(COMPUTE, "0s"),
    "budget": Field(_BUDGET),
    "present": Field(Flag(), True),
    "start": Field(Choice("zeros", "neighbours", "file")),
}

_LINK: Fields = {
    "between": Field(Many(Many(_WHOLE, 2, 2), 1)),
    "from": Field(_WHOLE),
    "to": Field(_WHOLE),
    "latency": Field(LATENCY),
    "loss": Field(_SHARE),
    "rate": Field(size(zero=False)),
}

BOUNDS = ("above", "below", "at_most", "at_least", "equals")
_BOUNDS: Fields = {bound: Field(Number()) for bound in BOUNDS}
_EXPECT: Fields = {
    "name": Field(Name()),
    "metric": Field(Name("the name of a metric")),
    **_BOUNDS,
    "tolerance": Field(Number(low=0)),
    "when": Field(Choice("end", "always", "eventually"), "end"),
    "within": Field(_LONG),
    "after": Field(duration()),
    "node": Field(_WHOLE),
    "group": Field(Name("the name of a group")),
    "up": Field(Flag(), False),
    "compared_to": Field(Text("a scenario")),
    "ratio_below": Field(_POSITIVE),
    "difference_below": Field(Number()),
    "over": Field(Choice("seeds")),
    "confidence": Field(Number(low=0.5, below=1)),
    "sometimes": Field(Text("a condition")),
}
_GOAL: Fields = {
    "metric": Field(Name("the name of a metric"), REQUIRED),
    **{bound: _BOUNDS[bound] for bound in BOUNDS[:-1]},
}

_PRIVACY: Fields = {
    "views": Field(
        Many(Choice("eavesdropper", "server", "aggregate", "outsider"), 1, 4), ["eavesdropper"]
    ),
    "accountant": Field(Choice("tightest", "basic", "kov", "zcdp", "rdp", "pld"), "tightest"),
    "calibrate": Field(Choice("tightest", "basic", "kov", "rdp", "pld"), "tightest"),
    "filter": Field(Choice("auto", "basic"), "auto"),
    "grid": Field(Either("a number > 0 or false", Flag(), _POSITIVE), 1e-9),
}

SEEDS = ("data", "network", "clock", "link", "noise", "fault")

_NETWORK: Fields = {
    "topology": Field(Kind("topology", TOPOLOGIES, own=True), {"kind": "ring"}),
    "latency": Field(LATENCY, "0s"),
    "loss": Field(_SHARE, 0.0),
    "rate": Field(size(zero=False)),
    "silence": Field(_LONG),
}

ORIGIN = Table(
    {
        "in_memory": Field(Flag()),
        "folder": Field(Text(), ABSENT),
        "sha256": Field(Free(Text()), ABSENT),
    }
)

SCENARIO: Fields = {
    "schema": Field(Number(low=1, high=1, whole=True), REQUIRED),
    "name": Field(Name()),
    "summary": Field(Text(), ""),
    "extends": Field(Text("library:NAME or a path")),
    "tags": Field(Many(Tag()), []),
    "origin": Field(ORIGIN),
    "run": Field(Table(_RUN), {}),
    "seeds": Field(Table({purpose: Field(_SEED) for purpose in SEEDS}), {}),
    "data": Field(Kind("data source", SOURCES, tag="source", own=True), {"source": "separators"}),
    "task": Field(
        Table(
            {
                "loss": Field(Kind("loss", LOSSES, own=True), "logistic"),
                "l2": Field(
                    Either(
                        'a number >= 0 or "1/m"',
                        Number(low=0, least=SMALLEST, most=LARGEST),
                        Choice("1/m"),
                    ),
                    0.0,
                ),
                "reduction": Field(Choice("mean", "sum"), "mean"),
                "start": Field(Kind("start", STARTS), "zeros"),
            }
        ),
        {},
    ),
    "network": Field(Table(_NETWORK), {}),
    "link": Field(Many(Table(_LINK)), []),
    "nodes": Field(Many(Table(_NODES), 1, 10_000), REQUIRED),
    "server": Field(Table(SERVER)),
    "mechanism": Field(Kind("mechanism", MECHANISMS, own=True), REQUIRED),
    "privacy": Field(Table(_PRIVACY), {}),
    "fault": Field(Many(Table(FAULT), 0, 10_000), []),
    "expect": Field(Many(Table(_EXPECT), 0, 10_000), []),
    "targets": Field(Free(Table(_GOAL), "the name of a target"), {}),
    "sweep": Field(Table({"seeds": Field(Text('seeds such as "0..9"'))}), {}),
}
