"""Document of a command's result, with its digest."""

from __future__ import annotations

import json
from fractions import Fraction
from hashlib import sha256
from typing import Any

from mpinet.base.plain import nearest, plain
from mpinet.base.version import __version__
from mpinet.report.made import made


def exact(value: Fraction) -> list[int]:
    """Return the exact value of a time that is not whole: ticks, and ticks in a unit."""
    return [value.numerator, value.denominator]


def digest(result: Any) -> str:
    """sha256 of the canonical JSON of a result: keys sorted, no blanks, fractions exact."""
    # Fractions are hashed exactly. Their nearest doubles could be equal for two different results.
    text = json.dumps(plain(result, exact), sort_keys=True, separators=(",", ":"), allow_nan=False)
    return sha256(text.encode()).hexdigest()


def envelope(
    command: list[str],
    topology: str | None,
    model: dict[str, Any],
    seed: int,
    ranks: int,
    result: Any,
    seconds: dict[str, float],
    lasting: Any = None,
    crossing: dict[str, Any] | None = None,
    preparation: dict[str, int] | None = None,
    summary: dict[str, Any] | None = None,
    unit: str | None = None,
) -> dict[str, Any]:
    """Return the JSON document of a command's result.

    Parameters
    ----------
    command : list of str
        What was typed.
    topology : str or None
        Canonical topology string.
    model : dict
        The machine's port model.
    seed, ranks : int
        As run.
    result : object
        What the command found; the digest is over this alone.
    seconds : dict
        Wall seconds of the parts of the run.
    lasting : object, optional
        What of the result the digest is over, where the rest differs from run to run (times).
    crossing : dict, optional
        The mapping, and the messages and bytes that crossed between ranks by it.
    preparation : dict, optional
        Steps and messages by which the processors learned their part before.
    summary : dict, optional
        What the result comes to.
    unit : str, optional
        Unit of the result's times, where they are simulated times.
    """
    document = {
        "mpinet": __version__,
        "command": command,
        "topology": topology,
        "model": model,
        "seed": seed,
        "ranks": ranks,
        # Seconds and commits are beside the digest: they differ from run to run.
        "digest": digest(result if lasting is None else lasting),
        "result": plain(result, nearest),
        "seconds": seconds,
        "made": made(),
    }
    beside = {
        "crossing": crossing,
        "preparation": preparation,
        "summary": summary,
        "unit": unit,
    }
    return document | {name: what for name, what in beside.items() if what}
