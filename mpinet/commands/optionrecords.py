"""Option records: annotations of options, options of the command line only, and the base class.

A command declares its options once, as the fields of a frozen dataclass derived from `Options`.
`mpinet.commands.functions` makes the Python function, `mpinet.cli.parser` makes the parser.
"""

from __future__ import annotations

import argparse
import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields, replace
from pathlib import Path
from types import SimpleNamespace, UnionType
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
    """Several values of an option; Python may pass a NumPy array."""
else:
    Several = Sequence

EMPTY = inspect.Parameter.empty

MOST_SEED = 2**63 - 1

REST = argparse.REMAINDER
"""Value of `Typed.many`: the option takes all remaining words, even words with dashes."""


@dataclass(frozen=True)
class Typed:
    """Properties of an option beyond its type: ``Annotated[int, Typed(..)]``."""

    help: str = ""
    """Description of the option, if no sentence stands below the field."""
    words: tuple[str, ...] | None = None
    """Words of the option on the command line; default: ``--name``, or no word if Python takes the
    option by position. Empty: typed by position, although Python takes the option by name."""
    metavar: str | tuple[str, ...] = ""
    """Placeholder for the value in the help; default: the name in capitals."""
    read: Callable[[str], Any] | None = None
    """Reads a typed value; raises `ValueError` or `UsageError` with a sentence for a wrong value.
    """
    many: int | str | None = None
    """Number of words of the value, as in `argparse`."""
    choices: tuple[str, ...] = ()
    """Allowed values, if no `Literal` type lists them."""
    listed: str = ""
    """``module:NAME`` of a text or of a list of names for the help."""
    complete: Callable[..., list[str]] | None = None
    """Function that completes a word for a shell."""
    dest: str = ""
    """Name of another option whose value this option sets."""
    within: str = ""
    """Option whose words contain this option, so this option is not typed by itself."""
    required: bool = False
    """True if the command line requires the option, although Python does not."""
    normal: Callable[[Any], Any] | None = None
    """Converts other Python forms of a value to the typed form."""
    hidden: bool = False
    """True if the help hides the option."""
    several: str = ""
    """Example of several values in one word, such as ``0.1,0.2``; empty for a single value."""
    varies: tuple[str, ...] = ()
    """Names of the options that this option can vary, each given as ``OPTION=VALUE``."""
    equals: str = ""
    """Word of a flag: typed as ``WORD=VALUE``, the flag's word sets this option instead."""
    group: str = ""
    """Title of the option's group in the help and on the command's page."""
    function: str = ""
    """Python function that does the work of the command with this option."""


GROUPS = (
    *("script", "network", "collective", "traffic", "program", "messages", "router", "machine"),
    *("checks", "costs", "search", "measurement", "data", "picture", "output"),
)
"""Titles of groups, in the order of the help and of the commands' pages."""

In = SimpleNamespace(**{title.upper(): Typed(group=title) for title in GROUPS})
"""Groups, as annotations of options."""

UNIONS = (Union, UnionType)


class _Late(type):
    """Placeholder class for a class whose module is not loaded yet."""

    declared: str

    def __instancecheck__(cls, value: object) -> bool:
        module = sys.modules.get(cls.declared)  # without the module there are no instances
        return module is not None and isinstance(value, getattr(module, cls.__name__))


def late(module: str, name: str) -> type:
    """Return a placeholder for a class in a module that takes long to load."""
    return _Late(name, (), {"declared": module})


