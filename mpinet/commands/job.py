"""Jobs: what a command's `prepare` returns, and a session runs on all ranks."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mpinet.commands.optionrecords import Options
from mpinet.report.rows import Row, by_name, identified
from mpinet.report.tables import fields, table

if TYPE_CHECKING:
    from mpinet.machine import Machine
    from mpinet.machine.dry import Dry
    from mpinet.machine.transport import Local
    from mpinet.networks.topology import Topology
    from mpinet.programs.rehearsal.rehearsal import Rehearsal

Watch = Callable[..., None]
"""Function called with the work done so far, and with all of the work if that is known."""


SIMPLE_REASONS = (None, "distance", "growth", "ends", "hops")
"""Reasons of most lower bounds; digests and screens leave them out, as in older results."""


def without_simple_reason(result: Any) -> Any:
    """Return a result without its ``lower_by``, if that is no kind of certificate."""
    if not isinstance(result, dict) or result.get("lower_by") not in SIMPLE_REASONS:
        return result
    return {name: value for name, value in result.items() if name != "lower_by"}


def _silent(text: str) -> None:
    """Show nothing."""


def without_skipped(result: Any) -> Any:
    """Return a result without the skipped candidates, which no digest covers."""
    if not isinstance(result, dict):
        return result
    return {name: value for name, value in result.items() if name != "skipped"}


def skipped_field(names: Sequence[str]) -> Row:
    """Return a result's field for candidates that were not compared; empty if all were."""
    return {"skipped": [*names]} if names else {}


@dataclass(eq=False, repr=False)
class Job:
    """A command's work; commands override `run` and, for people, `show`.

    A job is a dataclass: its fields are what `prepare` has found.
    """

    topology: str | None = field(default=None, init=False)
    """Canonical string of the network."""
    unit: str = field(default="steps", init=False)
    """Unit of the progress."""
    time_unit: str | None = field(default=None, init=False)
    """Unit of the simulated times in the result; None without such times."""
    model: dict[str, Any] = field(default_factory=dict, init=False)
    """The machine's port model, for the result document; empty without a machine."""
    crossing: dict[str, Any] = field(default_factory=dict, init=False)
    """Distribution of the machine over the ranks, and the messages between ranks; empty if the
    command does not report it."""
    preparation: dict[str, int] = field(default_factory=dict, init=False)
    """Steps and messages by which the processors of a collective learned their part before, on a
    machine beside; empty for other commands."""
    completed: Options | None = field(default=None, init=False)
    """The options with what a file adds to them; None: as they were given."""
    plot: dict[str, Any] = field(default_factory=dict, init=False)
    """Defaults of `mpinet plot` for the results; of a sweep only."""
    # A plain function as default would be an attribute of the class, and be called with the job as
    # its argument.
    say: Callable[[str], None] = field(default_factory=lambda: _silent, init=False)
    """Shows a line where progress is shown."""
    warn: Callable[[str], None] = field(default_factory=lambda: warnings.warn, init=False)
    """Shows a sentence that nobody should miss, before or while the job is done."""

    def note_crossing(self, machine: Machine) -> None:
        """Note what has crossed between the ranks of the machine (collective)."""
        self.crossing = {"mapping": machine.mapping.name, **asdict(machine.crossing)}

    def needs(self, ranks: int) -> int:
        """Bytes that the neediest of `ranks` ranks needs; 0: too few to check."""
        return 0

    def needs_once(self, ranks: int) -> int:
        """Bytes of these that one rank alone needs, such as the queue at a root."""
        return 0

    def require_room(self, transport: Local) -> None:
        """Refuse a run for which its hosts have too little memory (collective).

        Raises
        ------
        TooLarge
            What it needs, what there is, and what would do.
        """
        # Asking all hosts for their free memory takes a collective call, which small runs save.
        if not self.needs(transport.size):
            return
        from mpinet.machine.room import Need, require_room

        def needs(ranks: int) -> Need:
            return Need(self.needs(ranks), self.needs_once(ranks))

        require_room(transport, needs, self.title)

    @property
    def title(self) -> str:
        """Name of the run in sentences."""
        return f"A run on {self.topology}"

    def run(self, transport: Local, watch: Watch) -> Any:
        """Do the command's work (collective).

        Parameters
        ----------
        transport : Local
            The ranks.
        watch : callable
            Called with how far the work is.

        Returns
        -------
        object
            The result; on rank 0 it has to be whole.
        """
        raise NotImplementedError

    def keep(self, transport: Local) -> None:
        """Write the files that a run leaves beside its result (collective).

        Parameters
        ----------
        transport : Local
            The ranks.
        """

    def rehearse(self, dry: Dry) -> Rehearsal:
        """Play one rank of many on one process.

        Parameters
        ----------
        dry : Dry
            The rank's transport.
        """
        raise NotImplementedError

    def show(self, result: Any) -> str:
        """Format the result, given as JSON values, for a person."""
        return fields(result)

    def picture(self) -> str:
        """Return an SVG of the result, for a notebook; empty if there is none."""
        return ""

    has_curves = False
    """True if the result is curves, which `plotted` draws."""

    def plotted(self, result: Any, file: Path) -> None:
        """Draw the result's curves, given as JSON values; the file's ending says how."""
        raise NotImplementedError

    def is_soon_redone(self, result: Any) -> bool:
        """Return whether a notebook may make the run again, recorded, to show a picture of it."""
        return False

    def rows(self, result: Any) -> list[Row]:
        """Return the result, given as JSON values, as rows of a CSV file."""
        if isinstance(result, list):
            return result
        return (
            [result | {"phases": by_name(result["phases"], "name")}]
            if "phases" in result
            else [result]
        )

    def summary(self, result: Any) -> dict[str, Any]:
        """Count the result, given as JSON values; empty if the command has nothing to count."""
        return {}

    def publish(self, document: dict[str, Any]) -> None:
        """Write other files that are made from the result's document."""

    def records(self, document: Row, options: Row) -> list[Row]:
        """Return the rows with the command's options, to be joined with rows of other runs."""
        return identified(document, options, self.rows(document["result"]))

    def lasting(self, result: Any) -> Any:
        """Return the part of the result that is the same in every run, which its digest covers."""
        return without_skipped(without_simple_reason(result))

    def shortfall(self, result: Any) -> str:
        """Return the sentence on work that a run did not finish; empty if it did."""
        if isinstance(result, dict) and result.get("correct") is False:
            return "The result is not correct: some processor has not what it should have."
        return ""

    def remarks(self, result: Any) -> list[str]:
        """Return remarks on the result, for standard error."""
        return []

    def status(self, result: Any) -> int:
        """Return the exit status for a result on rank 0."""
        return int(self.shortfall(result) != "")


