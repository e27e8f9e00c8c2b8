"""Rules and kernels: plain functions, each compiled once for all parameter values.

This module compiles nothing. Native code comes from the package's library, from the cache or from
the compile process (`mpinet.base.native`). Until native code is ready, a function runs as plain
Python. There are eight kinds of functions:

``@rule``
    A small function of one processor with one of the fixed signatures of
    `mpinet.base.arguments.SIGNATURES`. Kernels get rules as first-class functions. A kernel is
    therefore compiled once for all rules.
``@inlined``
    Arithmetic called by rules and kernels, and compiled into the callers.
``@idiom``
    The same, but compiled separately first: only then does LLVM recognise a single instruction
    in the function.
``@phase``
    A named loop of a kernel. Phases are compiled without reference counts, so they can take groups
    of arrays and pass the arrays on, but cannot make arrays. LLVM inlines phases into the kernel.
``@sweep``
    A phase compiled without wraparound checks: every index must be 0 or more. Constant indices may
    be negative.
``@routine``
    A phase called from many places. A kernel contains a single copy of each routine.
``@part``
    The work of a phase, sweep or rule on one node or message, shared by several callers. A part is
    compiled once for phases and once for sweeps. LLVM inlines parts into the callers.
``@kernel``
    A loop over many processors or messages. The annotations give the types of the parameters (see
    `arguments`).

A ninth function, `prefetch`, is an instruction without influence on any result.

Compiled code is cached on disk under a fingerprint of all its sources, including functions of
other files. An edit can therefore never bring back an old result. With ``NUMBA_DISABLE_JIT=1`` the
same functions run as plain Python and serve as the reference.

The file is long because all kinds share binding, fingerprints and compilation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dis import get_instructions
from functools import cache, cached_property
from hashlib import sha256
from importlib import import_module
from pickle import PicklingError
from types import CodeType, FunctionType, ModuleType
from typing import Any, ClassVar

import numpy as np

from mpinet.base.arguments import Arguments, PortRule
from mpinet.base.arrays import Ints
from mpinet.base.blame import error_of, is_own, kind_of, no_number, not_compiled, require_form
from mpinet.base.native import calls
from mpinet.base.native.background import WATCH
from mpinet.base.native.calls import RuleForm
from mpinet.base.native.description import Description, names_in
from mpinet.base.native.tiers import PLAIN, tier
from mpinet.base.plainrecords import PLAIN_NUMPY, as_python
from mpinet.errors import MpinetError, NodeError

WHOLE = (int, np.integer, np.bool_)
"""Allowed types of a rule's value; Numba converts all of them to integers."""

# The unit is a bytecode instruction, not a source line: Numba copies bytecode into each caller.
SHORT = 72
"""Largest callee, in bytecode instructions, that Numba inlines into its callers before LLVM runs.

LLVM does not inline small functions that divide: Python's checks of a division make them too long.
Without this inlining, a hop on torus, fat tree and G(m,N) takes 1.5 to 2 times as long.
"""


class UntilSet:
    """A property computed at each access until the instance's `vars` contain its name."""

    def __init__(self, function: Callable[..., Any]):
        self._function = function
        self.__doc__ = function.__doc__

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """Compute the property's value."""
        return self if instance is None else self._function(instance)


class Switch(int):
    """A condition that `Compiled.bind` can replace in all files that import the condition.

    Compiled code treats a switch as a constant. Branches excluded by a switch are not compiled.
    """


