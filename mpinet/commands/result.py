"""Results of commands, with documents, table rows and pictures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from functools import cached_property
from importlib import import_module
from itertools import chain
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from mpinet.commands.fields import Fields, hints_of, missing, opened, row_of
from mpinet.commands.job import Done, Job
from mpinet.commands.network import named
from mpinet.commands.optionrecords import Options, late, values_of
from mpinet.errors import MpinetError, UsageError
from mpinet.report.rows import Row

if TYPE_CHECKING:
    from mpinet.networks.graph import Graph
else:
    Graph = late("mpinet.networks.graph", "Graph")


IDENTITY = ("command", "topology", "model", "seed", "digest")
"""Document fields that equal results share."""

LONGEST, MOST_SHOWN = 80, 6
"""Longest command in characters, and most numbers, in a result's ``repr``."""


class Picture(str):
    """Text of an SVG picture, which a notebook shows as a picture."""

    def _repr_svg_(self) -> str | None:
        return str(self) or None


class Page(str):
    """Text of an HTML page, which a notebook shows in a frame."""

    def _repr_html_(self) -> str:
        from html import escape

        return (
            f'<iframe srcdoc="{escape(self)}" width="100%" height="{HEIGHT}" '
            'style="border:0" title="the run, step by step"></iframe>'
        )


HEIGHT = 720
"""Height of a page's frame in pixels."""


class Result:
    """Result of a command, with the command, network, model, seed and digest.

    The result's fields (section 3 of the contract) are attributes. Nested objects have attributes
    as well: ``mpinet.route("torus:8x8").latency.mean``.

    Parameters
    ----------
    job : Job
        The finished job.
    options : Options
        The command's options.
    words : sequence of str
        The equivalent command line.
    found : object
        The job's return value.
    ranks : int
        Number of ranks.
    began : float
        Start time, from `time.perf_counter`.

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
        options: Options,
        words: Sequence[str],
        found: Any,
        ranks: int,
        began: float,
    ):
        from mpinet.base.plain import plain
        from mpinet.report.envelope import envelope

        self._job = job
        self._given = options
        values = values_of(options)
        # Table cells hold plain values, so graphs and other results are replaced by their names.
        self._options = {name: _shown(value) for name, value in values.items()}
        self._document = envelope(
            ["mpinet", *words],
            job.topology,
            job.model,
            values.get("seed", options.line.seed),
            ranks,
            found,
            {"total": round(perf_counter() - began, 6)},
            job.lasting(found),
            job.crossing,
            job.preparation,
            job.summary(plain(found)),
            job.time_unit,
        )

    def __eq__(self, other: object) -> bool:
        """Compare command, network, model, seed and digest."""
        # Equal runs differ in seconds, ranks and host, so whole documents are never equal.
        if not isinstance(other, Result):
            return NotImplemented
        return self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash((*self._document["command"], self.digest))

    def _identity(self) -> list[Any]:
        """Return the values that equal results share."""
        given = (one if isinstance(one, list) else [one] for one in vars(self._given).values())
        # Different graphs built in Python may share a name, so the graphs themselves are compared.
        graphs = [one for one in chain(*given) if isinstance(one, Graph) and not one.family]
        return [*(self._document[name] for name in IDENTITY), *graphs]

    def __reduce__(self) -> Any:
        """Copy and pickle the document, the options and the printed text, but not the machine."""
        # A machine holds communicators, which cannot be pickled. The text and rows of the result
        # are made now.
        done = Done(self._job, self._given, self._document, self._options)
        state = {
            "_job": done,
            "_given": self._given,
            "_options": self._options,
            "_document": self._document,
        }
        return object.__new__, (type(self),), state

    @property
    def value(self) -> Any:
        """The document's field ``result``: an object, or a list of objects."""
        return self._document["result"]

    @property
    def digest(self) -> str:
        """SHA-256 of the result, independent of the number of ranks."""
        return str(self._document["digest"])

    @property
    def shortfall(self) -> str:
        """Sentence on unfinished work; empty if the run finished."""
        return self._job.shortfall(self.value)

    @property
    def planned(self) -> dict[str, Any]:
        """Default options of `mpinet.plot` from a sweep's plan."""
        return dict(self._job.plot)

    def document(self) -> dict[str, Any]:
        """Return the document that ``mpinet COMMAND .. --json`` prints."""
        return self._document

    def records(self) -> list[Row]:
        """Return flat rows of options and results, as in ``--out FILE.csv``."""
        return self._job.records(self._document, self._options)

    def to_dict(self) -> dict[str, Any]:
        """Return a copy of the document; ``to_dict()["result"]`` has the fields."""
        return deepcopy(self._document)

    def to_frame(self) -> Any:
        """Return the `records` as a `pandas.DataFrame`.

        Raises
        ------
        UsageError
            pandas is not installed.
        """
        try:
            from pandas import DataFrame
        except ImportError:
            raise UsageError("A data frame needs pandas: pip install pandas.") from None
        return DataFrame(self.records())

    def plot(self, output: Path | str | None = None, **options: Any) -> Picture:
        """Draw curves of the result: its own curves (`load`, `plot`), or the given columns.

        Parameters
        ----------
        output : path, optional
            File of the picture: .svg, .pdf or .png; default: no file, only the notebook picture.
        **options
            Options of `mpinet.plot`, such as ``x="rate", y="latency_mean"``. A sweep takes defaults
            from
            the table ``[plot]`` in its plan.

        Raises
        ------
        UsageError
            The result has no curves and no columns are given, or matplotlib is not installed.

        Examples
        --------
        >>> import mpinet
        >>> curve = mpinet.load("ring:8", rate=[0.1, 0.2], warmup=20, steps=50)
        >>> curve.plot().startswith("<svg")
        True
        """
        if self._job.has_curves and not options:
            return _picture("plot.svg", output, lambda file: self._job.plotted(self.value, file))
        from mpinet.commands import function_of

        if not (options or self._job.plot):
            raise UsageError(
                f"{self._given.command} has no curves: name columns of records(), as in "
                ".plot(x=.., y=..)."
            )
        return _picture(
            "plot.svg", output, lambda file: function_of("plot")(self, output=file, **options)
        )

    def draw(self, output: Path | str | None = None) -> Picture:
        """Draw the run: link loads, and a chart of the senders of each step (collective).

        The run is repeated with recording; the repetition gives the same result.

        Parameters
        ----------
        output : path, optional
            File of the picture: .svg, .pdf, .png or .html; default: no file, only the notebook
            picture.

        Raises
        ------
        UsageError
            The command runs no machine, the network is too large, or matplotlib is not installed.

        Examples
        --------
        >>> import mpinet
        >>> mpinet.broadcast("hypercube:3").draw().startswith("<svg")
        True
        """
        drawn = self._job.picture()
        if drawn and output is None:
            return Picture(drawn)
        return _picture("run.svg", output, lambda file: self._recorded(draw=file))

    def play(self, output: Path | str | None = None) -> Page:
        """Repeat the run with recording, and make a page that plays it step by step (collective).

        Parameters
        ----------
        output : path, optional
            File of the page: .html; default: no file, only the notebook page.
        """
        return Page(_made("run.html", output, lambda file: self._recorded(play=file)))

    def _recorded(self, **views: Path) -> None:
        """Repeat the run with recording, and write the files that show it."""
        import_module("mpinet.jobs.recorded").recorded_again(self._given, **views)

    def __getitem__(self, name: str) -> Any:
        """Return a field by its name."""
        kind: Any = type(self)
        return opened(self.value[name], hints_of(kind).get(name))

    if not TYPE_CHECKING:  # checkers would accept misspelt names as Any

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_"):  # copying looks up private names before __init__
                raise AttributeError(name)
            if not isinstance(self.value, Mapping):
                many = len(self.value)
                raise AttributeError(f"the result is a list of {many} rows: see value, records()")
            if name not in self.value:
                raise AttributeError(missing(name, self.value))
            return self[name]

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *(self.value if isinstance(self.value, dict) else ())})

    def __repr__(self) -> str:
        command = " ".join(self._document["command"])
        command = command if len(command) <= LONGEST else f"{command[: LONGEST - 3]}..."
        if not isinstance(self.value, Mapping):
            return f"<{command}: {len(self.value)} rows; digest {self.digest[:8]}>"
        numbers = [
            f"{name} {value}, "
            for name, value in self.value.items()
            if isinstance(value, bool | int | float) and name != "seconds"
        ]
        return f"<{command}: {''.join(numbers[:MOST_SHOWN])}digest {self.digest[:8]}>"

    @property
    def brief(self) -> str:
        """Command and digest, which represent the result among another command's options."""
        return f"<{' '.join(self._document['command'])}: digest {self.digest[:8]}>"

    def __str__(self) -> str:
        return self._job.show(self.value)

    def _repr_html_(self) -> str:
        """Return the HTML for a notebook: the printed text, and the picture if there is one."""
        from mpinet.report.html import card, fitting, printed

        run = {"command": " ".join(self._document["command"]), "digest": self.digest}
        return fitting(self._pictured) + card(run) + printed(lambda: str(self))

    @cached_property
    def _pictured(self) -> str:
        """SVG of the result; empty if there is none, or if drawing would take long."""
        try:
            if drawn := self._job.picture():
                return drawn
            if self._job.has_curves or self._job.plot:
                return self.plot()
            alone = self._document["ranks"] == 1  # other ranks would not repeat the run
            return self.draw() if alone and self._job.is_soon_redone(self.value) else ""
        except MpinetError:  # no matplotlib, or network too large
            return ""


