"""Errors in a user's own file, as one sentence that names the file and the line.

The tracebacks of Python and Numba are dozens of lines long and mostly show mpinet and Numba.
"""

from __future__ import annotations

import builtins
import os
import re
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
"""The arguments of each kind of rule. Their number and the position of `header` identify the
kind.
"""

HINTS = {
    "header": "Routing.words gives its messages a header of {} words",
    "params": "params has {} numbers: size, ports and what Topology.__init__(.., params=(..)) gets",
}
"""Explanations of the lengths, in words, of a rule's arguments."""

OF_PORTS = ("neighbor", "reverse_port", "channel")
"""Names of the functions that take the arguments of a ``port_rule``."""

RULES_USE = "rules use whole numbers, if, for, while, params, and functions marked @inlined"

NUMBA_SAYS = (
    (r"No conversion from none to int64", "it ends without a number"),
    (r"No conversion from (.+?) to int64", r"its result is not a whole number: \1"),
    (r"mismatch of return type", "it never returns a number"),
    (r"UnsupportedError: (.+)", r"\1"),
)
"""Patterns in Numba's messages, each with its meaning in plain words."""

ROOM = os.path.abspath(PACKAGE) + os.sep


def is_own(function: Any) -> bool:
    """Return whether a function is the user's, not mpinet's."""
    return not f"{function.__module__}.".startswith("mpinet.")


def kind_of(function: Any) -> str:
    """Return the kind of rule with these arguments; empty if no kind matches."""

    def form(names: Sequence[str]) -> tuple[int, int]:
        return len(names), names.index("header") if "header" in names else -1

    own = form(list(signature(function).parameters))
    return next((kind for kind, names in RULES.items() if form(names) == own), "")


def require_form(function: Any) -> None:
    """Raise `RuleError` unless a function has the arguments of a rule and does not print."""
    names = list(signature(function).parameters)
    if not kind_of(function) or names[0] == "self":
        forms = [f"({', '.join(each)})" for each in RULES.values()]
        forms = forms[:1] if function.__name__ in OF_PORTS else forms
        raise RuleError(
            f"{start_of(function)}: the arguments of a rule are {' or '.join(forms)}, not "
            f"({', '.join(names)})."
        )
    if "print" in function.__code__.co_names:
        raise RuleError(
            f"{place_in(function, 'print')}: a rule must not print, because every rank "
            "calls the rule for every processor. 'mpinet neighbors' shows the results."
        )


def start_of(function: Any) -> str:
    """Return ``FILE:LINE`` of a function's definition."""
    code = function.__code__
    return f"{relative_name(code.co_filename)}:{code.co_firstlineno}"


def place_in(function: Any, name: str) -> str:
    """Return ``FILE:LINE`` of the first use of a name in a function."""
    line = function.__code__.co_firstlineno
    for instruction in get_instructions(function):
        line = instruction.starts_line or line
        if instruction.argval == name:
            break
    return f"{relative_name(function.__code__.co_filename)}:{line}"


def relative_name(file: str) -> str:
    """Return a file's name, relative to the current directory if the file is in it."""
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
    """Return a note on the length of the header or params that caused an IndexError."""
    names = list(signature(function).parameters)
    lengths = {
        name: len(given)
        for name, given in zip(names, arguments, strict=False)
        if name in HINTS and hasattr(given, "__len__")
    }
    meant = [name for name, length in lengths.items() if said.endswith(f"size {length}")]
    return "".join(f" ({HINTS[name].format(lengths[name])})" for name in meant or lengths)


def raised_at(error: BaseException) -> str:
    """Return ``FILE:LINE`` of the innermost user code in a traceback; empty without user code."""
    import sysconfig  # reads many settings, and only an error needs its paths

    paths = map(sysconfig.get_path, ("stdlib", "platstdlib", "purelib"))
    installed = (ROOM, *(path + os.sep for path in paths))
    found = ""
    for frame, line in walk_tb(error.__traceback__):
        file = os.path.abspath(frame.f_code.co_filename)
        # The user can act at the innermost frame of the user's own file, however deep the error is.
        if not file.startswith(installed) and os.path.exists(file):
            found = f"{relative_name(file)}:{line}"
    return found


