"""Sessions of peers, the middle of many traces (Zhang, Iosup, Epema 2010)."""

import math
from typing import TYPE_CHECKING

from scenarios.language.table_rules import REQUIRED, key
from scenarios.language.value_rules import duration
from scenarios.planning.durations import DurationTable
from scenarios.planning.files import Folders
from scenarios.planning.places import Parameter, Preset

if TYPE_CHECKING:
    from clocks.durations import Duration

_SHAPE = 0.62


class PeerSessionTable(DurationTable):
    """A Weibull distribution of sessions whose mean is given."""

    mean: float = key(duration(zero=False), REQUIRED, words="The mean session, in seconds.")

    def law(self, _: Folders) -> "Duration":
        from clocks.durations import weibull

        return weibull(self.mean / math.gamma(1 + 1 / _SHAPE), _SHAPE)


KINDS = (
    Preset(
        name="p2p-median",
        sets="session",
        says="sessions of peers, the median of 17 traces: Weibull",
        parameters=(Parameter("shape", _SHAPE), Parameter("mean", "that you give")),
        source="Zhang, Iosup, Epema 2010, report PDS-2010-003, Table 14: the median of the shapes 0.48 to 0.82",
        valid="peer-to-peer systems of 2003 to 2009, most of them BitTorrent",
        leaves_out="the scale, which varies a hundredfold between traces and has no unit in the table: give `mean`; one trace of shape 0.34; downtimes and the hour of the day",
        usage=('session = { kind = "p2p-median", mean = "30m" }',),
        example={
            "run": {"horizon": "10m"},
            "fault": [
                {
                    "at": 0,
                    "churn": {
                        "on": "all",
                        "session": {"kind": "p2p-median", "mean": "10m"},
                        "downtime": "5m",
                    },
                }
            ],
        },
        table=PeerSessionTable,
    ),
)
