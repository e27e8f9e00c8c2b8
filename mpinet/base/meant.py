"""The word that was meant by a mistyped one: the one hint that errors give."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def hint(
    word: str, known: Iterable[str], most: int = 3, cutoff: float = 0.6, after: str = ""
) -> str:
    """Return ``did you mean A or B?``, or nothing where no known word is close.

    Parameters
    ----------
    word : str
        What was typed.
    known : iterable of str
        Words that could have been meant.
    most : int
        Words that are offered at most.
    cutoff : float
        Similarity, 0..1, below which none is offered.
    after : str
        What follows in any case.

    Examples
    --------
    >>> hint("transpos", ["transpose", "complement"]), hint("x", ["transpose"])
    ('did you mean transpose?', '')
    """
    close = difflib.get_close_matches(word.lower(), [*dict.fromkeys(known)], n=most, cutoff=cutoff)
    return " ".join([*([f"did you mean {' or '.join(close)}?"] if close else []), after]).rstrip()
