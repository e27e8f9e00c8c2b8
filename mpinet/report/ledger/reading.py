"""Reading of result files of ``mpinet verify``; a damaged file raises a one-sentence error."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

from mpinet.base.files import read_text
from mpinet.claims.verdict import FAILS, VERDICTS, Verdict, lasting
from mpinet.errors import FileError, UsageError
from mpinet.report.envelope import digest

TEXT, MAYBE_TEXT, OBJECT = (str,), (str, type(None)), (dict,)
ANY = (object,)

DOCUMENT = {
    "mpinet": TEXT,
    "command": (list,),
    "seed": (int,),
    "ranks": (int,),
    "digest": TEXT,
    "result": (list,),
    "seconds": OBJECT,
}
"""Fields that are read from a document, with their types."""


def _kinds_of(declared: Any) -> tuple[type, ...]:
    """Return the JSON types of a field's values; records are objects in JSON."""
    if declared is Any:
        return ANY
    kinds = get_args(declared) or (declared,)
    # `get_args` of a container gives the types of its items, which are not checked.
    if get_origin(declared) in (dict, list):
        kinds = (declared,)
    return tuple(get_origin(kind) or (dict if is_dataclass(kind) else kind) for kind in kinds)


# Rows stored for later have no seconds, so a new measurement writes the same file.
ROW = {name: _kinds_of(kind) for name, kind in get_type_hints(Verdict).items()} | {"seconds": ANY}
"""Fields of a row, with their types."""


WITNESS = {"point": OBJECT, "where": OBJECT}
COMMON = {"text": TEXT, "failing": (int,), "holding": (int,), "exact": (bool,)}
QUOTATION = {"text": TEXT, "page": TEXT, "line": (int,)}
FAIR = WITNESS | {"claimed": ANY, "measured": ANY, "replay": TEXT}
VALUE = {"point": TEXT, "claimed": ANY, "measured": ANY, "holds": (bool,), "fields": (list,)}


def read_document(path: Path) -> dict[str, Any]:
    """Read the document in a result file.

    Raises
    ------
    UsageError
        The file cannot be read, or was not written by ``mpinet verify --out``.
    """
    try:
        document = json.loads(read_text(path))
    except OSError as error:
        raise FileError(f"--from {path}: {error.strerror}.") from None
    except (ValueError, RecursionError):
        raise UsageError(f"--from {path}: the file is not a complete JSON document.") from None
    if not _has(document, DOCUMENT) or not all(isinstance(w, str) for w in document["command"]):
        raise UsageError(
            f"--from {path}: the file is not a result of mpinet verify --out FILE.json."
        )
    if not _has_origin(document):
        raise UsageError(
            f"--from {path}: the file is not a result of mpinet verify --out FILE.json."
        )
    rows = document["result"]
    try:
        # The digest is recomputed, because a page must not show numbers edited by hand.
        own = digest([lasting(row) for row in rows])
    except (AttributeError, TypeError, ValueError, RecursionError):
        own = ""
    if own != document["digest"]:
        raise UsageError(
            f"--from {path}: the digest does not match the result, so the file is damaged or "
            "edited; measure again (mpinet verify --out FILE.json)."
        )
    if not rows or not all(map(_is_row, rows)):
        raise UsageError(
            f"--from {path}: the rows do not have the format of this version of mpinet; measure "
            "again (mpinet verify --out FILE.json)."
        )
    return dict(document)


def _has_origin(document: Mapping[str, Any]) -> bool:
    """Return whether a document has no origin, or an origin made of strings."""
    made = document.get("made", {})
    return isinstance(made, dict) and all(isinstance(said, MAYBE_TEXT) for said in made.values())


def _is_row(row: Any) -> bool:
    """Return whether a value is a verdict as a JSON object."""
    if not _has(row, ROW):
        return False
    parts = (
        (row["witness"], WITNESS),
        (row["common"], COMMON),
        (row["nondegenerate"], FAIR),
        (row["quotation"], QUOTATION),
    )
    return (
        row["verdict"] in VERDICTS
        and (row["verdict"] not in FAILS or None not in (row["witness"], row["replay"]))
        and (row["verdict"] not in ("open", "error") or bool(row["reason"]))
        and all(part is None or _has(part, kinds) for part, kinds in parts)
        and all(_has(value, VALUE) for value in row["values"] or ())
    )


def _has(found: Any, kinds: Mapping[str, tuple[type, ...]]) -> bool:
    """Return whether a value is an object with fields of the given types."""
    return isinstance(found, dict) and all(
        name in found and isinstance(found[name], kind) for name, kind in kinds.items()
    )
