"""Drop-outs and the day of federated learning in production (Bonawitz et al. 2019)."""

from scenarios.planning.places import Parameter, Preset

_SOURCE = "Bonawitz, Eichner, Grieskamp, Huba, Ingerman, Ivanov, et al. 2019, section 9"

KINDS = (
    Preset(
        name="production-rounds",
        sets="drop-out",
        says="how many of the asked devices drop out of a round",
        parameters=(
            Parameter("drop-outs", "6 to 10", "% of a round's devices"),
            Parameter("asked", 130, "% of the devices that are needed"),
        ),
        source=_SOURCE,
        valid="phones that are idle, charged and on Wi-Fi, in rounds of minutes, one company's applications",
        leaves_out="why one dropped out (an error, the network, or its user), and that the same devices drop out again",
        usage=(
            "[[fault]]",
            "when = 'kind == \"round_opened\"'",
            "times = 1000",
            'later = "10ms"',
            'for = "500ms"',
            "crash = { percent = 8, redraw = true }",
        ),
        example={
            "run": {"rounds": 5},
            "nodes": [{"count": 25, "clock": "barrier"}],
            "network": {"latency": "50ms"},
            "mechanism": {"kind": "fedavg"},
            "server": {"deadline": "1s", "quorum": 0.5},
            "fault": [
                {
                    "when": 'kind == "round_opened"',
                    "times": 1000,
                    "later": "10ms",
                    "for": "500ms",
                    "crash": {"percent": 8, "redraw": True},
                }
            ],
        },
    ),
    Preset(
        name="production-day",
        sets="drop-out",
        says="how many devices take part, by the hour",
        parameters=(
            Parameter("high over low", 4, "times as many devices at night"),
            Parameter("period", 24, "h"),
        ),
        source=_SOURCE,
        valid="phones in time zones of one country (the United States of America) that train while idle, charged and on Wi-Fi",
        leaves_out="the share itself, which is not published: low and high are yours, in this ratio; the shape of the day, and which devices they are",
        usage=(
            "[[fault]]",
            'at = "0s"',
            'availability = { on = "all", phase = "same", high = 0.4 }',
        ),
        example={
            "run": {"horizon": "2d", "sample_every": "1h"},
            "nodes": [{"count": 6, "clock": {"kind": "poisson", "rate": "2/h"}}],
            "fault": [
                {"at": 0, "availability": {"on": "all", "phase": "same", "low": 0.1, "high": 0.4}}
            ],
        },
    ),
)
