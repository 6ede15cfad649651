"""Tune Python's garbage collector during a run.

Objects built for the world live to the end, and events contain no reference cycles, so frequent collections are wasted.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_MANY = 100
"""From so many agents on, collecting garbage before a run is worth its time."""


@contextmanager
def rare_collections(size: int, *, watched: bool) -> Iterator[None]:
    """Collect garbage rarely while the block runs.

    A world of few agents is over before that pays, and is left alone; not where a screen watches it, for the objects of
    its frames live shortly.
    """
    if size < _MANY and not watched:
        yield
        return
    thresholds = gc.get_threshold()
    if size >= _MANY:
        gc.collect()
    gc.freeze()
    gc.set_threshold(200_000, 20, 100)
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        gc.unfreeze()


@contextmanager
def few_collections() -> Iterator[None]:
    """Collect young garbage ten times more rarely than Python does while the block runs.

    Loading modules makes thousands of objects and hardly any garbage: looking for it took a few per cent of a short command.
    """
    thresholds = gc.get_threshold()
    gc.set_threshold(10_000, 20, 20)
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
