"""Starts: the models that agents begin with."""

from functools import partial

from scenarios.planning.starts import STARTS
from scenarios.planning.word_cards import WordFamily, table_card

KIND = WordFamily(name="start", order=12, names=STARTS.keys, card=partial(table_card, kinds=STARTS))