@dataclass(frozen=True)
class Option:
    """Option of a command."""

    name: str
    """Name of the option in Python."""
    hint: Any
    """Type of the option."""
    default: Any
    """Default value; `EMPTY` for a required option."""
    help: str
    """Description of the option."""
    by_place: bool
    """True if the option is typed by position, without a word of its own."""
    typed: Typed
    """Further properties, from the annotation."""
    heading: str = ""
    """Title of the option's group; empty for options without a group."""

    @property
    def dest(self) -> str:
        """Name of the option in the parsed values."""
        return self.typed.dest or self.name

    @property
    def words(self) -> tuple[str, ...]:
        """Words of the option on the command line; empty if typed by position."""
        if self.by_place:
            return ()
        return self.typed.words or (f"--{self.name.replace('_', '-')}",)

    @property
    def kinds(self) -> list[Any]:
        """Types of the value, without None."""
        parts = get_args(self.hint) if get_origin(self.hint) in UNIONS else (self.hint,)
        return [kind for kind in parts if kind is not type(None)]

    @property
    def choices(self) -> tuple[Any, ...]:
        """Allowed values; empty if any value of the type is allowed."""
        listed = (get_args(kind) for kind in self.kinds if get_origin(kind) is Literal)
        return next(listed, self.typed.choices)

    @property
    def is_flag(self) -> bool:
        """True if the option has no value on the command line: its presence means true."""
        return bool in self.kinds

    @property
    def is_several(self) -> bool:
        """True if the option is a sequence, with one word or one option per item."""
        sequences = (Sequence in (kind, get_origin(kind)) for kind in self.kinds)
        return any(sequences) and self.typed.read is None

    @property
    def metavar(self) -> str | tuple[str, ...]:
        """Placeholder for the value in the help."""
        return self.typed.metavar or self.name.rpartition("_")[2].upper()


def folder(text: str) -> Path:
    """Read a folder's name; reject '', because a finished run deletes its folder."""
    if not text:
        raise ValueError("expected the name of a folder, not ''")
    return Path(text)


def seed_of(text: str) -> int:
    """Read a seed between 0 and 2^63 - 1."""
    if not is_whole(text) or int(text) > MOST_SEED:
        raise ValueError(f"a seed is a whole number 0..2^63-1, not {quoted(text)}")
    return int(text)


File = Annotated[str | Path, Typed(metavar="FILE")]
"""Option for a file."""

Seed = Annotated[int, Typed("Random seed.", metavar="SEED", read=seed_of)]

Out = Annotated[Path | None, Typed("File for the result (.json, .csv or .jsonl).", metavar="FILE")]


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Views:
    """Recording: pictures, pages and traces of a run."""

    draw: File | None = None
    """Picture of link loads and of the senders of each step: FILE.svg, .pdf, .png or .html."""
    play: File | None = None
    """HTML page that plays the run step by step: FILE.html."""
    trace: File | None = None
    """Trace of the run: FILE.json for Perfetto, .paje for ViTE, .csv for a table."""


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class TimeLimited:
    """Time limit: seconds until a run ends with its checkpoint, or a search with its best bound."""

    time_limit: Annotated[float | None, Typed(metavar="SECONDS", read=numerals.time_limit)] = None
    """Seconds from the start of mpinet to the end of the command. A run then writes its checkpoint
    and ends with status 75. A search ends with its best bounds and status 0."""


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Saved(TimeLimited):
    """Checkpoints: folder for the state of a run."""

    checkpoint: Annotated[Path | None, Typed(metavar="FOLDER", read=folder)] = None
    """Folder for checkpoints of the run; ``mpinet resume FOLDER`` continues the run. SIGTERM and
    SIGUSR1 write a checkpoint and end the run with status 75."""


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class SavedOften(Saved):
    """Checkpoints: folder for the state of a run, and time between checkpoints."""

    every: Annotated[float | None, Typed(metavar="SECONDS", read=numerals.seconds)] = None
    """Seconds between checkpoints; default: 600, or more if checkpoints would take over 2 % of the
    time."""


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Unsaved:
    """Checkpoints: hidden option, with an error for a command without checkpoints."""

    checkpoint: Annotated[Path | None, Typed(read=folder, hidden=True)] = None


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Watched:
    """Common options: progress display and watchdog."""

    progress: bool | str | None = None
    """Show progress on standard error; ``--progress json``: one JSON object per line, for programs.
    """
    progress_as: Annotated[str | None, Typed(dest="progress", choices=("json",), hidden=True)] = (
        None
    )
    watchdog: Annotated[float | None, Typed(metavar="SECONDS", read=numerals.seconds)] = None
    """Seconds after which the job ends if a rank or the launcher is stopped (SIGSTOP); 0: never.
    Default: 0, but 60 under mpinet launch and launch/run."""


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Shown(Watched):
    """Common options: progress display, watchdog and JSON output."""

    json: bool = False
    """Print one JSON document."""


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Resumed(Watched, TimeLimited):
    """Common options: output and time limit of a resumed run."""

    json: bool | None = None
    """Print one JSON document."""
    out: Out = None


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Ways:
    """Script: a module or code instead of a file."""

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
    """Common options: JSON output, result file and seed."""

    out: Out = None
    seed: Seed = 0


