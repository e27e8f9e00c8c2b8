"""Cache for results of measures shared by several claims; the oldest results are dropped."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeVar, overload

Measure = TypeVar("Measure", bound=Callable[..., Any])

_forgetting: list[Callable[[], None]] = []


@overload
def remembered(measure: Measure) -> Measure: ...
@overload
def remembered(*, most: int) -> Callable[[Measure], Measure]: ...
def remembered(measure: Measure | None = None, *, most: int = 64) -> Any:
    """Cache a measure's results by its arguments.

    Parameters
    ----------
    measure : callable
        The measure, with hashable arguments.
    most : int
        Largest number of cached results, the most recently used: small for large results.

    Examples
    --------
    >>> @remembered
    ... def squared(n):
    ...     print("computing")
    ...     return n * n
    >>> squared(3), squared(3)
    computing
    (9, 9)
    """

    def remember(measure: Measure) -> Any:
        kept = lru_cache(maxsize=most)(measure)
        _forgetting.append(kept.cache_clear)
        return kept

    return remember if measure is None else remember(measure)


def forget() -> None:
    """Drop all cached results, for tests that change a network under its name."""
    for clear in _forgetting:
        clear()
