"""Feature sets of films: how a published set of ratings becomes vectors."""

from functools import partial

from scenarios.planning.data_sources.movielens import FEATURES
from scenarios.planning.word_cards import WordFamily, table_card

KIND = WordFamily(
    name="feature-set", order=16, names=FEATURES.keys, card=partial(table_card, kinds=FEATURES)
)