class Compiled:
    """A plain function for Numba to compile, together with its compiled callees.

    Parameters
    ----------
    function : callable
        The plain function. Globals of type `Compiled` are compiled with `function`.
    name : str, optional
        Name of a bound variant (see `bind`).
    parts : dict, optional
        Replacements (functions and numbers) by name. They replace globals of `function`, globals of
        the same name in callees of the same file, and switches in all callees.

    Raises
    ------
    NameError
        A part's name occurs in none of these functions.
    """

    how: ClassVar[dict[str, Any] | None] = None
    """Numba's inlining options for callers of the function; None: inlined if short (see
    `SHORT`).
    """

    kind_name: ClassVar[str] = "callee"
    """Name of the function's kind, for the compiler."""

    numbers_alike: ClassVar[bool] = False
    """True if all numeric arguments share one compiled version, even constants.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        name: str | None = None,
        parts: dict[str, Compiled | int] | None = None,
    ):
        self.parts = dict(parts or {})
        self.name = name or function.__qualname__
        self.__doc__ = function.__doc__
        self.__module__ = function.__module__
        self.unbound = self.function = function
        if parts is not None:
            self.function = self._clone(function, {**self._bound_callees(), **self.parts})

    def __call__(self, *args: Any) -> Any:
        """Run the function as plain Python."""
        return self.function(*args)

    def __repr__(self) -> str:
        return f"<{type(self).__name__.lower()} {self.name}>"

    def __copy__(self) -> Compiled:
        """Return this function itself, because it is immutable."""
        return self

    def __deepcopy__(self, memo: Any) -> Compiled:
        """Return this function itself, because it is immutable."""
        return self

    def __reduce__(self) -> Any:
        """Pickle the function as the place of its declaration and its bound parts."""
        place = self.unbound.__module__, self.unbound.__qualname__
        declared = _declared(*place)
        # Another process cannot import a function declared inside a function.
        if getattr(declared, "unbound", None) is not self.unbound:
            raise PicklingError(
                f"{self} cannot be pickled: declare its function in a module, not in a function."
            )
        if declared is self:
            return _declared, place
        return _bound, (declared, self.name, tuple(self.parts.items()))

    def bind(self, name: str, **parts: Compiled | int) -> Any:
        """Return a variant of this function in which `parts` replace the globals of the same names.

        Raises
        ------
        NameError
            A part's name occurs neither in the function nor in its callees of the same file, and no
            switch has this name.
        """
        return _bound(self, name, tuple(sorted({**self.parts, **parts}.items())))

    @cached_property
    def open_names(self) -> frozenset[str]:
        """Names of the globals that `bind` may replace, including names used by callees."""
        # Transitive, because a callee three calls below the bound kernel may read a constant.
        within = (names for _, names in self._reached())
        return frozenset(self._named().keys()).union(*within)

    @cached_property
    def switches(self) -> frozenset[str]:
        """Names of the switches among the open names."""
        own = {name for name, value in self._named().items() if isinstance(value, Switch)}
        callees = (each for each in self._named().values() if isinstance(each, Compiled))
        return frozenset(own).union(*(each.switches - each.parts.keys() for each in callees))

    def _named(self) -> dict[str, Any]:
        """Globals used by the function before any binding, by name."""
        scope = self.unbound.__globals__
        return {name: scope[name] for name in self.unbound.__code__.co_names if name in scope}

    def _reached(self) -> Iterator[tuple[str, frozenset[str]]]:
        """Yield each callee's name with the names that `bind` may replace in the callee.

        For a callee of another file these are the switches alone, because other names have a
        different
        meaning there.
        """
        for name, part in self._named().items():
            if isinstance(part, Compiled):
                # A name has one meaning within one file only. Switches are marked, hence safe
                # across
                # files.
                same_file = part.__module__ == self.__module__
                yield name, (part.open_names if same_file else part.switches) - part.parts.keys()

    def _bound_callees(self) -> dict[str, Compiled]:
        """Return copies of the called compiled functions that use a replaced name, by name.

        The parts are the replacements given to `bind`. Each copy uses them as well.
        """
        unknown = sorted(self.parts.keys() - self.open_names)
        # A misspelt part would silently leave the original in place.
        if unknown:
            raise NameError(f"{self.unbound.__qualname__} names no {' and no '.join(unknown)}")
        named, bound = self._named(), {}
        for name, names in self._reached():
            taken = self.parts.keys() & names
            if name not in self.parts and taken:
                part = named[name]
                bound[name] = part.bind(part.name, **{each: self.parts[each] for each in taken})
        return bound

    @cached_property
    def callees(self) -> dict[str, Compiled]:
        """Compiled functions called by this function, by the global's name."""
        scope = self.function.__globals__
        named = {name: scope.get(name) for name in self.function.__code__.co_names}
        return {name: part for name, part in named.items() if isinstance(part, Compiled)}

    @cached_property
    def plain(self) -> Callable[..., Any]:
        """The function in plain Python, calling the plain forms of its callees directly."""
        # Each call through `Compiled.__call__` instead would take twice the time.
        scope: dict[str, Any] = {name: part.plain for name, part in self.callees.items()}
        if self.function.__globals__.get("np") is np:
            scope["np"] = PLAIN_NUMPY
        return self._clone(self.function, scope)

    @cached_property
    def fingerprint(self) -> str:
        """Hash of all code compiled into this function and of the compile options."""
        # Options are part of the hash: the same code with other options is another object.
        how = f"{SHORT} {type(self).__name__}{self.how or ''}"
        return sha256(f"{how} {_text_of(self.function)}".encode()).hexdigest()[:16]

    def description_in(self, _caller: Compiled) -> Description:
        """Return the description of the function for one particular caller."""
        return self.description

    @property
    def options(self) -> dict[str, Any]:
        """Numba's options for the function."""
        if self.how is not None:
            return self.how
        # The number of bytecode instructions is a fair estimate of the size of LLVM's code.
        short = sum(1 for _ in get_instructions(self.function)) <= SHORT
        return {"inline": "always" if short else "never"}

    @property
    def form(self) -> Any:
        """Signature of a kernel or rule in its description; None for other kinds."""
        return None

    @cached_property
    def description(self) -> Description:
        """Description of the function for the compiler."""
        scope = self.function.__globals__
        # Switches become plain booleans: Numba then prunes dead branches before type inference.
        off = {
            name: bool(value)
            for name in self.function.__code__.co_names
            if isinstance(value := scope.get(name), Switch)
        }
        parts = {name: part.description_in(self) for name, part in self.callees.items()}
        # The compiler identifies functions by this name. The fingerprint distinguishes edits (also
        # of callees in other files) and variants made by `bind`.
        name = f"{self.name}_{self.fingerprint}".replace(":", "_")
        function = self._clone(self.function, off)
        return Description(
            self.kind_name, name, self.options, self.numbers_alike, function, parts, self.form
        )

    def refused(self, wrong: str) -> str:
        """Return an error message for a function that the compiler refused for reason `wrong`."""
        own = [part.function for part in self.compiled_in if is_own(part.function)]
        if not own:
            return f"{self.name} of {self.__module__} cannot be compiled: {wrong}"
        return str(not_compiled(own, wrong))

    @property
    def compiled_in(self) -> Iterator[Compiled]:
        """Yield this function and all functions compiled into it, some of them repeatedly."""
        yield self
        for part in self.callees.values():
            yield from part.compiled_in

    @staticmethod
    def _clone(function: Callable[..., Any], scope: dict[str, Any]) -> FunctionType:
        clone = FunctionType(
            function.__code__,
            {**function.__globals__, **scope},
            function.__name__,
            function.__defaults__,
            function.__closure__,
        )
        clone.__doc__, clone.__module__ = function.__doc__, function.__module__
        return clone


