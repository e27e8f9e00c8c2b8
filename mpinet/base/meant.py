"""Suggestions for a mistyped word, as hints in error messages."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def hint(
    word: str, known: Iterable[str], most: int = 3, cutoff: float = 0.6, after: str = ""
) -> str:
    """Return ``did you mean A or B?``, or an empty text if no known word is close.

    Parameters
    ----------
    word : str
        The mistyped word.
    known : iterable of str
        The valid words.
    most : int
        Largest number of suggestions.
    cutoff : float
        Smallest similarity of a suggestion, 0..1.
    after : str
        Text to append in any case.

    Examples
    --------
    >>> hint("transpos", ["transpose", "complement"]), hint("x", ["transpose"])
    ('did you mean transpose?', '')
    """
    close = difflib.get_close_matches(word.lower(), [*dict.fromkeys(known)], n=most, cutoff=cutoff)
    return " ".join([*([f"did you mean {' or '.join(close)}?"] if close else []), after]).rstrip()
