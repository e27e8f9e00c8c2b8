"""help() shows the fields of public classes: names and types as Python has them."""

import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from importlib import import_module
from pydoc import plain, render_doc

import pytest

from mpinet.base.fielddocs import described

PACKAGES = (
    "mpinet",
    *(f"mpinet.{name}" for name in "claims machine measure networks process".split()),
)


def public() -> Iterator[type]:
    """Yield the public classes with fields."""
    for package in map(import_module, PACKAGES):
        for name in package.__all__:
            thing = getattr(package, name)
            if inspect.isclass(thing) and names_of(thing):
                yield thing


def names_of(cls: type) -> list[str]:
    """Return the names of the fields, as dataclasses and named tuples list them."""
    if is_dataclass(cls):
        return [field.name for field in fields(cls)]
    return list(getattr(cls, "_fields", ()))


@pytest.mark.parametrize("cls", dict.fromkeys(public()), ids=lambda cls: cls.__name__)
def test_help_shows_each_field_of_a_public_class_once_with_type_and_sentence(cls: type) -> None:
    shown = re.findall(r"^ \|  (\w+) : \S.*\n \|      \S", plain(render_doc(cls)), re.MULTILINE)
    assert [name for name in shown if name in names_of(cls)] == names_of(cls)


@dataclass
class Base:
    """Base."""

    steps: int
    """Steps of the base."""


@described
@dataclass
class Derived(Base):
    """Derived."""

    hops: "int | None" = None
    """Hops of one message,

    in two parts."""
    bare: int = 0

    def __post_init__(self) -> None:
        self.unseen: int = 0
        """Sentence outside of ``__init__``."""


@described
class Plain:
    """Plain class."""

    def __init__(self) -> None:
        self.count: int = 0
        """Number of things."""
        self._hidden: int = 0
        """Number of hidden things."""


@described
class Empty:
    """Class without fields."""


def test_fields_of_bases_come_first_and_those_without_a_sentence_are_left_out() -> None:
    assert Derived.__doc__ == (
        "Derived.\n\nFields\n------\nsteps : int\n    Steps of the base.\n"
        "hops : 'int | None'\n    Hops of one message,\n\n    in two parts."
    )


def test_attributes_of_the_constructor_are_fields_unless_they_are_private() -> None:
    assert Plain.__doc__ == "Plain class.\n\nFields\n------\ncount : int\n    Number of things."
    assert Empty.__doc__ == "Class without fields."
