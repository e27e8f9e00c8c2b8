"""Jobs: a command's `prepare` returns a job, and a session runs the job on all ranks."""

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
"""Function called with the work done so far, and with the total work if known."""


SIMPLE_REASONS = (None, "distance", "growth", "ends", "hops")
"""Values of ``lower_by`` without a certificate; digests and printed results leave them out, so
older digests stay valid."""


def without_simple_reason(result: Any) -> Any:
    """Return a result without ``lower_by`` if the field names no kind of certificate."""
    if not isinstance(result, dict) or result.get("lower_by") not in SIMPLE_REASONS:
        return result
    return {name: value for name, value in result.items() if name != "lower_by"}


def _silent(text: str) -> None:
    """Ignore the text."""


def _nothing() -> None:
    """Do nothing."""


def without_skipped(result: Any) -> Any:
    """Return a result without the skipped candidates, because no digest covers them."""
    if not isinstance(result, dict):
        return result
    return {name: value for name, value in result.items() if name != "skipped"}


def skipped_field(names: Sequence[str]) -> Row:
    """Return the result field for candidates that were not compared; empty if all were compared."""
    return {"skipped": [*names]} if names else {}


@dataclass(eq=False, repr=False)
class Job:
    """Work of a command; commands override `run`, and `show` for printed results.

    A job is a dataclass. Its fields are the findings of `prepare`.
    """

    topology: str | None = field(default=None, init=False)
    """Canonical string of the network."""
    unit: str = field(default="steps", init=False)
    """Unit of the progress display."""
    time_unit: str | None = field(default=None, init=False)
    """Unit of the simulated times in the result; None without simulated times."""
    model: dict[str, Any] = field(default_factory=dict, init=False)
    """The machine's port model, for the result document; empty without a machine."""
    crossing: dict[str, Any] = field(default_factory=dict, init=False)
    """Distribution of the machine over the ranks, and messages between ranks; empty if the command
    does not report them."""
    preparation: dict[str, int] = field(default_factory=dict, init=False)
    """Steps and messages by which the processors learned their part of a collective beforehand, on
    a separate machine; empty for other commands."""
    completed: Options | None = field(default=None, init=False)
    """Options completed by the contents of a file; None: the options as given."""
    told: dict[str, Any] = field(default_factory=dict, init=False)
    """Further fields of the error document if the run fails; valid on rank 0."""
    plot: dict[str, Any] = field(default_factory=dict, init=False)
    """Default options of ``mpinet plot`` for the results; only a sweep has any."""
    # A plain function as default would become a method of the class, and get the job as its first
    # argument.
    say: Callable[[str], None] = field(default_factory=lambda: _silent, init=False)
    """Prints a line next to the progress display."""
    hush: Callable[[], None] = field(default_factory=lambda: _nothing, init=False)
    """Hides the progress display, because a user types commands."""
    warn: Callable[[str], None] = field(default_factory=lambda: warnings.warn, init=False)
    """Prints a warning before or during the run."""

    def note_crossing(self, machine: Machine) -> None:
        """Store the number of messages and bytes between the ranks of the machine (collective)."""
        self.crossing = {"mapping": machine.mapping.name, **asdict(machine.crossing)}

    def needs(self, ranks: int) -> int:
        """Return the bytes of the rank that needs most memory; 0: no check needed."""
        return 0

    def needs_once(self, ranks: int) -> int:
        """Return the part of these bytes that only one rank needs, such as a root's queue."""
        return 0

    def require_room(self, transport: Local) -> None:
        """Raise an error on every rank if the hosts have too little memory (collective).

        Raises
        ------
        TooLarge
            The text states the needed and the available memory, and what would be enough.
        """
        # A query of all hosts for free memory costs a collective call, which small runs save.
        if not self.needs(transport.size):
            return
        from mpinet.machine.room import Need, require_room

        def needs(ranks: int) -> Need:
            return Need(self.needs(ranks), self.needs_once(ranks))

        require_room(transport, needs, self.title)

    @property
    def title(self) -> str:
        """Name of the run in messages."""
        return f"A run on {self.topology}"

    def run(self, transport: Local, watch: Watch) -> Any:
        """Run the command (collective).

        Parameters
        ----------
        transport : Local
            The ranks.
        watch : callable
            Called with the progress of the work.

        Returns
        -------
        object
            The result; it must be complete on rank 0.
        """
        raise NotImplementedError

    def keep(self, transport: Local) -> None:
        """Write the files of a run other than its result (collective).

        Parameters
        ----------
        transport : Local
            The ranks.
        """

    def rehearse(self, dry: Dry) -> Rehearsal:
        """Run one rank of many on one process, for ``mpinet predict``.

        Parameters
        ----------
        dry : Dry
            The rank's transport.
        """
        raise NotImplementedError

    def show(self, result: Any) -> str:
        """Format the result (JSON values) as text."""
        return fields(result)

    def picture(self) -> str:
        """Return an SVG of the result for a notebook; empty if there is no picture."""
        return ""

    has_curves = False
    """True if the result is a set of curves, which `plotted` draws."""

    def plotted(self, result: Any, file: Path) -> None:
        """Draw the result's curves (JSON values) in the format of the file's ending."""
        raise NotImplementedError

    def is_soon_redone(self, result: Any) -> bool:
        """Return True if the run is short enough for a notebook to repeat it for a picture."""
        return False

    def rows(self, result: Any) -> list[Row]:
        """Return the result (JSON values) as rows of a CSV file."""
        if isinstance(result, list):
            return result
        return (
            [result | {"phases": by_name(result["phases"], "name")}]
            if "phases" in result
            else [result]
        )

    def summary(self, result: Any) -> dict[str, Any]:
        """Return counts over the result (JSON values); empty if nothing is counted."""
        return {}

    def publish(self, document: dict[str, Any]) -> None:
        """Write additional files made from the result document."""

    def records(self, document: Row, options: Row) -> list[Row]:
        """Return the result rows, each extended by the command's options."""
        return identified(document, options, self.rows(document["result"]))

    def lasting(self, result: Any) -> Any:
        """Return the part of the result that is equal in every run; the digest covers this part."""
        return without_skipped(without_simple_reason(result))

    def shortfall(self, result: Any) -> str:
        """Return a sentence on unfinished work; empty if the run finished."""
        if isinstance(result, dict) and result.get("correct") is False:
            return "The result is wrong: a processor lacks an item, or has a wrong one."
        return ""

    def remarks(self, result: Any) -> list[str]:
        """Return remarks on the result, which are printed on standard error."""
        return []

    def status(self, result: Any) -> int:
        """Return the exit status for a result on rank 0."""
        return int(self.shortfall(result) != "")


