"""Read a result file of ``mpinet verify`` again; what is damaged is refused in one sentence."""

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
"""Fields of a document that are read, and their kinds."""


def _kinds_of(declared: Any) -> tuple[type, ...]:
    """Kinds that a field's values may have in JSON, where records are objects."""
    if declared is Any:
        return ANY
    kinds = get_args(declared) or (declared,)
    # `get_args` of a container gives the types of its items, which are not checked.
    if get_origin(declared) in (dict, list):
        kinds = (declared,)
    return tuple(get_origin(kind) or (dict if is_dataclass(kind) else kind) for kind in kinds)


# Rows that are kept for later have no seconds, so that measuring again writes the same file.
ROW = {name: _kinds_of(kind) for name, kind in get_type_hints(Verdict).items()} | {"seconds": ANY}
"""Fields of a row and their kinds."""


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
        The file cannot be read, or is not what ``mpinet verify --out`` has written.
    """
    try:
        document = json.loads(read_text(path))
    except OSError as error:
        raise FileError(f"--from {path}: {error.strerror}.") from None
    except (ValueError, RecursionError):
        raise UsageError(f"--from {path}: this is no whole JSON document.") from None
    if not _has(document, DOCUMENT) or not all(isinstance(w, str) for w in document["command"]):
        raise UsageError(f"--from {path}: this is no result of mpinet verify --out FILE.json.")
    if not _has_origin(document):
        raise UsageError(f"--from {path}: this is no result of mpinet verify --out FILE.json.")
    rows = document["result"]
    try:
        # The digest is computed again: a page must not show numbers that somebody has edited by
        # hand.
        own = digest([lasting(row) for row in rows])
    except (AttributeError, TypeError, ValueError, RecursionError):
        own = ""
    if own != document["digest"]:
        raise UsageError(
            f"--from {path}: the digest in it is not that of its result, so it is damaged or has "
            "been changed; measure again (mpinet verify --out FILE.json)."
        )
    if not rows or not all(map(_is_row, rows)):
        raise UsageError(
            f"--from {path}: its rows are not those of mpinet verify of this version; measure "
            "again (mpinet verify --out FILE.json)."
        )
    return dict(document)


def _has_origin(document: Mapping[str, Any]) -> bool:
    """Tell if a document's origin, if it has one, is given in texts."""
    made = document.get("made", {})
    return isinstance(made, dict) and all(isinstance(said, MAYBE_TEXT) for said in made.values())


def _is_row(row: Any) -> bool:
    """Tell if a value is a verdict in JSON."""
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
    """Tell if a value is an object with fields of these kinds."""
    return isinstance(found, dict) and all(
        name in found and isinstance(found[name], kind) for name, kind in kinds.items()
    )
