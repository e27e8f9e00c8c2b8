"""The parts of MPI that the emulated one does not have, and the sentences that say so."""

from __future__ import annotations

from collections.abc import Callable
from types import GetSetDescriptorType
from typing import Any, NoReturn

from mpinet.mpi.real import REAL

WITHOUT = {
    "no representation of data in files but its own": "Register_datarep",
    "no program beside the script": "server",
}
"""Calls, classes and modules that are refused, by what the machine lacks for them."""

LACKING = {name: lacks for lacks, names in WITHOUT.items() for name in names.split()}
"""Lack of the machine for a call, for the calls of a class, or for a module."""


class Unsupported(NotImplementedError):
    """A call that the emulated MPI does not have; names it."""


def refuse(name: str) -> NoReturn:
    """Say that a call, or what else has a name, is not there.

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
    """A function that says that it cannot be called, with the text of the real one."""

    def call(*arguments: Any, **named: Any) -> NoReturn:
        refuse(name)

    call.__doc__ = real.__doc__
    return call


def refusing_member(name: str, real: Any) -> Any:
    """Return a stand-in for a member of a real class: it says that it cannot be used.

    Parameters
    ----------
    name : str
        Its name with that of its class.
    real : object
        The member, as the class has it: a property stays one.
    """
    refused = refusing(name, real)
    return property(refused) if _is_property(real) else staticmethod(refused)


def _is_property(member: Any) -> bool:
    return isinstance(member, (property, GetSetDescriptorType))


def refuse_rest(cls: type[Any], real: type[Any]) -> None:
    """Let a class of our own refuse what only the real class could do.

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
    """Tell if a class has a member from a real class alone, or not at all."""
    owner = next((each for each in cls.__mro__ if name in vars(each)), None)
    return owner is None or vars(REAL).get(owner.__name__) is owner
