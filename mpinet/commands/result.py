"""Results of commands: their documents, rows and pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING, Any

from mpinet.base.plain import plain
from mpinet.commands.opening import named
from mpinet.report.envelope import envelope
from mpinet.report.html import card
from mpinet.report.rows import Row

if TYPE_CHECKING:
    from mpinet.commands.job import Job


class Fields(dict[str, Any]):
    """Object of a document, whose fields are attributes, too."""

    def __getattr__(self, name: str) -> Any:
        try:
            return _open(self[name])
        except KeyError:
            raise AttributeError(f"there is no field {name!r}; {_named(self)}") from None

    def __dir__(self) -> list[str]:
        return sorted([*super().__dir__(), *self])


class Picture(str):
    """Text of an SVG picture, which a notebook shows as the picture."""

    def _repr_svg_(self) -> str | None:
        return str(self) or None


class Result:
    """Result of a command, with all that it depends on.

    The fields of the result (see: the contract, section 3) are its attributes, and those of objects
    in it theirs: ``mpinet.route("torus:8x8").latency.mean``.

    Parameters
    ----------
    job : Job
        What was run.
    options : mapping
        The command's options by name, also those that were not given.
    words : sequence of str
        The command line that does the same.
    found : object
        What the job gave.
    ranks : int
        How many ranks there were.
    began : float
        When it began, by `time.perf_counter`.

    Examples
    --------
    >>> import mpinet
    >>> found = mpinet.flood("ring:6")
    >>> found.steps, found.document()["digest"][:8], found.records()[0]["topology"]
    (3, '2469ffe4', 'ring:6')
    """

    def __init__(
        self,
        job: Job,
        options: Mapping[str, Any],
        words: Sequence[str],
        found: Any,
        ranks: int,
        began: float,
    ):
        self._job = job
        self._given = dict(options)
        self._options = {name: _shown(value) for name, value in options.items()}
        self._document = envelope(
            ["mpinet", *words],
            job.topology,
            job.model,
            options.get("seed", 0),
            ranks,
            found,
            {"total": round(perf_counter() - began, 6)},
            job.lasting(found),
            job.crossing,
            job.preparation,
            job.summary(plain(found)),
        )

    @property
    def value(self) -> Any:
        """Result as the document has it: an object, or a list of them."""
        return self._document["result"]

    @property
    def digest(self) -> str:
        """Result's sha256, the same for any number of ranks."""
        return str(self._document["digest"])

    @property
    def shortfall(self) -> str:
        """Sentence on what the run did not bring to its end; empty if it did."""
        return self._job.shortfall(self.value)

    @property
    def planned(self) -> dict[str, Any]:
        """Options of `mpinet.plot` that a sweep's plan gives."""
        return dict(self._job.plot)

    def document(self) -> dict[str, Any]:
        """Return the document that ``mpinet COMMAND .. --json`` prints."""
        return self._document

    def records(self) -> list[Row]:
        """Return flat rows with what was run and what was found, as ``--out FILE.csv`` has them."""
        return self._job.records(self._document, self._options)

    def draw(self, output: Path | str | None = None) -> Picture:
        """Draw what the run did: the loads of links, and beside them who sent when (collective).

        The run is made once more, recorded: that it does the same is the machine's promise.

        Parameters
        ----------
        output : path, optional
            The picture: .svg, .pdf, .png or .html; default: only what a notebook shows.

        Raises
        ------
        UsageError
            The command runs no machine, the network is too large, or there is no matplotlib.

        Examples
        --------
        >>> import mpinet
        >>> mpinet.broadcast("hypercube:3").draw().startswith("<?xml")
        True
        """
        from mpinet.commands.recorded import recorded_again

        with TemporaryDirectory(prefix="mpinet-picture-") as folder:
            file = Path(folder) / "run.svg" if output is None else Path(output)
            recorded_again(self._given, draw=file)
            text = file.read_text() if output is None and file.exists() else ""
        return Picture(text)

    def play(self, output: Path | str) -> None:
        """Write a page that plays the run step by step (collective); the run is made once more.

        Parameters
        ----------
        output : path
            The page: .html.
        """
        from mpinet.commands.recorded import recorded_again

        recorded_again(self._given, play=Path(output))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # copying asks for these before there is anything
            raise AttributeError(name)
        if isinstance(self.value, Mapping):
            return getattr(Fields(self.value), name)
        raise AttributeError(f"the result is a list of {len(self.value)}: see value, records()")

    def __dir__(self) -> list[str]:
        return sorted([*super().__dir__(), *(self.value if isinstance(self.value, dict) else ())])

    def __repr__(self) -> str:
        return f"<{' '.join(self._document['command'])}: digest {self.digest[:8]}>"

    def __str__(self) -> str:
        return self._job.show(self.value)

    def _repr_html_(self) -> str:
        """Return the HTML that a notebook shows."""
        run = {"command": " ".join(self._document["command"]), "digest": self.digest}
        if not isinstance(self.value, Mapping):
            return card(run, self.value)
        whole = {name: value for name, value in self.value.items() if not _is_table(value)}
        return self._job.picture() + card(
            run, [whole], *(value for value in self.value.values() if _is_table(value))
        )


def _open(value: Any) -> Any:
    """Return a field's value, whose own fields are attributes."""
    if isinstance(value, dict):
        return Fields(value)
    return [_open(item) for item in value] if isinstance(value, list) else value


def _named(fields: Mapping[str, Any]) -> str:
    return f"there are {', '.join(fields)}" if fields else "it is empty"


def _shown(value: Any) -> Any:
    """Return an option's value as a table's cell has it."""
    if value is None or isinstance(value, bool | int | float | list | tuple | dict):
        return plain(value)
    return named(value)


def _is_table(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict)
