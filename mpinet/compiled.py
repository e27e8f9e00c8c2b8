"""Rules and kernels: plain functions that are compiled once, for all parameter values.

Nothing here compiles. Native code comes from the package's library, from the cache or from the
compile process (`mpinet.base.native`); until then a function runs as plain Python. Eight kinds of
function exist:

``@rule``
    a small function of one processor with one of the fixed signatures of
    `mpinet.base.arguments.SIGNATURES`. Kernels get rules as first-class functions, so a kernel is
    compiled once for all rules.
``@inlined``
    arithmetic that rules and kernels call; it is compiled into its callers.
``@idiom``
    likewise, but compiled by itself first, for LLVM to see one instruction in it.
``@phase``
    a loop of a kernel that has a name of its own. It is compiled without counts of references, so
    that it may take groups of arrays and hand on what is in them; it can make no arrays. LLVM puts
    it into the kernel.
``@sweep``
    a phase whose indices are 0 or more, but for constants: nobody asks whether they are.
``@routine``
    likewise, but called from many places: a kernel has it once.
``@part``
    what a phase, a sweep or a rule does with one node or message, in several places. It is compiled
    once, with its caller's treatment of indices below 0; LLVM puts it into its callers.
``@kernel``
    a loop over many processors or messages. The types of its parameters are those of its
    annotations (see `arguments`).

Beside these there is `prefetch`, an instruction on which no result depends.

Compiled code is cached on disk under the fingerprint of everything that was compiled into it, also
of functions from other files: an edit can never bring back an old result. With
``NUMBA_DISABLE_JIT=1`` the same functions run as plain Python and are the reference.

The kinds share how they are bound, fingerprinted and compiled, and so this one file, long as it is.
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
"""Types that a rule may return; Numba makes whole numbers of them."""

# Counted in bytecode, not in lines of source: it is what Numba would copy into each caller.
SHORT = 72
"""Most instructions of a callee that is put into its callers before LLVM sees them.

LLVM by itself leaves calls of small functions that divide, for what Python demands of a division
makes them long: on torus, fat tree and G(m,N) a hop takes 1.5 to 2 times as long without.
"""


class UntilSet:
    """A property that is computed at each access until its name is in the instance's `vars`."""

    def __init__(self, function: Callable[..., Any]):
        self._function = function
        self.__doc__ = function.__doc__

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """Compute the value."""
        return self if instance is None else self._function(instance)


class Switch(int):
    """A condition that `Compiled.bind` may replace in all files that import it.

    Compiled code takes it for a constant: what it rules out is not compiled.
    """


