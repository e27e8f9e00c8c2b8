"""Option records: what an annotation adds, the options of the command line, and the base class.

A command declares its options once, as the fields of a frozen dataclass derived from `Options`.
`mpinet.commands.functions` makes the function of Python, `mpinet.cli.parser` the parser.
"""

from __future__ import annotations

import argparse
import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields, replace
from pathlib import Path
from types import UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Literal,
    TypeAlias,
    TypeVar,
    Union,
    get_args,
    get_origin,
)

from mpinet.base import numerals
from mpinet.base.numerals import is_whole, quoted

T = TypeVar("T")

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Several: TypeAlias = Sequence[T] | NDArray[Any]
    """Values of an option; Python may give an array of NumPy."""
else:
    Several = Sequence

EMPTY = inspect.Parameter.empty

MOST_SEED = 2**63 - 1

REST = argparse.REMAINDER
"""Value of `Typed.many` for all words from here on, also those that look like options."""


@dataclass(frozen=True)
class Typed:
    """Part of an option that its type cannot say: ``Annotated[int, Typed(..)]``."""

    help: str = ""
    """Meaning of the option, if no docstring of a function states it."""
    words: tuple[str, ...] | None = None
    """Words that stand for the option on the command line; default: ``--name``, or no word if
    Python takes the option by place. Empty: by place although Python takes it by name."""
    metavar: str | tuple[str, ...] = ""
    """Placeholder for the value in the help; default: the name in capitals."""
    read: Callable[[str], Any] | None = None
    """Reads a value; `ValueError` or `UsageError` with a sentence where there is none."""
    many: int | str | None = None
    """Words that it takes, as for `argparse`."""
    choices: tuple[str, ...] = ()
    """Its values, where no `Literal` lists them."""
    listed: str = ""
    """``module:NAME`` of a text, or of names, that the help lists."""
    complete: Callable[..., list[str]] | None = None
    """Function that returns the completions of a word for a shell."""
    dest: str = ""
    """Other option whose value it gives."""
    within: str = ""
    """The option whose words it is a part of: it is not typed by itself."""
    required: bool = False
    """True if it has to be typed, though Python may leave it out."""
    normal: Callable[[Any], Any] | None = None
    """Makes the form that a word has of other forms that Python may give."""
    hidden: bool = False
    """True if the help does not show the option."""
    several: str = ""
    """Example of several values in one word, such as ``0.1,0.2``; empty: it has one value."""
    varies: tuple[str, ...] = ()
    """Names of other options whose values it takes, each as ``OPTION=VALUE``."""
    function: str = ""
    """Function of Python that does what the option, typed, makes of its command."""


UNIONS = (Union, UnionType)


class _Late(type):
    """Class that stands for another one, which its own module declares."""

    declared: str

    def __instancecheck__(cls, value: object) -> bool:
        module = sys.modules.get(cls.declared)  # no value is one before the module is loaded
        return module is not None and isinstance(value, getattr(module, cls.__name__))


def late(module: str, name: str) -> type:
    """Return a class that stands for the one of this name, whose module takes long to load."""
    return _Late(name, (), {"declared": module})


