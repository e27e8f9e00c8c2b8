"""Examples in docstrings: all are run, and what users meet first has some."""

import doctest
from importlib import import_module
from inspect import getdoc
from pathlib import Path

import pytest

import mpinet
from mpinet.base.rooms import Room

PACKAGE = Path(mpinet.__file__).parent


def modules_with_examples() -> list[str]:
    """Modules in whose text there is a prompt; the others need not be imported for it."""
    files = [file for file in PACKAGE.rglob("*.py") if ">>> " in file.read_text()]
    parts = [file.relative_to(PACKAGE.parent).with_suffix("").parts for file in files]
    return sorted(".".join(part for part in names if part != "__init__") for names in parts)


@pytest.mark.parametrize("name", modules_with_examples())
def test_examples_print_what_they_say(name: str) -> None:
    outcome = doctest.testmod(import_module(name))
    assert outcome.attempted > 0
    assert outcome.failed == 0


EXCEPTIONS = {name for name in mpinet.__all__ if name.endswith(("Error", "Violation"))}


@pytest.mark.parametrize("name", sorted({*mpinet.__all__} - EXCEPTIONS - {"__version__"}))
def test_a_public_name_has_examples(name: str) -> None:
    found = getattr(mpinet, name)
    if isinstance(found, Room):  # called, it is the command of its name
        found = getattr(import_module(f"mpinet.commands.{name}"), name)
    assert "\nExamples\n--------\n" in getdoc(found)
