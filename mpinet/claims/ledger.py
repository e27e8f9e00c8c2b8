"""The claims: the papers' in their rooms, a user's in a file."""

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
from mpinet.claims.quotation import quotation_of, read_quotations
from mpinet.claims.statement import OURS, Claim
from mpinet.errors import UsageError
from mpinet.networks.own import import_from

PAPERS = ("gbsn", "gmn", "hdn", "lens", "sth")
"""The rooms whose claims the ledger holds, in its order."""

FURTHER = ("mcs", "quinn")
"""Rooms of further texts, which are judged where they are named."""

ROOMS = PAPERS + FURTHER
"""All rooms."""


# Each row of a page asks for its paper, and the tables on disk do not change within a run.
@cache
def paper(room: str) -> Paper:
    """A paper of the ledger, with its errors and main findings."""
    found: Paper = import_module(f"mpinet.papers.{room}").PAPER
    folder = folder_of(room)
    return replace(
        found,
        causes=read_causes(folder / "causes.csv"),
        findings=read_findings(folder.parent / "findings.toml", room),
    )


def folder_of(room: str) -> Path:
    """The folder of a paper of the ledger."""
    return Path(str(import_module(f"mpinet.papers.{room}").__file__)).parent


def claims_of(room: str) -> list[Claim]:
    """A paper's claims, in its order; then the corrections of those that are refuted, then ours."""
    own = paper(room)
    kept = set(own.kept())
    claims = _claims(room, own.modules)
    quoted = read_quotations(folder_of(room) / "quotations.csv")
    # The digest covers the order of the rows, so corrections keep the order that the room states.
    corrections = sorted(_corrections(claims), key=lambda claim: _turn(claim, own.corrections))
    return _distinct(
        replace(
            claim,
            paper=room,
            kept=claim.id in kept,
            grade=own.grade(claim.cause),
            # A quotation is evidence of what the paper says. Beside a row of ours it would pass for
            # the paper's words.
            quotation=None if claim.ours else quotation_of(claim.id, quoted),
            degenerate=claim.degenerate or own.degenerate,
        )
        for claim in _noted([*claims, *corrections, *_claims(room, own.ours)])
    )


def _noted(claims: Sequence[Claim]) -> Iterator[Claim]:
    """The claims; rows beside stated steps say whose steps these are."""
    by_id = {claim.id: claim for claim in claims}
    for claim in claims:
        stated = by_id.get(claim.beats)
        if stated is not None:
            whose = "a schedule of ours takes" if stated.place in OURS else "the paper states"
            remark = f"A row of ours, beside the steps that {whose} ({stated.id}). {claim.note}"
            claim = replace(claim, note=remark.strip())
        yield claim


def claims_in(file: str) -> list[Claim]:
    """The claims of a user's file, or of an importable module.

    Raises
    ------
    UsageError
        The file cannot be imported, or holds no claims, or two of one id.
    """
    name = file.removesuffix(".py").rpartition("/")[2]
    claims = list(_in(import_from(file)))
    known = _noted([*claims, *_corrections(claims)])
    found = _distinct(replace(claim, paper=name) for claim in known)
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
    known = {claim.id.lower(): claim.id for room in ROOMS for claim in claims_of(room)}
    meant = hint(word, [*ROOMS, *known], 1, 0.7)
    for lower, name in known.items():
        # Names are compared in lower case, but the hint has to show the id as it must be typed.
        meant = meant.replace(f" {lower}?", f" {name}?")
    listed = f"papers are {', '.join(ROOMS)}; mpinet verify --list lists the claims."
    return f"There is no paper or claim {word!r}: {meant or listed}"


def _rooms(words: Sequence[str]) -> Sequence[str]:
    """The rooms in which these names have to be looked for: a claim's id begins with its room."""
    begins = {word.partition("-")[0].lower() for word in words}
    if words and begins <= set(ROOMS):
        return [room for room in ROOMS if room in begins]
    return [*PAPERS, *(room for room in FURTHER if room in begins)]


def _means(name: str, claim: Claim) -> bool:
    return name == claim.paper or fnmatchcase(claim.id, name)


def _claims(room: str, modules: Iterable[str]) -> list[Claim]:
    """The claims of a room's modules."""
    return [
        claim for name in modules for claim in _in(import_module(f"mpinet.papers.{room}.{name}"))
    ]


def _corrections(claims: Iterable[Claim]) -> Iterator[Claim]:
    """The corrected statements that stand in the rows of claims."""
    yield from (claim.corrected for claim in claims if claim.corrected)


def _turn(claim: Claim, order: Sequence[str]) -> int:
    """The place of the first id, or pattern, in an order that means a claim; else behind all."""
    places = (place for place, name in enumerate(order) if fnmatchcase(claim.id, name))
    return next(places, len(order))


def _in(module: ModuleType) -> Iterator[Claim]:
    """The claims of a module, also those in lists, in the order of their definition."""
    # A module's namespace keeps the order of definition, which is the order of the paper.
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