@dataclass(eq=False, repr=False)
class NetworkJob(Job):
    """A job on one network."""

    network: Topology

    def __post_init__(self) -> None:
        self.topology = self.network.name


@dataclass(eq=False, repr=False)
class Listing(Job):
    """A job whose rows are known before the run; the printed table shows some of their fields."""

    listed: list[Row]
    columns: Mapping[str, str]
    """Printed fields of a row, by table heading."""

    def run(self, transport: Local, watch: Watch) -> list[Row]:
        """Return the rows."""
        return self.listed

    def show(self, result: list[Row]) -> str:
        """Format the rows as a table, one line per row."""
        rows = [[row[name] for name in self.columns.values()] for row in result]
        return table(rows, [*self.columns])


class Done(Job):
    """Record of a finished job, for a result that is copied or sent to another process.

    Parameters
    ----------
    job : Job
        The job.
    options : Options
        The command's options. Curves are drawn by a job prepared again from them.
    document : dict
        The result's document.
    values : dict
        The options as in result rows.
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
        """Return the sentence on unfinished work."""
        return self._shortfall

    def records(self, document: Row, options: Row) -> list[Row]:
        """Return a copy of the result's rows."""
        return deepcopy(self._records)

    def picture(self) -> str:
        """Return the picture of the result; empty if there is none."""
        return self._picture

    def is_soon_redone(self, result: Any) -> bool:
        """Return True if a notebook may repeat the run."""
        return self._is_soon_redone

    def plotted(self, result: Any, file: Path) -> None:
        """Draw the curves as the command does."""
        # The room of jobs lies above this one, so an import statement is not allowed.
        module = import_module("mpinet.jobs").module_of(self._options.command)
        module.prepare(self._options).plotted(result, file)


class Failed(Job):
    """A job whose preparation failed on this rank."""

    def __init__(self, error: Exception):
        super().__init__()
        # The error is raised in `run`, after all ranks have met. Raised earlier, it would leave the
        # other ranks waiting.
        self._error = error

    def run(self, transport: Local, watch: Watch) -> Any:
        """Raise the error of the preparation."""
        raise self._error
