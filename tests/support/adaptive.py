"""A mechanism of one's own that depends on earlier outputs."""

MOODY = '''
import numpy as np
from mechanisms.accounting.spend import Spend
from mechanisms.strategy import RELEASE, Step


class Moody:
    """Spends more on the next release where the last one came out positive: an adaptive schedule."""

    planned = None

    def __init__(self, objective, confidence):
        self.d = objective.dimension

    def begin(self, start):
        return start

    def model(self, state):
        return state

    def propose(self, state, heard, made):
        charge = 0.3 if state[0] > 0 else 0.1
        spend = Spend("moody", "norm-gamma", "", charge, 1.0, "l2", self.d, 0.0, charge, charge)
        return Step(RELEASE, spend, lambda rng: (lambda v: (v, v))(rng.standard_normal(self.d)))

    def without_data(self, state, heard):
        return Step("silent", None, lambda _: (state, None))
'''
