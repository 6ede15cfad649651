"""Garbage is looked for rarely while a run goes on: what was built stays, and events hold no cycles."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_MANY = 100
"""From so many agents on, collecting garbage before a run is worth its time."""


@contextmanager
def looked_for_rarely(size: int, *, looks: bool) -> Iterator[None]:
    """Leave a small world alone, which is over before it pays, unless somebody looks: frames are short-lived things."""
    if size < _MANY and not looks:
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