class Compiled:
    """A plain function that Numba can compile, with the other such functions that it calls.

    Parameters
    ----------
    function : callable
        The plain function. Globals that are `Compiled` objects are compiled with it.
    name : str, optional
        Name of a bound variant (see `bind`).
    parts : dict, optional
        Functions and numbers that stand in for globals of `function`, for those of the same names
        in what it calls of its own file, and for switches wherever it leads.

    Raises
    ------
    NameError
        None of these functions names one of the parts.
    """

    how: ClassVar[dict[str, Any] | None] = None
    """Inlining for the function's callers, as Numba takes it; None: it is put into them if it is
    short.
    """

    kind_name: ClassVar[str] = "callee"
    """Name of the kind for the compiler."""

    numbers_alike: ClassVar[bool] = False
    """True if it is compiled once for all numbers that it is called with."""

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
        """Run as plain Python."""
        return self.function(*args)

    def __repr__(self) -> str:
        return f"<{type(self).__name__.lower()} {self.name}>"

    def __copy__(self) -> Compiled:
        """Return this function itself: nothing changes it."""
        return self

    def __deepcopy__(self, memo: Any) -> Compiled:
        """Return this function itself: nothing changes it."""
        return self

    def __reduce__(self) -> Any:
        """Pickle where the function is declared, and what is bound to it."""
        place = self.unbound.__module__, self.unbound.__qualname__
        declared = _declared(*place)
        # A function inside a function has no place that another process could import it from.
        if getattr(declared, "unbound", None) is not self.unbound:
            raise PicklingError(
                f"{self} cannot be pickled: declare its function in a module, not in a function."
            )
        if declared is self:
            return _declared, place
        return _bound, (declared, self.name, tuple(self.parts.items()))

    def bind(self, name: str, **parts: Compiled | int) -> Any:
        """Return this function with the globals named in `parts` replaced: a rule made of rules.

        Raises
        ------
        NameError
            Neither the function nor what it calls of its own file names one of the parts, and no
            switch has that name.
        """
        return _bound(self, name, tuple(sorted({**self.parts, **parts}.items())))

    @cached_property
    def open_names(self) -> frozenset[str]:
        """The globals that `bind` may replace: named here or in a callee that it reaches."""
        # Transitive, because a constant may be read three calls below the kernel that is bound.
        within = (names for _, names in self._reached())
        return frozenset(self._named().keys()).union(*within)

    @cached_property
    def switches(self) -> frozenset[str]:
        """The switches among the open names."""
        own = {name for name, value in self._named().items() if isinstance(value, Switch)}
        callees = (each for each in self._named().values() if isinstance(each, Compiled))
        return frozenset(own).union(*(each.switches - each.parts.keys() for each in callees))

    def _named(self) -> dict[str, Any]:
        """The globals that the function names, before anything is bound."""
        scope = self.unbound.__globals__
        return {name: scope[name] for name in self.unbound.__code__.co_names if name in scope}

    def _reached(self) -> Iterator[tuple[str, frozenset[str]]]:
        """List callees, by the globals' names, with what `bind` may replace in each.

        In another file that is switches alone, for other names mean something else there.
        """
        for name, part in self._named().items():
            if isinstance(part, Compiled):
                # A name means the same thing within one file only; switches are marked, and so safe
                # across files.
                same_file = part.__module__ == self.__module__
                yield name, (part.open_names if same_file else part.switches) - part.parts.keys()

    def _bound_callees(self) -> dict[str, Compiled]:
        """Callees that name some of the parts, with these parts bound."""
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
        """Compiled functions that this one calls, by the global's name."""
        scope = self.function.__globals__
        named = {name: scope.get(name) for name in self.function.__code__.co_names}
        return {name: part for name, part in named.items() if isinstance(part, Compiled)}

    @cached_property
    def plain(self) -> Callable[..., Any]:
        """The function in plain Python, which calls the plain forms of others without detours."""
        # Plain forms call plain forms directly: a detour through `Compiled.__call__` would double
        # the time of each call.
        scope: dict[str, Any] = {name: part.plain for name, part in self.callees.items()}
        if self.function.__globals__.get("np") is np:
            scope["np"] = PLAIN_NUMPY
        return self._clone(self.function, scope)

    @cached_property
    def fingerprint(self) -> str:
        """Hash of everything that is compiled into this function, and of how."""
        # Options are part of the hash: the same code compiled in another way is another object.
        how = f"{SHORT} {type(self).__name__}{self.how or ''}"
        return sha256(f"{how} {_text_of(self.function)}".encode()).hexdigest()[:16]

    def description_in(self, _caller: Compiled) -> Description:
        """Return the description of the function as this caller compiles it."""
        return self.description

    @property
    def options(self) -> dict[str, Any]:
        """Numba's options for it."""
        if self.how is not None:
            return self.how
        # Counted in instructions of bytecode, which are a fair estimate of the size that LLVM will
        # see.
        short = sum(1 for _ in get_instructions(self.function)) <= SHORT
        return {"inline": "always" if short else "never"}

    @property
    def form(self) -> Any:
        """Signature of a kernel or rule in its description."""
        return None

    @cached_property
    def description(self) -> Description:
        """The function, as the compiler needs it."""
        scope = self.function.__globals__
        # Switches become plain booleans, so that Numba prunes the branches before it infers their
        # types.
        off = {
            name: bool(value)
            for name in self.function.__code__.co_names
            if isinstance(value := scope.get(name), Switch)
        }
        parts = {name: part.description_in(self) for name, part in self.callees.items()}
        # The compiler knows functions by this name: the fingerprint in it tells edits apart, also
        # of callees in other files, and the variants that `bind` makes.
        name = f"{self.name}_{self.fingerprint}".replace(":", "_")
        function = self._clone(self.function, off)
        return Description(
            self.kind_name, name, self.options, self.numbers_alike, function, parts, self.form
        )

    def refused(self, wrong: str) -> str:
        """Return the sentence for a function that cannot be compiled, by what the compiler says."""
        own = [part.function for part in self.compiled_in if is_own(part.function)]
        if not own:
            return f"{self.name} of {self.__module__} cannot be compiled: {wrong}"
        return str(not_compiled(own, wrong))

    @property
    def compiled_in(self) -> Iterator[Compiled]:
        """This function and all functions that are compiled into it, some more than once."""
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
    """Arithmetic that rules and kernels share; compiled into its callers."""


