"""The claims: the papers' in their rooms, a user's in a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from importlib import import_module
from types import ModuleType

from mpinet.claims.statement import Claim
from mpinet.errors import UsageError
from mpinet.networks.own import import_from

PAPERS = ("gbsn", "gmn", "hdn", "lens", "sth")
"""The rooms whose claims the ledger holds, in its order."""


@dataclass(frozen=True)
class PaperTable:
    """A table of a paper, made again from the ledger: a row a claim, or several claims.

    Attributes
    ----------
    title : str
        The paper's number and what the table shows.
    rows : tuple of (str, tuple of str)
        Each row's label and the claims whose claimed and measured values, objects with a field a
        cell, make it.
    """

    title: str
    rows: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True)
class Paper:
    """A paper as the ledger shows it; each room's `claims` package has one by the name PAPER.

    Attributes
    ----------
    room : str
        Its room, and its name on the command line.
    title : str
        The paper.
    modules : tuple of str
        Modules of the package that hold claims, in the order of the paper.
    tables : tuple of PaperTable
        Tables to be made again.
    causes : mapping of str to str
        The paper's errors, by the names that its claims have for them (`Claim.cause`): a sentence
        on each.
    refuted : mapping of str to str
        The ids, or patterns of ids, of the claims that each of these errors refutes.
    """

    room: str
    title: str
    modules: tuple[str, ...]
    tables: tuple[PaperTable, ...] = ()
    causes: Mapping[str, str] = field(default_factory=dict)
    refuted: Mapping[str, str] = field(default_factory=dict)

    def cause_of(self, claim: Claim) -> str:
        """The error that refutes a claim; empty if none does."""
        for cause, ids in self.refuted.items():
            if any(fnmatchcase(claim.id, pattern) for pattern in ids.split()):
                return cause
        return claim.cause


def paper(room: str) -> Paper:
    """A paper of the ledger."""
    found: Paper = import_module(f"mpinet.papers.{room}").PAPER
    return found


def claims_of(room: str) -> list[Claim]:
    """A paper's claims, in its order."""
    own = paper(room)
    modules = (import_module(f"mpinet.papers.{room}.{name}") for name in own.modules)
    return _distinct(
        replace(claim, paper=room, cause=own.cause_of(claim))
        for module in modules
        for claim in _in(module)
    )


def claims_in(file: str) -> list[Claim]:
    """The claims of a user's file, or of an importable module.

    Raises
    ------
    UsageError
        The file cannot be imported, or holds no claims, or two of one id.
    """
    name = file.removesuffix(".py").rpartition("/")[2]
    found = _distinct(replace(claim, paper=name) for claim in _in(import_from(file)))
    if not found:
        raise UsageError(f"{file} has no claims: make some with @mpinet.claims.claim.")
    return found


def select(names: Sequence[str]) -> list[Claim]:
    """The claims that a person names, in the ledger's order.

    Parameters
    ----------
    names : sequence of str
        Files (``my.py``), papers (``hdn``), claims' ids, and patterns of ids (``GMN-T1-*``).
        Where files are named the others choose among their claims, else among the papers';
        without others, all are chosen.

    Raises
    ------
    UsageError
        A name is none of these.
    """
    files = [name for name in names if name.endswith(".py")]
    words = [name for name in names if not name.endswith(".py")]
    if files:
        known = _distinct(claim for file in files for claim in claims_in(file))
    else:
        known = [claim for room in _rooms(words) for claim in claims_of(room)]
    for word in words:
        if not any(_means(word, claim) for claim in known):
            raise UsageError(_unknown(word, files))
    return [claim for claim in known if not words or any(_means(word, claim) for word in words)]


def _unknown(word: str, files: Sequence[str]) -> str:
    if files:
        return f"There is no claim {word!r} in {' or '.join(files)}."
    return (
        f"There is no paper or claim {word!r}: papers are {', '.join(PAPERS)}; "
        "mpinet verify --list lists the claims."
    )


def _rooms(words: Sequence[str]) -> Sequence[str]:
    """The rooms in which these names have to be looked for: a claim's id begins with its room."""
    begins = {word.partition("-")[0].lower() for word in words}
    if words and begins <= set(PAPERS):
        return [room for room in PAPERS if room in begins]
    return PAPERS


def _means(name: str, claim: Claim) -> bool:
    return name == claim.paper or fnmatchcase(claim.id, name)


def _in(module: ModuleType) -> Iterator[Claim]:
    """The claims of a module, also those in lists, in the order of their definition."""
    for value in vars(module).values():
        if isinstance(value, Claim):
            yield value
        elif isinstance(value, list | tuple):
            yield from (part for part in value if isinstance(part, Claim))


def _distinct(claims: Iterable[Claim]) -> list[Claim]:
    """The claims; `UsageError` if two of them have one id."""
    found: dict[str, Claim] = {}
    for claim in claims:
        if claim.id in found:
            raise UsageError(f"There are two claims of the id {claim.id}.")
        found[claim.id] = claim
    return list(found.values())
