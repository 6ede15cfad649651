"""Latency between two cities that nothing is known of: a fit to a public matrix."""

from typing import TYPE_CHECKING

from scenarios.planning.files import Folders
from scenarios.planning.places import Parameter, Preset, ScaledTable

if TYPE_CHECKING:
    from clocks.durations import Duration

_SHAPE, _SCALE_S = 1.63, 0.0796


class CityPairsTable(ScaledTable):
    """A Weibull distribution of one-way delays."""

    def law(self, _: Folders) -> "Duration":
        from clocks.durations import weibull

        return weibull(_SCALE_S * self.scaled, _SHAPE)


KINDS = (
    Preset(
        name="city-pairs",
        sets="latency",
        says="one-way delay of two cities at random: Weibull",
        parameters=(Parameter("shape", _SHAPE), Parameter("scale", 1000 * _SCALE_S, "ms")),
        source="a fit of ours to a public matrix of 227 cities, made for hush: Kolmogorov-Smirnov distance 0.050 (gamma 0.064, lognormal 0.112)",
        valid="from 11 to 149 ms (5 % to 95 % of the matrix; its median is 67 ms, that of the fit 64 ms)",
        leaves_out="which pair it is: each message is a draw of its own, so links do not differ and no triangle holds; `cities` keeps pairs apart",
        usage=('latency = "city-pairs"', 'latency = { kind = "city-pairs", scaled = 2 }'),
        example={"network": {"latency": "city-pairs"}},
        table=CityPairsTable,
    ),
)