@dataclass(frozen=True)
class Option:
    """Option of a command."""

    name: str
    """Name of the option in Python."""
    hint: Any
    """Type of the option."""
    default: Any
    """Default of the option; `EMPTY` if it must be given."""
    help: str
    """Meaning of the option."""
    by_place: bool
    """True if the option is typed by its place alone."""
    typed: Typed
    """Further properties from the annotation."""
    heading: str = ""
    """Heading in the help above the option; empty for a command's own options."""

    @property
    def dest(self) -> str:
        """Name in the command's options."""
        return self.typed.dest or self.name

    @property
    def words(self) -> tuple[str, ...]:
        """Words by which it is typed; empty: by its place."""
        if self.by_place:
            return ()
        return self.typed.words or (f"--{self.name.replace('_', '-')}",)

    @property
    def kinds(self) -> list[Any]:
        """Types that its value may have, but for None."""
        parts = get_args(self.hint) if get_origin(self.hint) in UNIONS else (self.hint,)
        return [kind for kind in parts if kind is not type(None)]

    @property
    def choices(self) -> tuple[Any, ...]:
        """Values that it may have, if they are listed."""
        listed = (get_args(kind) for kind in self.kinds if get_origin(kind) is Literal)
        return next(listed, self.typed.choices)

    @property
    def is_flag(self) -> bool:
        """True if it takes no word: giving it means true."""
        return bool in self.kinds

    @property
    def is_several(self) -> bool:
        """True if it is a sequence, with a word or an option for each item."""
        sequences = (Sequence in (kind, get_origin(kind)) for kind in self.kinds)
        return any(sequences) and self.typed.read is None

    @property
    def metavar(self) -> str | tuple[str, ...]:
        """Word that stands for its value in the help."""
        return self.typed.metavar or self.name.rpartition("_")[2].upper()


def folder(text: str) -> Path:
    """Read a folder's name; '' would be the current one, which a run deletes at its end."""
    if not text:
        raise ValueError("it takes the name of a folder, not ''")
    return Path(text)


def seed_of(text: str) -> int:
    """Read a seed: 0 .. 2^63 - 1."""
    if not is_whole(text) or int(text) > MOST_SEED:
        raise ValueError(f"a seed is a whole number 0..2^63-1, not {quoted(text)}")
    return int(text)


File = Annotated[str | Path, Typed(metavar="FILE")]
"""A file's name."""

Seed = Annotated[int, Typed("Seed of everything random.", metavar="SEED", read=seed_of)]

Out = Annotated[Path | None, Typed("File for the result (.json, .csv or .jsonl).", metavar="FILE")]


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Views:
    """Recording."""

    draw: File | None = None
    """Picture of link loads, and of who sends when: FILE.svg, .pdf, .png or .html."""
    play: File | None = None
    """Page that plays the run step by step: FILE.html."""
    trace: File | None = None
    """Trace of the run: FILE.json for Perfetto, .paje for ViTE, .csv for a table."""


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Saved:
    """Checkpoints."""

    checkpoint: Annotated[Path | None, Typed(metavar="FOLDER", read=folder)] = None
    """Folder that keeps the run's state, and is made; mpinet resume FOLDER goes on from there.
    SIGTERM and SIGUSR1 write it and end with status 75."""


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class SavedOften(Saved):
    """Checkpoints."""

    every: Annotated[float | None, Typed(metavar="SECONDS", read=numerals.seconds)] = None
    """Seconds between two checkpoints; default: 600, or more where the run would wait for them for
    more than 2 % of its time."""


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Unsaved:
    """Checkpoints."""

    checkpoint: Annotated[Path | None, Typed(read=folder, hidden=True)] = None


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Watched:
    """Common options."""

    progress: bool | str | None = None
    """Show progress on standard error; ``--progress json``: a JSON object per line, for
    programs."""
    progress_as: Annotated[str | None, Typed(dest="progress", choices=("json",), hidden=True)] = (
        None
    )
    watchdog: Annotated[float | None, Typed(metavar="SECONDS", read=numerals.seconds)] = None
    """Seconds after which the job ends where a rank, or its launcher, is stopped (SIGSTOP);
    0: never; default: 0, but 60 under mpinet launch and launch/run."""


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Shown(Watched):
    """Common options."""

    json: bool = False
    """Print one JSON document."""


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Resumed(Watched):
    """Common options."""

    json: bool | None = None
    """Print one JSON document."""
    out: Out = None


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Ways:
    """Options that name what is run instead of a script."""

    module: Annotated[
        Sequence[str] | None,
        Typed("Module to run instead of a script.", words=("-m",), many=REST, metavar="MODULE"),
    ] = None
    code: Annotated[
        Sequence[str] | None,
        Typed("Code to run instead of a script.", words=("-c",), many=REST, metavar="CODE"),
    ] = None


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Common(Shown):
    """Common options."""

    out: Out = None
    seed: Seed = 0