class Idiom(Inlined):
    """Arithmetic that LLVM turns into one instruction only if it is compiled by itself."""

    how: ClassVar[dict[str, Any] | None] = {}  # whole
    kind_name: ClassVar[str] = "idiom"


class Phase(Inlined):
    """A loop of a kernel: it is called a few times a step, with groups of arrays.

    The kernel's own caller holds all arrays, so that nothing needs to count who else does; where
    Numba does, each look into a group takes as long as a message's hop. LLVM puts it into the
    kernel: to hand on a hundred numbers of groups takes longer than a small network's phase.
    """

    how: ClassVar[dict[str, Any] | None] = {"_nrt": False, "forceinline": True}


class Sweep(Phase):
    """A phase whose indices, but for constants, are 0 or more.

    Where a loop goes from record to record, Numba's question whether they are takes a fifth of it.
    """

    how: ClassVar[dict[str, Any] | None] = {"_nrt": False, "forceinline": True, "from_zero": True}


class Routine(Inlined):
    """A function that many phases call, in which others are called: LLVM decides what goes where.

    Phases within phases would be put into a kernel once for every way that leads to them.
    """

    how: ClassVar[dict[str, Any] | None] = {"_nrt": False}
    numbers_alike: ClassVar[bool] = True


class Part(Phase):
    """Phase of a step for one node or message. Its caller decides about indices below 0.

    A part is compiled once for all phases, and once for all sweeps. LLVM puts it into its callers:
    Numba would infer its types again in each of them.
    """

    def description_in(self, caller: Compiled) -> Description:
        """Return the description of the part: a part of a sweep is a sweep."""
        return self.in_sweep.description if isinstance(caller, Sweep) else self.description

    @cached_property
    def in_sweep(self) -> Sweep:
        """The part as sweeps call it."""
        # Made at most once for all sweeps: compiled per caller it would multiply the compile time.
        return Sweep(self.unbound, self.name, self.parts)


class Hint(Compiled):
    """An instruction on which no result depends; plain Python leaves it out."""

    kind_name: ClassVar[str] = "hint"

    @cached_property
    def description(self) -> Description:
        """Its name alone: the compiler makes an instruction of it."""
        return Description("hint", self.name, {}, False, self.function, {}, None)


class Rule(Compiled):
    """A function of one processor with one of the signatures of `mpinet.base.arguments.SIGNATURES`.

    In a class body (of a `Topology`) a rule is also a method: called on the instance it is mapped
    over arrays of processors.
    """

    kind_name: ClassVar[str] = "rule"

    played = 0
    """Number of calls as plain Python."""

    def __call__(self, *args: Any) -> Any:
        """Run as plain Python.

        Raises
        ------
        RuleError
            A user's rule fails, or returns what is no whole number.
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
        # Checked in plain Python as well, so that a rule fails alike before and after it is
        # compiled.
        if isinstance(value, WHOLE) or self.kind == "start_rule":
            return value
        raise no_number(self.function, args, value)

    def _exactly(self, *args: Any) -> Any:
        """Run a user's function; NumPy's numbers divide by zero as compiled ones do."""
        # NumPy scalars only warn where compiled code raises; the two must not differ.
        with np.errstate(over="ignore", divide="raise", invalid="ignore"):
            try:
                return self.function(*args)
            except FloatingPointError as error:
                wrong = ZeroDivisionError("division by zero")
                raise wrong.with_traceback(error.__traceback__) from None

    @cached_property
    def kind(self) -> str:
        """The name of its signature, recognised by its arguments."""
        return kind_of(self.function)

    @cached_property
    def is_users(self) -> bool:
        """True if a part of it is a user's."""
        return any(is_own(part.function) for part in self.compiled_in)

    @property
    def options(self) -> dict[str, Any]:
        """Numba's options: compile without counts of references, which take half of its time.

        The caller holds all arrays that a rule reads. A rule that makes arrays needs counts.
        """
        parts = (set(part.function.__code__.co_names) for part in self.compiled_in)
        makes_arrays = any(not MAKERS.isdisjoint(names) for names in parts)
        return {} if self.is_users or makes_arrays else {"_nrt": False}

    @property
    def form(self) -> Any:
        """The name of its signature."""
        return self.kind

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """Bind the rule to a topology: map it over arrays, with the topology's parameters."""
        return self if instance is None else Mapped(self, instance.params)

    @cached_property
    def plain(self) -> Callable[..., Any]:
        """The rule in plain Python; a user's is checked at each call, since it may fail."""
        return self if self.is_users else super().plain

    @cached_property
    def native(self) -> RuleForm:
        """The rule as kernels take it: a record with the address of native code, or of a callback.

        Plain kernels call its `call`.
        """
        form = RuleForm(self.plain, self.kind)
        # The record lives as long as the rule. Its address is filled in when native code is ready,
        # even while kernels hold it.
        WATCH.attach(self, form)
        return form


