"""Clauses as they are collected: constants are folded, variables numbered, the whole hashed."""

from __future__ import annotations

from hashlib import sha256

Literal = int | bool


class ClauseBook:
    """A formula in the making: a true clause is dropped, a false literal left out."""

    def __init__(self) -> None:
        self.variables: int = 0
        """Number of variables; they are numbered from 1."""
        self.clauses: list[list[int]] = []
        """The clauses."""

    def new(self) -> int:
        """One more variable."""
        self.variables += 1
        return self.variables

    def add(self, *literals: Literal) -> None:
        """One more clause."""
        # Constants are folded while clauses are made: `is` tells True from the variable 1, which
        # `==` does not.
        if not any(literal is True for literal in literals):
            self.clauses.append([literal for literal in literals if literal is not False])

    @staticmethod
    def negated(literal: Literal) -> Literal:
        """The opposite."""
        return not literal if isinstance(literal, bool) else -literal

    @property
    def sha256(self) -> str:
        """SHA-256 of the formula in DIMACS's form."""
        # The certificate names the formula by this hash. A refutation of another formula would
        # otherwise look like a proof.
        text = sha256(f"p cnf {self.variables} {len(self.clauses)}\n".encode())
        for clause in self.clauses:
            text.update((" ".join(map(str, [*clause, 0])) + "\n").encode())
        return text.hexdigest()
