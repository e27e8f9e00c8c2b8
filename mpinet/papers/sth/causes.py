"""The errors of the paper: a sentence on each, by the name that the claims have for it."""

from __future__ import annotations

CAUSES: dict[str, str] = {}
