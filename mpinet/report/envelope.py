"""The document that a command's result becomes, and its digest."""

from __future__ import annotations

import json
from dataclasses import asdict, is_dataclass
from hashlib import sha256
from typing import Any

import numpy as np

import mpinet


def plain(value: Any) -> Any:
    """A result as JSON knows it: dataclasses become objects, numbers of NumPy plain ones."""
    if is_dataclass(value) and not isinstance(value, type):
        return plain(asdict(value))
    if isinstance(value, dict):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    return value.item() if isinstance(value, np.generic) else value


def digest(result: Any) -> str:
    """sha256 of the canonical JSON of a result: keys sorted, no blanks."""
    text = json.dumps(plain(result), sort_keys=True, separators=(",", ":"), allow_nan=False)
    return sha256(text.encode()).hexdigest()


def envelope(
    command: list[str],
    topology: str | None,
    model: dict[str, Any],
    seed: int,
    ranks: int,
    result: Any,
    seconds: dict[str, float],
) -> dict[str, Any]:
    """The whole document.

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
    """
    return {
        "mpinet": mpinet.__version__,
        "command": command,
        "topology": topology,
        "model": model,
        "seed": seed,
        "ranks": ranks,
        "digest": digest(result),
        "result": plain(result),
        "seconds": seconds,
    }