def describe(error: BaseException) -> str:
    """Describe an error in a user's file: file, line and cause."""
    where, kind = raised_at(error), type(error).__name__
    return ": ".join(part for part in (where, kind, str(error).rstrip(".")) if part)


def blamed(error: BaseException) -> RuleError | None:
    """Return a one-sentence error if the traceback passes through user code; None otherwise."""
    return RuleError(f"{describe(error)}.") if raised_at(error) else None


def told(error: Exception) -> str:
    """Return one sentence for an error in user code, or the full traceback of any other error."""
    fault = blamed(error)
    return "".join(format_exception(error)) if fault is None else str(fault)


@contextmanager
def blaming(own: type, name: str) -> Iterator[None]:
    """Turn errors in a user's class into sentences within this context.

    Parameters
    ----------
    own : type
        The class; errors in a class of mpinet pass unchanged.
    name : str
        Name of the class in the sentence if the line is unknown.

    Raises
    ------
    RuleError
        Replaces every exception except mpinet's own and `MemoryError`.
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
    """Return the error for a rule whose result is not a whole number."""
    asked = ", ".join(str(a) for a in arguments if isinstance(a, int))
    value = value.item() if isinstance(value, np.generic) else value
    hint = ": // divides whole numbers" if isinstance(value, float) else ""
    return RuleError(
        f"{start_of(function)}: {function.__name__}({asked}, ..) returned {value!r}, not a whole "
        f"number{hint}."
    )


def not_compiled(functions: list[Any], text: str) -> RuleError:
    """Return the error for user functions, the caller first, if Numba cannot compile them."""
    for function in functions:
        for sentence in _wrong_names(function):
            return RuleError(sentence)
    return RuleError(
        f"{_numbas_place(text, functions)}: {functions[0].__name__} cannot be compiled: "
        f"{_numbas_word(text)} ({RULES_USE})."
    )


def _wrong_names(function: Any) -> Iterator[str]:
    """Yield an error sentence for each global name that a rule cannot use."""
    for instruction in get_instructions(function):
        # Numba reports a missing name at length and late; the bytecode shows it at once.
        if instruction.opname not in ("LOAD_GLOBAL", "LOAD_NAME"):
            continue
        name = instruction.argval
        where = place_in(function, name)
        if name not in function.__globals__ and not hasattr(builtins, name):
            yield f"{where}: name {name!r} is not defined."
        elif isinstance(function.__globals__.get(name), FunctionType):
            yield f"{where}: a rule calls {name}: mark {name} with @inlined (mpinet.inlined)."


def _numbas_place(text: str, functions: list[Any]) -> str:
    """Return ``FILE:LINE`` of the user code to which Numba's message refers."""
    files = {os.path.basename(function.__code__.co_filename): function for function in functions}
    found = re.findall(r'File "([^"]+)", line (\d+)', text)
    found += re.findall(r"([^\s\"]+\.py) \((\d+)\)", text)
    for file, line in found:
        if os.path.basename(file) in files:
            return f"{relative_name(files[os.path.basename(file)].__code__.co_filename)}:{line}"
    return start_of(functions[0])


def _numbas_word(text: str) -> str:
    """Return the part of Numba's message that names the cause."""
    text = re.sub(r"^\w+: ", "", text)  # the type of Numba's error
    for pattern, meaning in NUMBA_SAYS:
        if found := re.search(pattern, text):
            return found.expand(meaning)
    lines = [line for line in text.splitlines() if line and "pipeline (step" not in line]
    return lines[0].split(" Raised from ")[0].rstrip(".:") if lines else "Numba gives no reason"