class Kernel(Compiled):
    """A compiled loop; called with arrays, rules in their `native` form, and groups of these.

    Parameters
    ----------
    function, name, parts
        As of any `Compiled`; the annotations give the types (see `arguments`).
    groups : dict, optional
        Named tuples that are taken for parameters instead of what these are annotated with.
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
        """Return the same loop with some globals or parameters' groups replaced.

        Globals are replaced as by `Compiled.bind`. A part that is a type stands for the group that
        the parameter of its name is.
        """
        groups = {key: part for key, part in parts.items() if isinstance(part, type)}
        others = {key: part for key, part in parts.items() if not isinstance(part, type)}
        return Kernel(self.unbound, name, {**self.parts, **others}, {**self.groups, **groups})

    @cached_property
    def fingerprint(self) -> str:
        """Fingerprint of the loop, with the order of the groups' fields, which code does not tell.

        Where two groups have fields of the same types, so has the compiled loop.
        """
        text = f"{super().fingerprint} {self._arguments.names} {self._arguments.described}"
        return sha256(text.encode()).hexdigest()[:16]

    def __call__(self, *args: Any) -> Any:
        """Run the compiled loop."""
        return self.run(*args)

    @UntilSet
    def run(self) -> Callable[..., Any]:
        """The loop, in the form that is ready: native code, or plain Python."""
        # Asked at each call until it succeeds: native code may become ready between two calls.
        address = WATCH.address(self)
        if not address:
            return self.plainly if tier() == PLAIN else self._watched
        run = vars(self)["run"] = calls.kernel(
            address, self._arguments.forms, self._arguments.result
        )
        return run

    @property
    def is_ready(self) -> bool:
        """True if its native code is there, or none is wanted; otherwise it is asked for."""
        return "run" in vars(self) or tier() == PLAIN or bool(WATCH.address(self, needed=False))

    def _watched(self, *args: Any) -> Any:
        """Run the loop as plain Python until it is compiled."""
        return WATCH.run(self, self.plainly, args)

    @cached_property
    def plainly(self) -> Callable[..., Any]:
        """The loop as plain Python: it takes what `run` takes, and gives Python's numbers."""
        loop = self._arguments.plainly(self.plain)

        def plainly(*args: Any) -> Any:
            with np.errstate(over="ignore", divide="raise", invalid="ignore"):
                try:
                    return as_python(loop(*args))
                # The same exception as from native code, whose error text names ZeroDivisionError.
                except FloatingPointError as error:
                    raise ZeroDivisionError("division by zero") from error

        return plainly

    @property
    def options(self) -> dict[str, Any]:
        """Numba's options for it."""
        return {}

    @property
    def form(self) -> Any:
        """Its signature."""
        return self._arguments.described

    @cached_property
    def _arguments(self) -> Arguments:
        return Arguments(self.unbound, self.groups)


