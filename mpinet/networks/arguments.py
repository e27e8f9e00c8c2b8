"""The arguments in a topology string: the parameter of each argument, and its value."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mpinet.base.numerals import looks_whole, whole
from mpinet.errors import TopologyError
from mpinet.networks.parameters import REQUIRED, Parameter


def read_declared(
    where: str, parameters: tuple[Parameter, ...], text: str, examples: str = ""
) -> dict[str, Any]:
    """Read arguments for declared parameters, each by the parameter's own reader.

    Parameters
    ----------
    where : str
        The family's name, for errors.
    parameters : tuple of Parameter
        The family's parameters; arguments without a name follow this order.
    text : str
        The arguments: ``4,3``, ``16,jumps=1-4``.
    examples : str, optional
        Complete topology strings, for the error about a missing argument.

    Returns
    -------
    dict
        The values by the parameters' names.

    Raises
    ------
    TopologyError
        An argument is surplus, unknown, given twice, missing or not readable.
    """
    given: dict[str, str] = {}
    known = {parameter.name: parameter for parameter in parameters}
    order = list(known)
    for name, value in _split(text, parameters):
        if name is None and not order:
            joined = _joined(where, parameters, text)
            raise TopologyError(
                f"{where}: {joined or f'{value!r} is too much'}; {_signature(parameters)}."
            )
        # Positional arguments fill the declared order, as in Python. A named argument before them
        # does not use up a place.
        if name is None:
            name = order.pop(0)
        elif name not in known:
            raise TopologyError(f"{where}: unknown parameter {name!r}; {_signature(parameters)}.")
        if name in given:
            raise TopologyError(f"{where}: {name} is given twice.")
        given[name] = value
    _require_all(where, parameters, given, examples)
    return {name: _read(where, known[name], value) for name, value in given.items()}


def _split(text: str, parameters: tuple[Parameter, ...]) -> Iterator[tuple[str | None, str]]:
    """Yield the arguments in a text as (name or None, value)."""
    if not text.strip():
        return
    # File names may have commas and equals signs. Splitting would make two arguments of one path.
    if len(parameters) == 1 and parameters[0].whole:
        yield None, text
        return
    for part in text.split(","):
        name, equals, value = part.partition("=")
        yield (name.strip(), value.strip()) if equals else (None, part.strip())


def _joined(where: str, parameters: tuple[Parameter, ...], text: str) -> str:
    """Return a hint about sides joined by commas, if the family takes sides joined by x."""
    # A text with x shows that its author knows the notation of sides. The surplus then has another
    # cause.
    if "x" in text:  # the sides are right, and the surplus has another cause
        return ""
    sides = text.replace(",", "x")
    try:
        parameters[0].read(sides)
    except (ValueError, IndexError):
        return ""
    return f"sides are joined by x: {where}:{sides}"


def _require_all(
    where: str, parameters: tuple[Parameter, ...], given: dict[str, str], examples: str
) -> None:
    shown = f", as in {examples}" if examples else ""
    for parameter in parameters:
        if parameter.name not in given and parameter.default is REQUIRED:
            raise TopologyError(
                f"{where}: {parameter.name} is missing; {_signature(parameters)}{shown}."
            )


def _signature(parameters: tuple[Parameter, ...]) -> str:
    if not parameters:
        return "it takes no parameters"
    return "its parameters are " + ", ".join(f"{p.name} ({p.allowed})" for p in parameters)


def _read(where: str, parameter: Parameter, text: str) -> Any:
    try:
        return parameter.read(text)
    except ValueError as error:
        allowed = f"{parameter.name} is {parameter.allowed}"
        raise TopologyError(f"{where}: {parameter.name}: {error}; {allowed}.") from None


def read_undeclared(where: str, text: str) -> tuple[list[Any], dict[str, Any]]:
    """Read arguments of a class that declares no parameters.

    Returns
    -------
    positional : list
        Values without a name: integers if the text is a whole number, else texts.
    named : dict
        Values by name, likewise.

    Raises
    ------
    TopologyError
        A name is given twice.
    """
    positional: list[Any] = []
    named: dict[str, Any] = {}
    for name, text_value in _split(text, ()):
        value = _whole(where, text_value) if looks_whole(text_value) else text_value
        if name is None:
            positional.append(value)
        elif name in named:
            raise TopologyError(f"{where}: {name} is given twice.")
        else:
            named[name] = value
    return positional, named


def _whole(where: str, text: str) -> int:
    """Read a whole number."""
    try:
        return whole(text)
    except ValueError as error:
        raise TopologyError(f"{where}: {error}.") from None