class Inlined(Compiled):
    """Arithmetic shared by rules and kernels; compiled into its callers."""


class Idiom(Inlined):
    """Arithmetic that LLVM reduces to one instruction only if compiled separately."""

    how: ClassVar[dict[str, Any] | None] = {}  # empty: never inlined by Numba
    kind_name: ClassVar[str] = "idiom"


class Phase(Inlined):
    """A loop of a kernel, called a few times per step with groups of arrays.

    The kernel's own caller holds all arrays, so phases are compiled without reference counts. With
    counts, each access to a group would take as long as a message's hop. LLVM inlines phases into
    the
    kernel: passing a hundred numbers of groups takes longer than a small network's phase.
    """

    how: ClassVar[dict[str, Any] | None] = {"_nrt": False, "forceinline": True}


class Sweep(Phase):
    """A phase compiled without wraparound checks: all indices except constants are 0 or more.

    In loops over records, Numba's checks for negative indices take a fifth of the time.
    """

    how: ClassVar[dict[str, Any] | None] = {"_nrt": False, "forceinline": True, "from_zero": True}


class Routine(Inlined):
    """A phase called by many phases, and calling others; LLVM decides about inlining.

    Forced inlining would put one copy of a nested phase into the kernel per call path.
    """

    how: ClassVar[dict[str, Any] | None] = {"_nrt": False}
    numbers_alike: ClassVar[bool] = True


