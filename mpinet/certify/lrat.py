"""LRAT proofs: a formula has no solution, shown line by line by unit propagation along hints.

A line ``id literals 0 hints 0`` adds a clause: if all its literals are false, then the clauses that
the hints name have, one after the other, only one literal left each, and the last one none. A line
``id d ids 0`` forgets clauses. The proof ends with the empty clause.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mpinet.errors import CertificateError

Clause = tuple[int, ...]


def refuted(formula: Iterable[Sequence[int]], proof: Iterable[bytes | str]) -> int:
    """Follow a proof that a formula has no solution, line by line.

    Parameters
    ----------
    formula : iterable of sequences of int
        The clauses, numbered from 1: v for a variable, -v for its negation.
    proof : iterable of bytes or str
        The proof's lines; what follows the empty clause is not read.

    Returns
    -------
    int
        Number of clauses that the proof adds.

    Raises
    ------
    CertificateError
        The proof is none; the sentence names the line and what is wrong.
    """
    known: dict[int, Clause] = {
        number: tuple(clause) for number, clause in enumerate(formula, start=1)
    }
    newest, added = len(known), 0
    for place, line in enumerate(proof, start=1):
        number, deletes, literals, named = _read(line, place)
        if deletes:
            _forget(known, named, place)
            continue
        # Numbers must grow. A clause that replaces an earlier one could change what later hints
        # refer to.
        if number <= newest:
            raise CertificateError(
                f"line {place} of the proof adds clause {number}, but {newest} is there already."
            )
        _follow(known, literals, named, place)
        added, newest = added + 1, number
        # The empty clause is the contradiction. Lines after it can prove nothing more, so they are
        # not read.
        if not literals:
            return added
        known[number] = literals
    raise CertificateError(
        "the proof ends before the empty clause: it is truncated, or proves nothing."
    )


def _read(line: bytes | str, place: int) -> tuple[int, bool, Clause, Clause]:
    """Split a line into its clause's number, whether it deletes, its literals and its hints."""
    words = line.split()
    deletes = len(words) > 1 and words[1] in (b"d", "d")
    try:
        numbers = [int(word) for word in (words[2:] if deletes else words)]
        number = int(words[0])
        if deletes:
            if not numbers or numbers.index(0) != len(numbers) - 1:
                raise ValueError
            return number, True, (), tuple(numbers[:-1])
        end = numbers.index(0, 1)
        if numbers.index(0, end + 1) != len(numbers) - 1:
            raise ValueError
    except (ValueError, IndexError):
        raise CertificateError(
            f"line {place} of the proof is no line of an LRAT proof (id literals 0 hints 0)."
        ) from None
    return number, False, tuple(numbers[1:end]), tuple(numbers[end + 1 : -1])


def _forget(known: dict[int, Clause], numbers: Clause, place: int) -> None:
    for number in numbers:
        if known.pop(number, None) is None:
            raise CertificateError(
                f"line {place} of the proof deletes clause {number}, which is not there."
            )


def _follow(known: dict[int, Clause], literals: Clause, hints: Clause, place: int) -> None:
    """Raise `CertificateError` unless the hints lead from the literals' negation to a conflict."""
    # Reverse unit propagation: the clause follows if its negation leads to a conflict. The hints
    # say which clauses to use, so no search is needed.
    true = {-literal for literal in literals}
    for index, hint in enumerate(hints):
        clause = known.get(hint)
        if clause is None:
            raise CertificateError(_missing(hint, place))
        left = [literal for literal in clause if -literal not in true]
        # The conflict must be at the last hint. Superfluous hints would hide a proof that was cut
        # or damaged.
        if not left:
            if index < len(hints) - 1:
                raise CertificateError(
                    f"line {place} of the proof goes on after its conflict, at hint {hint}."
                )
            return
        # Each hint must be a unit clause here. A hint that adds nothing shows that the proof
        # belongs to another formula.
        if len(set(left)) > 1 or left[0] in true:
            raise CertificateError(
                f"line {place} of the proof: hint {hint} does not leave one literal of its clause "
                "to be true."
            )
        true.add(left[0])
    raise CertificateError(f"line {place} of the proof: its hints come to no conflict.")


def _missing(hint: int, place: int) -> str:
    # RAT steps keep satisfiability but not equivalence. The searches need none, and a checker
    # without them is shorter and easier to trust.
    if hint < 0:
        return f"line {place} of the proof is a RAT step, which is not accepted."
    return f"line {place} of the proof: there is no clause {hint} (any more)."
