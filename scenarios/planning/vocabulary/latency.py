"""Latencies that depend on the pair of agents."""

from collections.abc import Mapping
from functools import partial

from scenarios.planning.pair_latency import LatencyMatrixTable, PairLatencyTable
from scenarios.planning.word_cards import WordFamily, table_card

_OF_PAIRS: Mapping[str, type[PairLatencyTable]] = {"matrix": LatencyMatrixTable}
"""Those of places (cities, city-pairs) are presets."""

KIND = WordFamily(
    name="latency", order=14, names=_OF_PAIRS.keys, card=partial(table_card, kinds=_OF_PAIRS)
)