class Part(Phase):
    """A phase of a step for one node or message; its caller decides about negative indices.

    A part is compiled once for all phases, and once for all sweeps. LLVM inlines parts into the
    callers. If Numba did, it would infer a part's types again in each caller.
    """

    def description_in(self, caller: Compiled) -> Description:
        """Return the description of the part for one caller: a sweep if the caller is a sweep."""
        return self.in_sweep.description if isinstance(caller, Sweep) else self.description

    @cached_property
    def in_sweep(self) -> Sweep:
        """The part in the form for sweeps."""
        # Made at most once for all sweeps: a copy per caller would multiply the compile time.
        return Sweep(self.unbound, self.name, self.parts)


class Hint(Compiled):
    """An instruction without influence on any result; plain Python omits it."""

    kind_name: ClassVar[str] = "hint"

    @cached_property
    def description(self) -> Description:
        """Description with the name alone, which the compiler turns into an instruction."""
        return Description("hint", self.name, {}, False, self.function, {}, None)


class Rule(Compiled):
    """A function of one processor with one of the signatures of `mpinet.base.arguments.SIGNATURES`.

    In a class body (of a `Topology`) a rule is also a method. A call on an instance maps the rule
    over
    arrays of processors.
    """

    kind_name: ClassVar[str] = "rule"

    played = 0
    """Number of calls that ran as plain Python."""

    def __call__(self, *args: Any) -> Any:
        """Run the rule as plain Python.

        Raises
        ------
        RuleError
            A user's rule fails or returns a value that is not an integer.
        """
        self.played += 1
        try:
            value = self._exactly(*args) if self.is_users else self.function(*args)
        except MpinetError:
            raise
        except Exception as error:
            if is_own(self.function):
                raise error_of(self.function, args, error) from error
            raise
        # Checked in plain Python as well: a rule must fail alike before and after compilation.
        if isinstance(value, WHOLE) or self.kind == "start_rule":
            return value
        raise no_number(self.function, args, value)

    def _exactly(self, *args: Any) -> Any:
        """Run a user's function with the error behaviour of compiled code for divisions by zero."""
        # NumPy scalars only warn where compiled code raises; the two must not differ.
        with np.errstate(over="ignore", divide="raise", invalid="ignore"):
            try:
                return self.function(*args)
            except FloatingPointError as error:
                wrong = ZeroDivisionError("division by zero")
                raise wrong.with_traceback(error.__traceback__) from None

    @cached_property
    def kind(self) -> str:
        """Name of the rule's signature, derived from its arguments."""
        return kind_of(self.function)

    @cached_property
    def is_users(self) -> bool:
        """True if a user wrote the rule or any of its callees."""
        return any(is_own(part.function) for part in self.compiled_in)

    @property
    def options(self) -> dict[str, Any]:
        """Numba's options for the rule: no reference counts, which take half of a rule's time.

        The caller holds all arrays read by a rule. Users' rules and rules that make arrays keep the
        counts.
        """
        parts = (set(part.function.__code__.co_names) for part in self.compiled_in)
        makes_arrays = any(not MAKERS.isdisjoint(names) for names in parts)
        return {} if self.is_users or makes_arrays else {"_nrt": False}

    @property
    def form(self) -> Any:
        """Name of the rule's signature."""
        return self.kind

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """Bind the rule to a topology's parameters and map it over arrays."""
        return self if instance is None else Mapped(self, instance.params)

    @cached_property
    def plain(self) -> Callable[..., Any]:
        """The rule in plain Python; users' rules are checked at each call: they may fail."""
        return self if self.is_users else super().plain

    @cached_property
    def native(self) -> RuleForm:
        """The rule in the form for kernels: a record with the address of native code or a callback.

        Plain kernels use the record's `call`.
        """
        form = RuleForm(self.plain, self.kind)
        # The record lives as long as the rule. Ready native code fills in its address, even while
        # kernels hold the record.
        WATCH.attach(self, form)
        return form