@dataclass(frozen=True, kw_only=True)
class CommandLine(Views, SavedOften, Shown, Ways):
    """Options of the command line only: display, checkpoints and output files."""

    out: Out = None
    seed: Seed = 0

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Copy and pickle `PYTHON` as the same object."""
        return "PYTHON" if self is PYTHON else super().__reduce_ex__(protocol)


PYTHON = CommandLine()
"""Placeholder for the command line in calls from Python."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """Base of all option records.

    A command's own class adds the fields. `mpinet.commands.functions.function_with` reads them.
    """

    command: ClassVar[str] = ""
    columns: ClassVar[Mapping[str, str]] = {}
    """Names of fields in tables and plans, where they differ from the field names."""
    is_own: ClassVar[bool] = False
    """True if the fields of a shared group are listed first, as the command's own."""
    line: CommandLine = field(default=PYTHON, repr=False)
    """Options of the command line only; Python omits them."""

    @property
    def is_typed(self) -> bool:
        """True if the options come from a command line."""
        return self.line is not PYTHON

    @property
    def shown(self) -> dict[str, Any]:
        """Options of the command line only that result tables include."""
        return {}

    @property
    def allowance(self) -> tuple[int | str | None, bool]:
        """Limit of a host's memory in bytes, and True to allow runs that exceed the memory."""
        return None, False


Kind = TypeVar("Kind", bound=Options)

UNTYPED = ("line", "played", "beside")
"""Fields of records that are no options."""


def ordered(kind: type[Options]) -> list[Field[Any]]:
    """Return a record's fields: positional, then the command's own, then those of groups."""
    # A dataclass lists inherited fields first. Users look for the command's own options first.
    groups = [owner for owner in kind.__mro__ if owner is kind or vars(owner).get("is_own")]
    own = [name for owner in groups for name in vars(owner).get("__annotations__", ())]

    def place(one: Field[Any]) -> tuple[bool, int]:
        return bool(one.kw_only), own.index(one.name) if one.name in own else len(own)

    return sorted((one for one in fields(kind) if one.name not in UNTYPED), key=place)


def record_of(kind: type[Kind], values: Mapping[str, Any]) -> Kind:
    """Make a record from parsed values; values without a field are ignored."""
    own = {one.name: values[one.name] for one in fields(kind) if one.name in values}
    # A column may share its name with an option of the command line: `out` of `schedule export` is
    # the schedule, not the result.
    line = {
        one.name: values[one.name]
        for one in fields(CommandLine)
        if one.name in values and one.name not in kind.columns
    }
    return kind(**own, line=CommandLine(**line) if line else PYTHON)


def values_of(options: Options) -> dict[str, Any]:
    """Return the options by name, as columns of a result row."""
    columns = options.columns
    values = {
        columns.get(one.name, one.name): getattr(options, one.name)
        for one in ordered(type(options))
    }
    played: Options | None = vars(options).get("played")
    # Columns of the played command come first; for equal names the value of `predict` wins.
    first = values_of(played) if played else {}
    return first | {"command": options.command, **values, **options.shown}


def changed(options: Options, *names: str) -> list[str]:
    """Return the names, among the given ones, of options with a value other than the default."""
    values, defaults = vars(options), {one.name: one.default for one in fields(options)}
    return [name for name in names if values[name] != defaults[name]]


def with_values(options: Kind, values: Mapping[str, Any]) -> Kind:
    """Return a copy of the options with other values, given by name."""
    names = {one.name for one in fields(options)}
    line = {name: value for name, value in values.items() if name not in names}
    own = {name: value for name, value in values.items() if name in names}
    return replace(options, **own, line=replace(options.line, **line))
