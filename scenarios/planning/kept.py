"""Results that are kept for further plans of the same process, as in a sweep."""

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Result = TypeVar("Result")


class Kept(Generic[Result]):
    """The `most` results that were asked for last, by their keys."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._results: dict[Hashable, tuple[Result]] = {}

    def get(self, key: Hashable, make: Callable[[], Result]) -> Result:
        """Return the result of a key; make it where it is not kept."""
        kept = self._results.pop(key, None)
        result = make() if kept is None else kept[0]
        self._results[key] = (result,)
        while len(self._results) > self._most:
            self._results.pop(next(iter(self._results)), None)
        return result