class Kernel(Compiled):
    """A compiled loop, called with arrays, rules in their `native` form, and groups of both.

    Parameters
    ----------
    function, name, parts
        As for `Compiled`. The annotations give the types (see `arguments`).
    groups : dict, optional
        Named tuples by parameter name; each replaces the type in the parameter's annotation.
    """

    kind_name: ClassVar[str] = "kernel"

    def __init__(
        self,
        function: Callable[..., Any],
        name: str | None = None,
        parts: dict[str, Compiled | int] | None = None,
        groups: dict[str, type] | None = None,
    ):
        super().__init__(function, name, parts)
        self.groups = dict(groups or {})

    def bind(self, name: str, **parts: Compiled | int | type) -> Kernel:
        """Return a variant of the loop in which `parts` replace globals or types of parameters.

        A part that is a type (a group: a named tuple of arguments) becomes the type of the
        parameter of its name. Other parts replace globals, as in `Compiled.bind`.
        """
        groups = {key: part for key, part in parts.items() if isinstance(part, type)}
        others = {key: part for key, part in parts.items() if not isinstance(part, type)}
        return Kernel(self.unbound, name, {**self.parts, **others}, {**self.groups, **groups})

    @cached_property
    def fingerprint(self) -> str:
        """Fingerprint of the loop, including the order of the fields in its groups.

        The order is not part of the code. Two groups whose fields have equal types share a compiled
        loop.
        """
        text = f"{super().fingerprint} {self._arguments.names} {self._arguments.described}"
        return sha256(text.encode()).hexdigest()[:16]

    def __call__(self, *args: Any) -> Any:
        """Run the compiled loop."""
        return self.run(*args)

    @UntilSet
    def run(self) -> Callable[..., Any]:
        """The loop in its best ready form: native code, or plain Python."""
        # Looked up at each call until found: native code may become ready between two calls.
        address = WATCH.address(self)
        if not address:
            return self.plainly if tier() == PLAIN else self._watched
        run = vars(self)["run"] = calls.kernel(
            address, self._arguments.forms, self._arguments.result
        )
        return run

    @property
    def is_ready(self) -> bool:
        """True if native code is ready or unwanted; otherwise the code is requested."""
        return "run" in vars(self) or tier() == PLAIN or bool(WATCH.address(self, needed=False))

    def _watched(self, *args: Any) -> Any:
        """Run the loop as plain Python until its native code is ready."""
        return WATCH.run(self, self.plainly, args)

    @cached_property
    def plainly(self) -> Callable[..., Any]:
        """The loop as plain Python, with the arguments of `run` and Python numbers as results."""
        loop = self._arguments.plainly(self.plain)

        def plainly(*args: Any) -> Any:
            with np.errstate(over="ignore", divide="raise", invalid="ignore"):
                try:
                    return as_python(loop(*args))
                # Native code raises the same exception: its error text names ZeroDivisionError.
                except FloatingPointError as error:
                    raise ZeroDivisionError("division by zero") from error

        return plainly

    @property
    def options(self) -> dict[str, Any]:
        """Numba's options for the kernel."""
        return {}

    @property
    def form(self) -> Any:
        """Signature of the kernel."""
        return self._arguments.described

    @cached_property
    def _arguments(self) -> Arguments:
        return Arguments(self.unbound, self.groups)


def bind_all(functions: Sequence[Any], suffix: str, **parts: Compiled | int) -> tuple[Any, ...]:
    """Bind `parts` in each function that names them, and append `suffix` to the functions' names.

    Raises
    ------
    NameError
        A part's name occurs in none of the functions.
    """
    unknown = sorted(parts.keys() - set[str]().union(*(each.open_names for each in functions)))
    if unknown:
        raise NameError(f"None of {', '.join(map(repr, functions))} names {unknown[0]}")
    return tuple(
        each.bind(
            f"{each.name}_{suffix}",
            **{name: part for name, part in parts.items() if name in each.open_names},
        )
        for each in functions
    )


