"""LRAT proofs: a formula has no solution, shown line by line by unit propagation along hints.

A line ``id literals 0 hints 0`` adds a clause. Assume that all its literals are false: then each
clause named in the hints, in turn, has only one literal left, and the last clause has none. A line
``id d ids 0`` deletes clauses. The proof ends with the empty clause.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mpinet.errors import CertificateError

Clause = tuple[int, ...]


def refuted(formula: Iterable[Sequence[int]], proof: Iterable[bytes | str]) -> int:
    """Check a proof that a formula has no solution, line by line.

    Parameters
    ----------
    formula : iterable of sequences of int
        The clauses, numbered from 1: v for a variable, -v for its negation.
    proof : iterable of bytes or str
        The proof's lines; lines after the empty clause are not read.

    Returns
    -------
    int
        Number of clauses added by the proof.

    Raises
    ------
    CertificateError
        The proof is invalid; the message names the line and the error.
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
        # Numbers must grow. A clause in place of an earlier clause could change the meaning of
        # later hints.
        if number <= newest:
            raise CertificateError(
                f"line {place} of the proof adds clause {number}, but clause {newest} already "
                "exists."
            )
        _follow(known, literals, named, place)
        added, newest = added + 1, number
        # The empty clause is the contradiction. Later lines can prove nothing more and are not
        # read.
        if not literals:
            return added
        known[number] = literals
    raise CertificateError("the proof ends before the empty clause: truncated, or no proof.")


def _read(line: bytes | str, place: int) -> tuple[int, bool, Clause, Clause]:
    """Return a line's clause number, whether it deletes clauses, its literals and its hints."""
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
            f"line {place} of the proof is not a line of an LRAT proof (id literals 0 hints 0)."
        ) from None
    return number, False, tuple(numbers[1:end]), tuple(numbers[end + 1 : -1])


def _forget(known: dict[int, Clause], numbers: Clause, place: int) -> None:
    for number in numbers:
        if known.pop(number, None) is None:
            raise CertificateError(
                f"line {place} of the proof deletes clause {number}, which does not exist."
            )


def _follow(known: dict[int, Clause], literals: Clause, hints: Clause, place: int) -> None:
    """Raise `CertificateError` unless the hints lead from the negated literals to a conflict."""
    # Reverse unit propagation: the clause follows if its negation leads to a conflict. The hints
    # name the clauses to use, so no search is needed.
    true = {-literal for literal in literals}
    for index, hint in enumerate(hints):
        clause = known.get(hint)
        if clause is None:
            raise CertificateError(_missing(hint, place))
        left = [literal for literal in clause if -literal not in true]
        # The conflict must be at the last hint. Superfluous hints would hide a truncated or damaged
        # proof.
        if not left:
            if index < len(hints) - 1:
                raise CertificateError(
                    f"line {place} of the proof continues after its conflict, at hint {hint}."
                )
            return
        # Each hint must be a unit clause here. A hint without effect shows that the proof belongs
        # to another formula.
        if len(set(left)) > 1 or left[0] in true:
            raise CertificateError(
                f"line {place} of the proof: hint {hint} does not leave exactly one literal of its "
                "clause open."
            )
        true.add(left[0])
    raise CertificateError(f"line {place} of the proof: the hints lead to no conflict.")


def _missing(hint: int, place: int) -> str:
    # RAT steps preserve satisfiability but not equivalence. The searches need none, and a checker
    # without them is shorter and easier to trust.
    if hint < 0:
        return f"line {place} of the proof is a RAT step, which is not accepted."
    return f"line {place} of the proof: clause {hint} does not exist (or was deleted)."
