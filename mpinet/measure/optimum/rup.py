"""Conversion of a solver's DRUP proof to a checkable LRAT proof, with hints.

Solvers write their learned clauses one after the other. Each clause follows from the preceding
clauses by unit propagation. This module repeats the propagation and records the clauses that lead
to the conflict. At the end, clauses unnecessary for the empty clause are dropped.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.compiled import inlined, kernel
from mpinet.errors import ConservationError

GROWTH = 2**20
"""Initial capacity for hints."""


def lrat_of(clauses: Sequence[Sequence[int]], drup: Sequence[str]) -> list[str]:
    """Return the lines of an LRAT proof.

    Parameters
    ----------
    clauses : sequence of sequences of int
        The formula.
    drup : sequence of str
        The proof's lines: ``literals 0`` or ``d literals 0``.

    Raises
    ------
    ConservationError
        The proof is invalid, or has steps that do not follow by unit propagation.
    """
    lemmas, removed = _parsed(clauses, drup)
    every = [*clauses, *lemmas]
    lengths = np.array([len(clause) for clause in every], np.int64)
    begin = np.concatenate([[0], np.cumsum(lengths)])
    flat = np.array([literal for clause in every for literal in clause], np.int64)
    # Literal and negation differ in the lowest bit. The kernel negates by XOR and indexes arrays
    # without a sign.
    literals = 2 * np.abs(flat) + (flat < 0)
    variables = int(np.abs(flat).max(initial=0))
    removals = np.array([place for place, _ in removed], np.int64)
    which = np.array([number for _, number in removed], np.int64)
    room = GROWTH
    while True:
        hints, ends = np.empty(room, np.int64), np.zeros(len(lemmas) + 2, np.int64)
        found = int(
            find_hints(len(clauses), begin, literals, variables, removals, which, hints, ends)
        )
        if found != FULL:
            break
        # The number of hints is unknown before the run. A retry with more space costs less than
        # lists that grow inside the kernel.
        room *= 4
    if found < 0:
        raise ConservationError("the solver's proof does not follow by unit propagation.")
    return _trimmed(len(clauses), lemmas[: found - 1], hints, ends[: found + 1])


def _parsed(
    clauses: Sequence[Sequence[int]], drup: Sequence[str]
) -> tuple[list[list[int]], list[tuple[int, int]]]:
    """Return the added clauses, and the removed clauses with the number of clauses added before."""
    numbers: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for number, clause in enumerate(clauses):
        # Solvers reorder literals, and DRUP deletes by content. Equal clauses are distinguished by
        # number, the latest first.
        numbers[tuple(sorted(clause))].append(number)
    lemmas: list[list[int]] = []
    removed = []
    for line in drup:
        words = line.split()
        deletes = words[:1] == ["d"]
        literals = [int(word) for word in words[deletes:] if word != "0"]
        key = tuple(sorted(literals))
        if not deletes:
            numbers[key].append(len(clauses) + len(lemmas))
            lemmas.append(literals)
        elif numbers.get(key) and len(key) > 1:  # units must stay for propagation
            removed.append((len(lemmas), numbers[key].pop()))
    return lemmas, removed


def _trimmed(formula: int, lemmas: Sequence[Sequence[int]], hints: Ints, ends: Ints) -> list[str]:
    """Return the proof lines on which the last line, the empty clause, depends."""
    last = len(ends) - 2
    needed = {last}
    # Solvers learn far more than the contradiction needs. Going backwards keeps only the lemmas on
    # which the contradiction depends.
    for place in range(last, -1, -1):
        if place in needed:
            used = hints[ends[place] : ends[place + 1]]
            needed.update((used[used >= formula] - formula).tolist())
    lines = []
    for place in sorted(needed):
        literals = lemmas[place] if place < last else []
        used = (hints[ends[place] : ends[place + 1]] + 1).tolist()
        lines.append(" ".join(map(str, [formula + place + 1, *literals, 0, *used, 0])))
    return lines


FULL, WRONG = -1, -2


@inlined
def propagated(begin, literals, value, reason, trail, head, follow, gone, place, known):
    """Propagate the trail from `place` on; return the trail's length, and a conflict or -1.

    A clause watches its first two literals. When a watched literal becomes false, the clause looks
    for another literal to watch; otherwise its other watched literal must be true.
    """
    # Two watched literals (Chaff): a clause is visited only when a watched literal becomes false.
    # Undoing assignments costs nothing.
    while place < known:
        false = trail[place] ^ 1
        place += 1
        before, node = -1, head[false]
        while node >= 0:
            after, clause = follow[node], node >> 1
            mine, other = begin[clause] + (node & 1), literals[begin[clause] + 1 - (node & 1)]
            leaves = gone[clause]
            if not leaves and value[other] != 1:
                for at in range(begin[clause] + 2, begin[clause + 1]):
                    if value[literals[at]] >= 0:
                        literals[mine], literals[at] = literals[at], literals[mine]
                        follow[node] = head[literals[mine]]
                        head[literals[mine]] = node
                        leaves = True
                        break
                if not leaves:
                    if value[other] == -1:
                        return known, clause
                    value[other], value[other ^ 1] = 1, -1
                    reason[other >> 1] = clause
                    trail[known] = other
                    known += 1
            if not leaves:
                before = node
            elif before < 0:
                head[false] = after
            else:
                follow[before] = after
            node = after
    return known, -1


@inlined
def assumed_negation(clause, begin, literals, value, reason, lemma_of, trail, known):
    """Make a lemma's literals false; return the trail's length, and a contradicted clause or -1."""
    for at in range(begin[clause], begin[clause + 1]):
        lemma_of[literals[at] >> 1] = clause
    for at in range(begin[clause], begin[clause + 1]):
        literal = literals[at]
        # A literal that is already true contradicts its assumed negation at once. The conflict is
        # the clause that made it true.
        if value[literal] == 1 and reason[literal >> 1] >= 0:
            return known, reason[literal >> 1]
        if value[literal] == 0:
            value[literal ^ 1], value[literal] = 1, -1
            reason[literal >> 1] = -1
            trail[known] = literal ^ 1
            known += 1
    return known, -1


@inlined
def explained(
    conflict, clause, final, begin, literals, reason, lemma_of, seen, trail, known, hints, written
):
    """Write the clauses that led to a conflict, in propagation order; return the hint count."""
    for at in range(begin[conflict], begin[conflict + 1]):
        seen[literals[at] >> 1] = clause
    first = written
    hints[written] = conflict
    written += 1
    # The trail is walked backwards from the conflict, as in conflict analysis. Only clauses that
    # led to the conflict become hints.
    for at in range(known - 1, -1, -1):
        variable = trail[at] >> 1
        assumed = not final and lemma_of[variable] == clause
        if seen[variable] != clause or assumed or reason[variable] < 0:
            continue
        hints[written] = reason[variable]
        written += 1
        for place in range(begin[reason[variable]], begin[reason[variable] + 1]):
            seen[literals[place] >> 1] = clause
    # LRAT needs hints in the order of propagation. They were found backwards from the conflict.
    for turn in range((written - first) // 2):
        front, back = first + turn, written - 1 - turn
        hints[front], hints[back] = hints[back], hints[front]
    return written


@inlined
def watched(clause, begin, literals, value, head, follow):
    """Let a clause watch two literals that are not false; return the number found (0 to 2)."""
    free = begin[clause]
    for at in range(begin[clause], begin[clause + 1]):
        if value[literals[at]] >= 0 and free < begin[clause] + 2:
            literals[free], literals[at] = literals[at], literals[free]
            free += 1
    if begin[clause + 1] - begin[clause] > 1:
        for turn in range(2):
            node = 2 * clause + turn
            literal = literals[begin[clause] + turn]
            follow[node] = head[literal]
            head[literal] = node
    return free - begin[clause]


@kernel
def find_hints(
    formula: int,
    begin: Ints,
    literals: Ints,
    variables: int,
    removals: Ints,
    which: Ints,
    hints: Ints,
    ends: Ints,
) -> int:
    """Check every lemma by unit propagation with two watched literals, and write its hints.

    ``hints[ends[i] : ends[i + 1]]`` are the hints of lemma i, in the order of propagation. Returns
    the number of lines, including the empty clause, or `FULL` or `WRONG`.
    """
    count = begin.size - 1
    value = np.zeros(2 * variables + 2, np.int8)  # 1 = true
    reason = np.full(variables + 1, -1)
    lemma_of = np.full(variables + 1, -1)
    seen = np.full(variables + 1, -1)
    trail = np.empty(variables + 1, np.int64)
    head = np.full(2 * variables + 2, -1)
    follow = np.full(2 * count, -1)
    gone = np.zeros(count, np.bool_)
    # Units that follow from the formula stay on the trail permanently. Each lemma then undoes only
    # the additions of its own negation.
    settled, read, written, removal = 0, 0, 0, 0  # trail: settled, propagated
    conflict = -1
    for number in range(count + 1):
        # If the clauses already contradict each other, the next line is the empty clause.
        lemma, final = number - formula, number == count or (conflict >= 0 and number >= formula)
        clause = count if final else number
        if lemma >= 0:
            while not final and removal < removals.size and removals[removal] <= lemma:
                gone[which[removal]] = True
                removal += 1
            ends[lemma], known = written, settled
            if not final:
                known, conflict = assumed_negation(
                    clause, begin, literals, value, reason, lemma_of, trail, known
                )
            if conflict < 0 and not final:
                known, conflict = propagated(
                    begin, literals, value, reason, trail, head, follow, gone, settled, known
                )
            if conflict < 0:
                return WRONG
            if written + known + 1 > hints.size:
                return FULL
            written = explained(
                conflict, clause, final, begin, literals, reason, lemma_of, seen, trail, known,
                hints, written,
            )  # fmt: skip
            if final:
                ends[lemma + 1] = written
                return lemma + 1
            for at in range(settled, known):
                value[trail[at]], value[trail[at] ^ 1] = 0, 0
            conflict = -1
        free = watched(clause, begin, literals, value, head, follow)
        if free == 0:
            conflict = clause
        elif free == 1 and value[literals[begin[clause]]] == 0:
            literal = literals[begin[clause]]
            value[literal], value[literal ^ 1] = 1, -1
            reason[literal >> 1] = clause
            trail[settled] = literal
            settled += 1
        if conflict < 0:
            settled, conflict = propagated(
                begin, literals, value, reason, trail, head, follow, gone, read, settled
            )
            read = settled
    return WRONG
