"""JSON document of a command's result, with its digest."""

from __future__ import annotations

import json
from fractions import Fraction
from hashlib import sha256
from typing import Any

from mpinet.base.plain import nearest, plain
from mpinet.base.version import __version__
from mpinet.report.made import made


def exact(value: Fraction) -> list[int]:
    """Return the exact value of a fractional time: ticks, and ticks per unit."""
    return [value.numerator, value.denominator]


def digest(result: Any) -> str:
    """Return the SHA-256 of a result's canonical JSON: sorted keys, no blanks, exact fractions."""
    # Fractions are hashed exactly, because two different fractions can have the same nearest
    # double.
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
        The command line.
    topology : str or None
        Canonical topology string.
    model : dict
        Port model of the machine.
    seed, ranks : int
        Seed and number of ranks of the run.
    result : object
        Result of the command.
    seconds : dict
        Wall-clock seconds of the parts of the run.
    lasting : object, optional
        Part of the result that the digest covers, if other parts (times) differ from run to run.
        Default: the whole result.
    crossing : dict, optional
        The mapping, and the messages and bytes sent between ranks.
    preparation : dict, optional
        Steps and messages by which the processors learned their roles before the run.
    summary : dict, optional
        Summary of the result.
    unit : str, optional
        Unit of simulated times in the result.
    """
    document = {
        "mpinet": __version__,
        "command": command,
        "topology": topology,
        "model": model,
        "seed": seed,
        "ranks": ranks,
        # The digest does not cover seconds and commits, which differ from run to run.
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
