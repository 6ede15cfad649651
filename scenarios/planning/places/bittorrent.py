"""Sessions of peers that downloaded three large files by BitTorrent (Stutzbach and Rejaie 2006)."""

from typing import TYPE_CHECKING

from scenarios.planning.files import Folders
from scenarios.planning.places import Parameter, Preset, ScaledTable

if TYPE_CHECKING:
    from clocks.durations import Duration

_MINUTE = 60
_FITS = {"debian": (0.38, 42.4), "redhat": (0.34, 21.3), "flatout": (0.59, 41.9)}
"""Shape, and scale in minutes."""


class BittorrentTable(ScaledTable):
    """A Weibull distribution of sessions."""

    def law(self, _: Folders) -> "Duration":
        from clocks.durations import weibull

        shape, scale = _FITS[self.kind.removeprefix("bittorrent-")]
        return weibull(scale * _MINUTE * self.scaled, shape)


def _preset(file: str, words: str) -> Preset:
    shape, scale = _FITS[file]
    name = f"bittorrent-{file}"
    churn = {"on": "all", "session": name, "downtime": "1h"}
    return Preset(
        name=name,
        sets="session",
        says=f"sessions of peers that download {words}: Weibull",
        parameters=(Parameter("shape", shape), Parameter("scale", scale, "min")),
        source="Stutzbach, Rejaie 2006, fits of session lengths (doi:10.1145/1177080.1177105); the scale is read in minutes",
        valid="peers of one popular file, minutes to days; medians of 7 to 23 minutes",
        leaves_out="downtimes, the hour of the day, and that the sessions of one peer resemble each other (per_node gives it classes)",
        usage=(f'session = "{name}"', f'session = {{ kind = "{name}", scaled = 0.1 }}'),
        example={"run": {"horizon": "10m"}, "fault": [{"at": 0, "churn": churn}]},
        table=BittorrentTable,
    )


KINDS = (
    _preset("debian", "Debian images"),
    _preset("redhat", "Red Hat images"),
    _preset("flatout", "a demo of a game"),
)