@dataclass(frozen=True, kw_only=True)
class CommandLine(Views, SavedOften, Shown, Ways):
    """Options of the command line alone: how a run is shown, saved and written."""

    out: Out = None
    seed: Seed = 0

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Copy and pickle the line of Python as the one that it is."""
        return "PYTHON" if self is PYTHON else super().__reduce_ex__(protocol)


PYTHON = CommandLine()
"""The command line of a call in Python: there is none."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of a command.

    A command's own class adds the fields. `mpinet.commands.functions.function_with` reads them.
    """

    command: ClassVar[str] = ""
    columns: ClassVar[Mapping[str, str]] = {}
    """Names of fields in tables and plans, where these names differ from those of the fields."""
    is_own: ClassVar[bool] = False
    """True if the fields of a group are shown among the command's own, without a heading."""
    line: CommandLine = field(default=PYTHON, repr=False)
    """Options of the command line alone; Python leaves them out."""

    @property
    def is_typed(self) -> bool:
        """True if a command line gave the options."""
        return self.line is not PYTHON

    @property
    def shown(self) -> dict[str, Any]:
        """Options of the command line alone that tables have among the others."""
        return {}

    @property
    def allowance(self) -> tuple[int | str | None, bool]:
        """Bytes that a host may use, and True if larger runs are tried."""
        return None, False


Kind = TypeVar("Kind", bound=Options)

UNTYPED = ("line", "played", "beside")
"""Fields of records that are no options."""


def ordered(kind: type[Options]) -> list[Field[Any]]:
    """Return the fields of a command's record: by place, its own, then those of groups."""
    # A dataclass lists inherited fields first. People look for the command's own options before
    # those of many commands.
    groups = [owner for owner in kind.__mro__ if owner is kind or vars(owner).get("is_own")]
    own = [name for owner in groups for name in vars(owner).get("__annotations__", ())]

    def place(one: Field[Any]) -> tuple[bool, int]:
        return bool(one.kw_only), own.index(one.name) if one.name in own else len(own)

    return sorted((one for one in fields(kind) if one.name not in UNTYPED), key=place)


def record_of(kind: type[Kind], values: Mapping[str, Any]) -> Kind:
    """Make a command's record of the values that a parser found; other values are ignored."""
    own = {one.name: values[one.name] for one in fields(kind) if one.name in values}
    # A column may have the name of an option of the command line: `out` of `schedule export` is the
    # schedule, not the result.
    line = {
        one.name: values[one.name]
        for one in fields(CommandLine)
        if one.name in values and one.name not in kind.columns
    }
    return kind(**own, line=CommandLine(**line) if line else PYTHON)


def values_of(options: Options) -> dict[str, Any]:
    """Return the options by name, as rows of a table have them."""
    columns = options.columns
    values = {
        columns.get(one.name, one.name): getattr(options, one.name)
        for one in ordered(type(options))
    }
    played: Options | None = vars(options).get("played")
    # The columns of the command that is played come first, and options of the same name go to
    # `predict`.
    first = values_of(played) if played else {}
    return first | {"command": options.command, **values, **options.shown}


def changed(options: Options, *names: str) -> list[str]:
    """Return those of the named options whose values are not their defaults."""
    values, defaults = vars(options), {one.name: one.default for one in fields(options)}
    return [name for name in names if values[name] != defaults[name]]


def with_values(options: Kind, values: Mapping[str, Any]) -> Kind:
    """Return the options with other values, by their names."""
    names = {one.name for one in fields(options)}
    line = {name: value for name, value in values.items() if name not in names}
    own = {name: value for name, value in values.items() if name in names}
    return replace(options, **own, line=replace(options.line, **line))