def bind_all(functions: Sequence[Any], suffix: str, **parts: Compiled | int) -> tuple[Any, ...]:
    """Bind functions to the parts that each of them names, with a suffix to their names.

    Raises
    ------
    NameError
        None of them names one of the parts.
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
    """Make a local rule of a plain function; its arguments determine its signature.

    Raises
    ------
    RuleError
        It has none of them.

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
    """Make arithmetic that rules and kernels may call.

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
    """Stand-in for a function that `bind` gives; a rule calls it by a name of its own file."""
    raise NotImplementedError


@Hint
def prefetch(rows, at):
    """Ask for an item of an array to be in the cache soon, whether or not there is such an item.

    In a table the item is the first one of a row.
    """


idiom, phase, sweep, routine, part, kernel = Idiom, Phase, Sweep, Routine, Part, Kernel
"""Decorators: each makes of a plain function what its class says."""


def _text_of(function: Callable[..., Any], callers: tuple[CodeType, ...] = ()) -> str:
    """Return a text that changes whenever what a function compiles to does.

    It is the same in every process and for every copy of the function's file.
    """
    callers += (function.__code__,)
    names = names_in(function.__code__)
    scope = {name: function.__globals__[name] for name in names if name in function.__globals__}
    cells = (cell.cell_contents for cell in function.__closure__ or ())
    scope |= dict(zip(function.__code__.co_freevars, cells, strict=True))
    meanings = {name: _meaning(value, names, callers) for name, value in sorted(scope.items())}
    return f"{_code_text(function.__code__)} {function.__defaults__} {meanings}"


def _meaning(value: Any, names: set[str], callers: tuple[CodeType, ...]) -> str:
    """Return a text of what a global stands for in compiled code that uses these names."""
    if isinstance(value, Compiled):
        return value.fingerprint
    if isinstance(value, ModuleType):
        constants = {name: getattr(value, name, None) for name in sorted(names)}
        numbers = {name: each for name, each in constants.items() if isinstance(each, int | float)}
        return f"{value.__name__} {numbers}"
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.shape} {value.tolist()}"
    # The order of a group's fields decides where its numbers are in memory.
    if isinstance(value, type) and hasattr(value, "_fields"):  # code says no more than its name
        return f"{value.__name__} {value._fields}"
    if hasattr(value, "py_func"):  # compiled by Numba itself, as a user's rule may call
        recursive = value.py_func.__code__ in callers
        return "recursive" if recursive else _text_of(value.py_func, callers)
    if callable(value):
        return f"{getattr(value, '__module__', '')} {getattr(value, '__qualname__', '')}"
    return repr(value)


def _code_text(code: CodeType) -> str:
    """Return a text of code, without the file and the lines where it stands."""
    # Lines and file names are left out: comments and moved files must not cause a compilation.
    constants = [_code_text(c) if isinstance(c, CodeType) else repr(c) for c in code.co_consts]
    return f"{code.co_code.hex()} {constants} {code.co_names} {code.co_varnames}"


# Remembered by the parts, not by whose rules they are: networks of the same families share compiled
# code, whatever their sizes, which are parameters.
@cache
def _bound(compiled: Compiled, name: str, parts: tuple[tuple[str, Compiled | int], ...]) -> Any:
    """Return a function with these parts, the same one each time."""
    return type(compiled)(compiled.unbound, name=name, parts=dict(parts))


def _declared(module: str, qualname: str) -> Any:
    """Return what a module, or a class in it, declares under a name; None if there is nothing."""
    found: Any = import_module(module)
    for name in qualname.split("."):
        found = vars(found).get(name) if hasattr(found, "__dict__") else None
    return found


SMALL = 64
"""Most elements for which a rule without native code is mapped as plain Python."""

MAKERS = frozenset("arange array copy empty full ones zeros".split())
"""Names by which rules make arrays."""


class Mapped:
    """A rule with its parameters: callable with numbers or arrays of processors and ports.

    Parameters
    ----------
    rule : Rule
        A rule of kind ``port_rule``.
    params : ndarray of int64
        Its parameters; ``params[0]`` processors, ``params[1]`` ports.
    nodes, ports : int, optional
        How many of both the rule is for, where these are other things than processors and ports.
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
        """The rule with its parameters, in the form that kernels take."""
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
            A number that the topology does not have.
        """
        size, width = self.counts
        if type(nodes) is type(ports) is int and 0 <= nodes < size and 0 <= ports < width:
            return int(self.rule(nodes, ports, self.params))  # arrays of one number take longer
        nodes, ports = np.broadcast_arrays(np.asarray(nodes, np.int64), np.asarray(ports, np.int64))
        self._require(nodes, self.counts[0], "node")
        self._require(ports, self.counts[1], "port")
        if nodes.ndim == 0:
            return int(self.rule(int(nodes), int(ports), self.params))
        # A kernel that is not compiled yet costs more per call than some numbers in plain Python.
        if nodes.size <= SMALL and not self.native.address:
            return np.array(self._play(nodes, ports), np.int64).reshape(nodes.shape)
        mapped = np.empty(nodes.size, np.int64)
        try:
            map_rule(self.native, _flat(nodes), _flat(ports), self.params, mapped)
        except Exception:
            # Native errors carry no line; the plain run fails again and names it.
            if is_own(self.rule.function):
                self._play(nodes, ports)  # says where
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
    """Return numbers in a row, as kernels take them: no view of what nobody may write."""
    # Views of broadcast arrays are read-only and share memory; kernels take contiguous arrays they
    # could write.
    own = numbers.flags.owndata and numbers.flags.writeable
    return numbers.ravel() if own else numbers.flatten()


@kernel
def map_rule(rule: PortRule, nodes: Ints, ports: Ints, params: Ints, values: Ints) -> None:
    """Write the rule's value for every (node, port)."""
    value = rule.call
    for i in range(nodes.size):
        values[i] = value(nodes[i], ports[i], params)