def rule(function: Callable[..., Any]) -> Rule:
    """Turn a plain function into a local rule; its arguments determine its signature.

    Raises
    ------
    RuleError
        The arguments match none of the signatures.

    Examples
    --------
    >>> @rule
    ... def neighbor(node, port, params):
    ...     return node ^ (1 << port)
    >>> neighbor.kind, neighbor(5, 1, None)
    ('port_rule', 7)
    """
    require_form(function)
    return Rule(function)


def inlined(function: Callable[..., Any]) -> Inlined:
    """Turn a plain function into arithmetic for rules and kernels to call.

    Examples
    --------
    >>> @inlined
    ... def flipped(word, place):
    ...     return word ^ (1 << place)
    >>> @rule
    ... def neighbor(node, port, params):
    ...     return flipped(node, port)
    >>> neighbor(5, 1, None)
    7
    """
    return Inlined(function)


@inlined
def open_part(*_):
    """Placeholder for a function that compiled code calls and that `bind` supplies.

    The caller's file gives the placeholder a name, as in ``wiring = open_part``; `bind` takes
    the function by this name. Without `bind`, a call raises an error.
    """
    raise NotImplementedError


@Hint
def prefetch(rows, at):
    """Prefetch an item of an array into the cache; the index may be out of range.

    In a table the item is the first item of a row.
    """


idiom, phase, sweep, routine, part, kernel = Idiom, Phase, Sweep, Routine, Part, Kernel
"""Decorators: each turns a plain function into an object of the class of the same name."""


def _text_of(function: Callable[..., Any], callers: tuple[CodeType, ...] = ()) -> str:
    """Return a text that changes whenever the compiled form of a function changes.

    The text is the same in every process and for every copy of the function's file.
    """
    callers += (function.__code__,)
    names = names_in(function.__code__)
    scope = {name: function.__globals__[name] for name in names if name in function.__globals__}
    cells = (cell.cell_contents for cell in function.__closure__ or ())
    scope |= dict(zip(function.__code__.co_freevars, cells, strict=True))
    meanings = {name: _meaning(value, names, callers) for name, value in sorted(scope.items())}
    return f"{_code_text(function.__code__)} {function.__defaults__} {meanings}"


def _meaning(value: Any, names: set[str], callers: tuple[CodeType, ...]) -> str:
    """Return a text for the meaning of a global in compiled code that uses these names."""
    if isinstance(value, Compiled):
        return value.fingerprint
    if isinstance(value, ModuleType):
        constants = {name: getattr(value, name, None) for name in sorted(names)}
        numbers = {name: each for name, each in constants.items() if isinstance(each, int | float)}
        return f"{value.__name__} {numbers}"
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.shape} {value.tolist()}"
    # The order of a group's fields determines the memory layout of its numbers.
    if isinstance(value, type) and hasattr(value, "_fields"):  # code contains its name alone
        return f"{value.__name__} {value._fields}"
    if hasattr(value, "py_func"):  # compiled by Numba itself, for example a callee of a user's rule
        recursive = value.py_func.__code__ in callers
        return "recursive" if recursive else _text_of(value.py_func, callers)
    if callable(value):
        return f"{getattr(value, '__module__', '')} {getattr(value, '__qualname__', '')}"
    return repr(value)


def _code_text(code: CodeType) -> str:
    """Return a text of code without its file name and line numbers."""
    # Comments and moved files must not cause a compilation.
    constants = [_code_text(c) if isinstance(c, CodeType) else repr(c) for c in code.co_consts]
    return f"{code.co_code.hex()} {constants} {code.co_names} {code.co_varnames}"


# The cache key is the parts, not the networks that own the rules. Networks of one family share
# compiled code at any size, because sizes are parameters.
@cache
def _bound(compiled: Compiled, name: str, parts: tuple[tuple[str, Compiled | int], ...]) -> Any:
    """Return the variant of a function with these parts, the same object for equal arguments."""
    return type(compiled)(compiled.unbound, name=name, parts=dict(parts))


