"""Conversion to JSON of results, findings and what their files hold."""

from __future__ import annotations

from dataclasses import asdict, is_dataclass
from math import inf
from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """Convert a result for JSON: dataclasses become objects, NumPy's numbers plain ones.

    JSON has no infinite numbers: they become the word ``infinite``.
    """
    if is_dataclass(value) and not isinstance(value, type):
        return plain(asdict(value))
    if isinstance(value, dict):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return plain(value.item())
    return "infinite" if isinstance(value, float) and value == inf else value
