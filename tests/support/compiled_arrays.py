"""The arrays of compiled wakes for one agent without neighbours."""

import numpy as np

from actors.compiled.arena import Arena
from actors.compiled.columns import KINDS, NOISE_HIGH, NOISE_LOW, Arrays
from actors.compiled.enrolment import Catalogue
from actors.log import Log
from clocks.virtual import VirtualClock


def arrays_of_one_agent(dimension: int, law: int, key: tuple[int, int]) -> Arrays:
    """Return the arrays of an agent whose noise has a law and a key."""
    arena, none = Arena(1, dimension, Log(VirtualClock())), np.zeros(0, np.int64)
    arena.lay_out([np.zeros(dimension)], [()], none, none, Catalogue())
    row = arena.agents[0]
    row[KINDS], row[NOISE_LOW], row[NOISE_HIGH] = law, *key
    return arena.arrays