def _declared(module: str, qualname: str) -> Any:
    """Return the object declared under a qualified name in a module; None if absent."""
    found: Any = import_module(module)
    for name in qualname.split("."):
        found = vars(found).get(name) if hasattr(found, "__dict__") else None
    return found


SMALL = 64
"""Largest number of elements for which a rule without native code is mapped as plain Python."""

MAKERS = frozenset("arange array copy empty full ones zeros".split())
"""Names of NumPy functions by which rules make arrays."""


class Mapped:
    """A rule with its parameters, callable with numbers or arrays of processors and ports.

    Parameters
    ----------
    rule : Rule
        A rule of kind ``port_rule``.
    params : ndarray of int64
        The rule's parameters; ``params[0]`` processors, ``params[1]`` ports.
    nodes, ports : int, optional
        Allowed numbers of nodes and ports, if different from the numbers of processors and ports.
    """

    def __init__(self, rule: Rule, params: Any, nodes: int | None = None, ports: int | None = None):
        self.rule = rule
        self.params = params
        self.counts = (
            params[0] if nodes is None else nodes,
            params[1] if ports is None else ports,
        )

    @property
    def native(self) -> Any:
        """The rule in the form for kernels."""
        return self.rule.native

    def __call__(self, nodes: Any, ports: Any) -> Any:
        """Map the rule over nodes and ports.

        Parameters
        ----------
        nodes, ports : int or ndarray of int64, shapes that broadcast
            Processor and port numbers.

        Returns
        -------
        int or ndarray of int64
            The rule's values, in the broadcast shape.

        Raises
        ------
        NodeError
            The topology has no node or port of this number.
        """
        size, width = self.counts
        if type(nodes) is type(ports) is int and 0 <= nodes < size and 0 <= ports < width:
            return int(self.rule(nodes, ports, self.params))  # faster than an array of one number
        nodes, ports = np.broadcast_arrays(np.asarray(nodes, np.int64), np.asarray(ports, np.int64))
        self._require(nodes, self.counts[0], "node")
        self._require(ports, self.counts[1], "port")
        if nodes.ndim == 0:
            return int(self.rule(int(nodes), int(ports), self.params))
        # For few numbers, plain Python is faster than a call of a kernel without native code.
        if nodes.size <= SMALL and not self.native.address:
            return np.array(self._play(nodes, ports), np.int64).reshape(nodes.shape)
        mapped = np.empty(nodes.size, np.int64)
        try:
            map_rule(self.native, _flat(nodes), _flat(ports), self.params, mapped)
        except Exception:
            # Native errors carry no line number; the plain run fails again with one.
            if is_own(self.rule.function):
                self._play(nodes, ports)  # raises an error with the line
            raise
        return mapped.reshape(nodes.shape)

    def _play(self, nodes: Any, ports: Any) -> list[int]:
        """Compute the rule's values in plain Python."""
        pairs = zip(nodes.flat, ports.flat, strict=True)
        return [self.rule(int(u), int(p), self.params) for u, p in pairs]

    @staticmethod
    def _require(numbers: Any, count: int, what: str) -> None:
        if numbers.size and (numbers.min() < 0 or numbers.max() >= count):
            wrong = numbers[(numbers < 0) | (numbers >= count)].flat[0]
            raise NodeError(f"There is no {what} {wrong}: {what}s are 0..{count - 1}.")


def _flat(numbers: Any) -> Any:
    """Return a flat, contiguous, writable array; copy the input if it is a view or read-only."""
    # Views of broadcast arrays are read-only and share memory; kernels take contiguous, writable
    # arrays.
    own = numbers.flags.owndata and numbers.flags.writeable
    return numbers.ravel() if own else numbers.flatten()


@kernel
def map_rule(rule: PortRule, nodes: Ints, ports: Ints, params: Ints, values: Ints) -> None:
    """Write the rule's value for every pair (node, port) into `values`."""
    value = rule.call
    for i in range(nodes.size):
        values[i] = value(nodes[i], ports[i], params)
