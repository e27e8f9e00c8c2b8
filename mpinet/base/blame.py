"""Errors in a user's own file, as one sentence that names the file and the line.

Python and Numba take dozens of lines for it, most of them about mpinet and Numba.
"""

from __future__ import annotations

import builtins
import os
import re
import sysconfig
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dis import get_instructions
from inspect import signature
from traceback import format_exception, walk_tb
from types import FunctionType
from typing import Any

import numpy as np

from mpinet.base.version import PACKAGE
from mpinet.errors import MpinetError, RuleError

RULES = {
    "port_rule": ("node", "port", "params"),
    "start_rule": ("source", "target", "header", "params"),
    "decide_rule": ("node", "header", "params"),
    "schedule_rule": ("node", "root", "since", "step", "params"),
    "class_rule": ("node", "port", "in_port", "in_class", "header", "params"),
    "candidates_rule": ("node", "in_port", "in_class", "header", "candidates", "params"),
    "choose_rule": ("node", "header", "candidates", "credits", "params"),
}
"""The arguments of each kind of rule. Their number and the place of the header tell the kind."""

HINTS = {
    "header": "Routing.words gives its messages a header of {} words",
    "params": "params has {} numbers: size, ports and what Topology.__init__(.., params=(..)) gets",
}
"""Lengths of a rule's arguments, in words."""

OF_PORTS = ("neighbor", "reverse_port", "channel")
"""Names of rules that have the first form."""

RULES_USE = "rules use whole numbers, if, for, while, params, and functions marked @inlined"

NUMBA_SAYS = (
    (r"No conversion from none to int64", "it comes to an end without a number"),
    (r"No conversion from (.+?) to int64", r"it returns what is no whole number: \1"),
    (r"mismatch of return type", "it never returns a number"),
    (r"UnsupportedError: (.+)", r"\1"),
)
"""Pieces of Numba's messages, each with its meaning in plain words."""

ROOM = os.path.abspath(PACKAGE) + os.sep
LIBRARIES = tuple(sysconfig.get_path(name) + os.sep for name in ("stdlib", "platstdlib", "purelib"))


def is_own(function: Any) -> bool:
    """Return whether a function is a user's, not mpinet's."""
    return not f"{function.__module__}.".startswith("mpinet.")


def kind_of(function: Any) -> str:
    """Return the kind of rule that a function's arguments say; empty if they say none."""

    def form(names: Sequence[str]) -> tuple[int, int]:
        return len(names), names.index("header") if "header" in names else -1

    own = form(list(signature(function).parameters))
    return next((kind for kind, names in RULES.items() if form(names) == own), "")


def require_form(function: Any) -> None:
    """Raise `RuleError` unless a function's arguments are those of a rule."""
    names = list(signature(function).parameters)
    if not kind_of(function) or names[0] == "self":
        forms = [f"({', '.join(each)})" for each in RULES.values()]
        forms = forms[:1] if function.__name__ in OF_PORTS else forms
        raise RuleError(
            f"{start_of(function)}: a rule has {' or '.join(forms)}, not ({', '.join(names)})."
        )
    if "print" in function.__code__.co_names:
        raise RuleError(
            f"{place_in(function, 'print')}: a rule does not print: it is asked about every "
            "processor, by every rank. 'mpinet neighbors' shows what it gives."
        )


def start_of(function: Any) -> str:
    """Return the file and the line where a function's text begins."""
    code = function.__code__
    return f"{relative_name(code.co_filename)}:{code.co_firstlineno}"


def place_in(function: Any, name: str) -> str:
    """Return the file and the line where a function names something."""
    line = function.__code__.co_firstlineno
    for instruction in get_instructions(function):
        line = instruction.starts_line or line
        if instruction.argval == name:
            break
    return f"{relative_name(function.__code__.co_filename)}:{line}"


def relative_name(file: str) -> str:
    """Return a file's name, relative to the current directory if the file lies in it."""
    return file.removeprefix(os.getcwd() + os.sep)


def error_of(function: Any, arguments: tuple[Any, ...], error: BaseException) -> RuleError:
    """Return the error for an exception that a user's rule raised in Python."""
    where = raised_at(error) or start_of(function)
    if isinstance(error, NameError):
        return RuleError(f"{where}: {error}.")
    asked = ", ".join(str(a) for a in arguments if isinstance(a, int))
    raised = f"{type(error).__name__}: {error}".removesuffix(": ")
    if isinstance(error, IndexError):
        raised += _sizes(function, arguments, str(error))
    return RuleError(f"{where}: {function.__name__}({asked}, ..) raised {raised}.")