@dataclass(eq=False, repr=False)
class NetworkJob(Job):
    """A job about one network."""

    network: Topology

    def __post_init__(self) -> None:
        self.topology = self.network.name


@dataclass(eq=False, repr=False)
class Listing(Job):
    """Rows that are known before the run; people see some of their fields as a table."""

    listed: list[Row]
    columns: Mapping[str, str]
    """Fields that people see, by their headings."""

    def run(self, transport: Local, watch: Watch) -> list[Row]:
        """Return the rows."""
        return self.listed

    def show(self, result: list[Row]) -> str:
        """Format a line per row."""
        rows = [[row[name] for name in self.columns.values()] for row in result]
        return table(rows, [*self.columns])


class Done(Job):
    """Record of a job that was done, for a result that is copied or goes to another process.

    Parameters
    ----------
    job : Job
        The job.
    options : Options
        The command's options; curves are drawn of a job that is prepared anew by them.
    document : dict
        The result's document.
    values : dict
        The options as rows have them.
    """

    def __init__(self, job: Job, options: Options, document: dict[str, Any], values: Row):
        super().__init__()
        self.has_curves, self.plot = job.has_curves, job.plot
        self._options = options
        self._text = job.show(document["result"])
        self._shortfall = job.shortfall(document["result"])
        self._records = job.records(document, values)
        self._picture = job.picture()
        self._is_soon_redone = job.is_soon_redone(document["result"])

    def show(self, result: Any) -> str:
        """Return the text of the result."""
        return self._text

    def shortfall(self, result: Any) -> str:
        """Return the sentence on work that the run did not finish."""
        return self._shortfall

    def records(self, document: Row, options: Row) -> list[Row]:
        """Return a copy of the result's rows."""
        return deepcopy(self._records)

    def picture(self) -> str:
        """Return the picture of the result, if it has one."""
        return self._picture

    def is_soon_redone(self, result: Any) -> bool:
        """Return whether a notebook may make the run again."""
        return self._is_soon_redone

    def plotted(self, result: Any, file: Path) -> None:
        """Draw the curves as the command does."""
        # Jobs lie above this room, so that no import statement may name them.
        module = import_module("mpinet.jobs").module_of(self._options.command)
        module.prepare(self._options).plotted(result, file)


class Failed(Job):
    """A job that could not be prepared on this rank."""

    def __init__(self, error: Exception):
        super().__init__()
        # An error on one rank is raised in `run`, where all ranks have met. Raised earlier, the
        # others would wait for this rank.
        self._error = error

    def run(self, transport: Local, watch: Watch) -> Any:
        """Raise the error of the preparation."""
        raise self._error
