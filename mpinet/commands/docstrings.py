"""Docstrings of commands: read option descriptions, and add the sections Parameters and Returns."""

from __future__ import annotations

import inspect
import re
from collections.abc import Sequence
from pathlib import Path
from textwrap import fill
from typing import Any

from mpinet.commands.fields import listed
from mpinet.commands.optionrecords import Option

RETURNS = re.compile(r"\nReturns\n-+\n[^\n]*\n((?:    [^\n]*\n?|\n(?=    ))+)")


def returned(doc: str) -> str:
    """Return the text of a docstring's section Returns, which describes the result."""
    section = RETURNS.search(inspect.cleandoc(doc))
    return " ".join(section[1].split()) if section else ""


def returning(doc: str, result: type, command: str) -> str:
    """Return a docstring whose section Returns first lists the result's fields."""
    if not (fields := listed(result, command)):
        return doc
    text = _wrapped(f"{fields}. {returned(doc)}".strip())
    made = f"\nReturns\n-------\n{result.__name__}\n{text}\n"
    if section := RETURNS.search(doc):
        return doc[: section.start()] + made + doc[section.end() :]
    # numpydoc requires the section Returns before these two.
    return _put_before(r"(Raises|Examples)", made, doc)


def documented(doc: str, options: Sequence[Option]) -> str:
    """Return a docstring with a section Parameters for all options, in their order."""
    doc = inspect.cleandoc(doc)
    entries = [
        f"{option.name} : {_numpydoc(option)}\n{_wrapped(option.help)}" for option in options
    ]
    if not entries:
        return doc
    text = "\nParameters\n----------\n" + "\n".join(entries)
    return _put_before(r"[A-Z]\w+", f"{text}\n", doc)


def _put_before(heading: str, section: str, doc: str) -> str:
    """Return a docstring with a section inserted before the first section of a given heading."""
    at = re.search(rf"\n\n{heading}\n-+\n", doc)
    place = at.start() + 1 if at else len(doc)
    return f"{doc[:place].rstrip()}\n{section}{doc[place:]}".rstrip()


def _numpydoc(option: Option) -> str:
    """Return an option's type in numpydoc's notation."""
    choices = option.choices
    name = (
        f"{{{', '.join(map(repr, choices))}}}" if choices else " or ".join(map(_name, option.kinds))
    )
    return f"{name}, optional" if option.default is None else name


def _wrapped(text: str) -> str:
    # Readers join the lines with spaces, which would split a word broken at a hyphen.
    indent = "    "
    return fill(text, 96, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)


def _name(kind: Any) -> str:
    return {Path: "path"}.get(kind) or str(getattr(kind, "__name__", kind))
