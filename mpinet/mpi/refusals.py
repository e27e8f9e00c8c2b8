"""Parts of MPI missing in the emulated MPI, and their error messages."""

from __future__ import annotations

from collections.abc import Callable
from types import GetSetDescriptorType
from typing import Any, NoReturn

from mpinet.mpi.real import REAL

WITHOUT = {
    "no user-defined data representations": "Register_datarep",
    "no server processes": "server",
}
"""Refused calls, classes and modules, by the missing feature."""

LACKING = {name: lacks for lacks, names in WITHOUT.items() for name in names.split()}
"""Missing feature, by name of a refused call, class or module."""


class Unsupported(NotImplementedError):
    """A call missing in the emulated MPI; the message names the call."""


def refuse(name: str) -> NoReturn:
    """Raise the error for a missing call, class or module.

    Raises
    ------
    Unsupported
        Always.
    """
    parts = name.split(".")
    lacks = next((LACKING[part] for part in parts if part in LACKING), "")
    why = f": the machine has {lacks}" if lacks else ""
    raise Unsupported(f"{name} is not part of the emulated MPI{why}.")


def refusing(name: str, real: Any) -> Callable[..., NoReturn]:
    """Return a function that raises the error for a missing call, with the real docstring."""

    def call(*arguments: Any, **named: Any) -> NoReturn:
        refuse(name)

    call.__doc__ = real.__doc__
    return call


def refusing_member(name: str, real: Any) -> Any:
    """Return a stand-in for a member of a real class that raises an error when used.

    Parameters
    ----------
    name : str
        Name of the member, including its class.
    real : object
        The member in the class; a property remains a property.
    """
    refused = refusing(name, real)
    return property(refused) if _is_property(real) else staticmethod(refused)


def _is_property(member: Any) -> bool:
    return isinstance(member, (property, GetSetDescriptorType))


def refuse_rest(cls: type[Any], real: type[Any]) -> None:
    """Make an emulated class refuse all members supported only by the real class.

    Parameters
    ----------
    cls, real : type
        The classes.
    """
    for name in dir(real):
        if not name.startswith("_") and _is_real(cls, name):
            member = next(vars(each)[name] for each in real.__mro__ if name in vars(each))
            setattr(cls, name, refusing_member(f"MPI.{real.__name__}.{name}", member))


def _is_real(cls: type[Any], name: str) -> bool:
    """Return whether a class has a member only from a real class, or not at all."""
    owner = next((each for each in cls.__mro__ if name in vars(each)), None)
    return owner is None or vars(REAL).get(owner.__name__) is owner
