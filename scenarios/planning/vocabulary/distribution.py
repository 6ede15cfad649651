"""Distributions of durations: latency, computing time, and the times of faults."""

from functools import partial

from scenarios.planning.durations import DURATIONS
from scenarios.planning.word_cards import WordFamily, table_card

KIND = WordFamily(
    name="distribution", order=13, names=DURATIONS.keys, card=partial(table_card, kinds=DURATIONS)
)