def _sizes(function: Any, arguments: tuple[Any, ...], said: str) -> str:
    """Return the lengths of a rule's header or params, that which an IndexError is about."""
    names = list(signature(function).parameters)
    lengths = {
        name: len(given)
        for name, given in zip(names, arguments, strict=False)
        if name in HINTS and hasattr(given, "__len__")
    }
    meant = [name for name, length in lengths.items() if said.endswith(f"size {length}")]
    return "".join(f" ({HINTS[name].format(lengths[name])})" for name in meant or lengths)


def raised_at(error: BaseException) -> str:
    """Name the last line of the user's code through which an error came; '' without one."""
    found = ""
    for frame, line in walk_tb(error.__traceback__):
        file = os.path.abspath(frame.f_code.co_filename)
        # The last frame in the user's own file is where the user can act, however deep the error
        # is.
        if not file.startswith((ROOM, *LIBRARIES)) and os.path.exists(file):
            found = f"{relative_name(file)}:{line}"
    return found


def describe(error: BaseException) -> str:
    """Describe an error in a user's file: file, line and cause."""
    where, kind = raised_at(error), type(error).__name__
    return ": ".join(part for part in (where, kind, str(error).rstrip(".")) if part)


def blamed(error: BaseException) -> RuleError | None:
    """Return the sentence for an error that came through the user's own code; None for others."""
    return RuleError(f"{describe(error)}.") if raised_at(error) else None


def told(error: Exception) -> str:
    """Return an error as a sentence if it is the user's, with its traceback if it is ours."""
    fault = blamed(error)
    return "".join(format_exception(error)) if fault is None else str(fault)


@contextmanager
def blaming(own: type, name: str) -> Iterator[None]:
    """Turn errors of a user's class into sentences in this context, and in what it returns later.

    Parameters
    ----------
    own : type
        The class; errors in mpinet's own pass.
    name : str
        What the sentence calls it where no line of it is known.

    Raises
    ------
    RuleError
        In place of what is no error of mpinet's.
    """
    try:
        yield
    except (MpinetError, MemoryError):
        raise
    except Exception as error:
        if not is_own(own):
            raise
        raise blamed(error) or RuleError(f"{name}: {describe(error)}.") from error


def no_number(function: Any, arguments: tuple[Any, ...], value: Any) -> RuleError:
    """Return the error for a rule that has not returned a whole number."""
    asked = ", ".join(str(a) for a in arguments if isinstance(a, int))
    value = value.item() if isinstance(value, np.generic) else value
    hint = ": // divides whole numbers" if isinstance(value, float) else ""
    return RuleError(
        f"{start_of(function)}: {function.__name__}({asked}, ..) returned {value!r}, not a whole "
        f"number{hint}."
    )


def not_compiled(functions: list[Any], text: str) -> RuleError:
    """Return the error for functions of a user's, the caller first, that Numba cannot compile."""
    for function in functions:
        for sentence in _wrong_names(function):
            return RuleError(sentence)
    return RuleError(
        f"{_numbas_place(text, functions)}: {functions[0].__name__} cannot be compiled: "
        f"{_numbas_word(text)} ({RULES_USE})."
    )


def _wrong_names(function: Any) -> Iterator[str]:
    """List the global names that a rule cannot use."""
    for instruction in get_instructions(function):
        # Numba reports a missing name at length and late; the bytecode shows it at once.
        if instruction.opname not in ("LOAD_GLOBAL", "LOAD_NAME"):
            continue
        name = instruction.argval
        where = place_in(function, name)
        if name not in function.__globals__ and not hasattr(builtins, name):
            yield f"{where}: name {name!r} is not defined."
        elif isinstance(function.__globals__.get(name), FunctionType):
            yield f"{where}: a rule calls {name}, which has to be marked @inlined (mpinet.inlined)."


def _numbas_place(text: str, functions: list[Any]) -> str:
    """Return the file and the line that Numba's message is about."""
    files = {os.path.basename(function.__code__.co_filename): function for function in functions}
    found = re.findall(r'File "([^"]+)", line (\d+)', text)
    found += re.findall(r"([^\s\"]+\.py) \((\d+)\)", text)
    for file, line in found:
        if os.path.basename(file) in files:
            return f"{relative_name(files[os.path.basename(file)].__code__.co_filename)}:{line}"
    return start_of(functions[0])


def _numbas_word(text: str) -> str:
    """Return the part of Numba's message that names the cause."""
    text = re.sub(r"^\w+: ", "", text)  # the kind of Numba's error
    for pattern, meaning in NUMBA_SAYS:
        if found := re.search(pattern, text):
            return found.expand(meaning)
    lines = [line for line in text.splitlines() if line and "pipeline (step" not in line]
    return lines[0].split(" Raised from ")[0].rstrip(".:") if lines else "Numba does not say why"