RowType = TypeVar("RowType", bound=Fields)


class ListResult(Result, Generic[RowType]):
    """Result with a list of objects of one class.

    Examples
    --------
    >>> import mpinet
    >>> found = mpinet.compare("ring:16", "hypercube:4", only="diameter")
    >>> len(found), found[0].diameter, [row.diameter for row in found]
    (2, 8, [8, 4])
    """

    def __len__(self) -> int:
        return len(self.value)

    def __iter__(self) -> Iterator[RowType]:
        return map(self._row, self.value)

    def __getitem__(self, place: int) -> RowType:  # type: ignore[override]
        """Return an object by its index."""
        return self._row(self.value[place])

    def __bool__(self) -> bool:
        # A search without hits is also a result, so its truth value must not depend on its length.
        return True

    def _row(self, row: dict[str, Any]) -> RowType:
        kind: Any = row_of(type(self))
        made: RowType = kind(row)
        return made


def _picture(name: str, output: Path | str | None, write: Callable[[Path], Any]) -> Picture:
    """Write a picture, and return its SVG text; empty if an output file is given."""
    text = _made(name, output, write)
    return Picture(text[text.index("<svg") :] if "<svg" in text else "")


def _made(name: str, output: Path | str | None, write: Callable[[Path], Any]) -> str:
    """Write the output file and return ''; without one, return the text of a temporary file."""
    if output is not None:
        write(Path(output))
        return ""
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(prefix="mpinet-shown-") as folder:
        file = Path(folder) / name
        write(file)
        return file.read_text() if file.exists() else ""


def _shown(value: Any) -> Any:
    """Return an option's value as a table cell."""
    from mpinet.base.plain import plain

    if value is None or isinstance(value, bool | int | float | list | tuple | dict):
        return plain(value)
    return value.brief if isinstance(value, Result) else named(value)
