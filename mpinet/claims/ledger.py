"""Access to the claims: the papers' claims in their rooms, and a user's claims in a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

from mpinet.base.meant import hint
from mpinet.claims.cause import read_causes
from mpinet.claims.paper import Paper, read_findings
from mpinet.claims.quotation import quotation_of, read_quotations, read_statements
from mpinet.claims.statement import OURS, Claim
from mpinet.errors import UsageError
from mpinet.networks.own import import_from

PAPERS = ("gbsn", "gmn", "hdn", "lens", "sth")
"""Rooms of the papers in the ledger, in its order."""

FURTHER = ("mcs", "quinn")
"""Rooms of further texts, whose claims are verified only on request."""

ROOMS = PAPERS + FURTHER
"""All rooms with claims."""


# Each row of a page asks for its paper, and the tables on disk do not change within a run.
@cache
def paper(room: str) -> Paper:
    """Return a paper of the ledger, with its errors and main findings."""
    found: Paper = import_module(f"mpinet.papers.{room}").PAPER
    folder = folder_of(room)
    return replace(
        found,
        causes=read_causes(folder / "causes.csv"),
        findings=read_findings(folder.parent / "findings.toml", room),
    )


def folder_of(room: str) -> Path:
    """Return the folder of a paper of the ledger."""
    return Path(str(import_module(f"mpinet.papers.{room}").__file__)).parent


def claims_of(room: str) -> list[Claim]:
    """Return a paper's claims in its order, then corrections of refuted claims, then our rows."""
    own = paper(room)
    kept = set(own.kept())
    claims = _claims(room, own.modules)
    quoted = read_quotations(folder_of(room) / "quotations.csv")
    stated = read_statements(folder_of(room) / "statements.csv")
    return _distinct(
        replace(
            claim,
            paper=room,
            kept=claim.id in kept,
            grade=own.grade(claim.cause),
            quotation=said and said.quotation,
            place=claim.place or (said.place if said else ""),
            degenerate=claim.degenerate or own.degenerate,
        )
        for bare in _noted([*claims, *_corrections(claims), *_claims(room, own.ours)])
        for claim in [replace(bare, **stated.get(bare.id, {}))]
        # A quotation is evidence of the paper's words. Next to one of our rows it would be
        # misleading.
        for said in [None if claim.ours else quotation_of(claim.id, quoted)]
    )


def _noted(claims: Sequence[Claim]) -> Iterator[Claim]:
    """Yield the claims; rows that improve stated steps get a note with their source."""
    by_id = {claim.id: claim for claim in claims}
    for claim in claims:
        stated = by_id.get(claim.beats)
        if stated is not None:
            whose = "of our schedule" if stated.place in OURS else "in the paper"
            remark = f"An added row, to compare with the steps {whose} ({stated.id}). {claim.note}"
            claim = replace(claim, note=remark.strip())
        yield claim


def claims_in(file: str) -> list[Claim]:
    """Return the claims in a user's file, or in an importable module.

    Raises
    ------
    UsageError
        The file cannot be imported, has no claims, or has two claims with the same id.
    """
    name = file.removesuffix(".py").rpartition("/")[2]
    claims = list(_in(import_from(file)))
    known = _noted([*claims, *_corrections(claims)])
    found = _distinct(replace(claim, paper=name) for claim in known)
    if not found:
        raise UsageError(f"{file} has no claims. Make claims with @mpinet.claims.claim.")
    return found


def select(names: Sequence[str]) -> list[Claim]:
    """Return the claims selected by a user, in the ledger's order.

    Parameters
    ----------
    names : sequence of str
        Files (``my.py``), papers (``hdn``), claims' ids, and patterns of ids (``GMN-T1-*``). The
        papers, ids and patterns select among the claims of the files, or among the papers' claims
        if no file is named. Without them, all claims are selected.

    Raises
    ------
    UsageError
        A name matches nothing.
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
    known = {claim.id.lower(): claim.id for room in ROOMS for claim in claims_of(room)}
    meant = hint(word, [*ROOMS, *known], 1, 0.7)
    for lower, name in known.items():
        # Names are compared in lower case, but the hint must show the id in its exact spelling.
        meant = meant.replace(f" {lower}?", f" {name}?")
    listed = f"papers are {', '.join(ROOMS)}; mpinet verify --list lists the claims."
    return f"There is no paper or claim {word!r}: {meant or listed}"


def _rooms(words: Sequence[str]) -> Sequence[str]:
    """Return the rooms to search for these names: a claim's id begins with its room."""
    begins = {word.partition("-")[0].lower() for word in words}
    if words and begins <= set(ROOMS):
        return [room for room in ROOMS if room in begins]
    return [*PAPERS, *(room for room in FURTHER if room in begins)]


def _means(name: str, claim: Claim) -> bool:
    return name == claim.paper or fnmatchcase(claim.id, name)


def _claims(room: str, modules: Iterable[str]) -> list[Claim]:
    """Return the claims in a room's modules."""
    return [
        claim for name in modules for claim in _in(import_module(f"mpinet.papers.{room}.{name}"))
    ]


def _corrections(claims: Iterable[Claim]) -> Iterator[Claim]:
    """Yield the corrected statements attached to claims."""
    yield from (claim.corrected for claim in claims if claim.corrected)


def _in(module: ModuleType) -> Iterator[Claim]:
    """Yield the claims in a module, including claims in lists, in the order of their definition."""
    # A module's namespace keeps the order of definition, which is the order of the paper.
    for value in vars(module).values():
        if isinstance(value, Claim):
            yield value
        elif isinstance(value, list | tuple):
            yield from (part for part in value if isinstance(part, Claim))


def _distinct(claims: Iterable[Claim]) -> list[Claim]:
    """Return the claims as a list.

    A claim without a statement, and two claims with the same id, raise `UsageError`.
    """
    found: dict[str, Claim] = {}
    for claim in claims:
        if not claim.statement:
            raise UsageError(f"Claim {claim.id} has no statement.")
        if claim.id in found:
            raise UsageError(f"Two claims have the id {claim.id}.")
        found[claim.id] = claim
    return list(found.values())
