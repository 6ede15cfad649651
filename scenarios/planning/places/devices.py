"""How fast devices compute: each has a speed of its own, and some are stragglers."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from scenarios.language.table_rules import KindTable, key
from scenarios.language.value_rules import Number, duration
from scenarios.planning.places import Parameter, Preset

if TYPE_CHECKING:
    from clocks.durations import Duration

_SHARE = Number(low=0, high=1)
_SIGMA = Number(low=0, high=5)


class DevicesTable(KindTable):
    """Each agent has a time of its own, lognormal by `median` and `sigma`; a share of `stragglers` takes `factor` times as long.

    With `spread`, each computation is that time multiplied by a lognormal factor, too.
    """

    median: float = key(
        duration(zero=False), "1s", words="The computing time of the median device, in seconds."
    )
    sigma: float = key(
        _SIGMA,
        0.5,
        words="The standard deviation of the logarithm of computing times between devices.",
    )
    stragglers: float = key(_SHARE, 0.1, words="The probability that a device is a straggler.")
    factor: float = key(
        Number(low=1, most=1e6), 20.0, words="How many times as long a straggler takes."
    )
    spread: float = key(
        _SIGMA,
        0.0,
        words="The standard deviation of the logarithm of a factor for each single computation.",
    )

    def laws(self, seed: int) -> "Callable[[int], Duration]":
        """Return the computing time of each agent, drawn by the network's seed."""
        from clocks.durations import Constant, lognormal
        from scenarios.planning.seeds import draws

        speeds = lognormal(1.0, self.sigma) if self.sigma else None

        def law(agent: int) -> "Duration":
            luck = draws(seed, f"network/device/{agent}")
            own = 1.0 if speeds is None else int(speeds.draw(luck(0, 1), 0)[0]) / 1e9
            slow = int(luck(1, 1)[0]) < self.stragglers * 2.0**64
            median_s = self.median * own * (self.factor if slow else 1.0)
            return (
                lognormal(1.0, self.spread).times(median_s) if self.spread else Constant(median_s)
            )

        return law


KINDS = (
    Preset(
        name="devices",
        sets="compute",
        says="computing time: each device has its own, and some are stragglers",
        parameters=(
            Parameter("median", "that you give"),
            Parameter("sigma", 0.5, "of the logarithm, between devices"),
            Parameter("stragglers", 0.1, "share of devices"),
            Parameter("factor", 20, "times as long"),
            Parameter("spread", 0, "σ of one computation"),
        ),
        source="sigma: device capacities of FedScale (Lai, Dai, Singapuram, Liu, Zhu, Madhyastha, Chowdhury 2022), between 0.5 and 1; stragglers: a customary default, not measured",
        valid="phones of one population that compute the same task; sigma from 0.5 to 1",
        leaves_out="heat, battery and other work: a device is as fast at noon as at night; the link's speed, which network.rate sets",
        usage=('compute = { kind = "devices", median = "200ms" }',),
        example={"nodes": [{"count": 6, "compute": {"kind": "devices", "median": "200ms"}}]},
        table=DevicesTable,
    ),
)
