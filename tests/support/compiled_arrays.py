"""The arrays of compiled wakes for one agent without neighbours."""

import numpy as np

from actors.arena.columns import KINDS, NOISE_HIGH, NOISE_LOW
from actors.compiled.arena import CompiledArena
from actors.compiled.columns import Arrays
from actors.log import Log
from clocks.virtual import VirtualClock


def arrays_of_one_agent(dimension: int, law: int, key: tuple[int, int]) -> Arrays:
    """Return the arrays of an agent whose noise has a law and a key."""
    arena = CompiledArena(1, dimension, Log(VirtualClock()))
    arena.make([()], np.zeros(0, np.int64), [np.zeros(dimension)])
    row = arena.agents[0]
    row[KINDS], row[NOISE_LOW], row[NOISE_HIGH] = law, *key
    return arena.arrays
