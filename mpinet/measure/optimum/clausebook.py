"""Collected clauses of a formula: constants are folded, variables numbered, the whole hashed."""

from __future__ import annotations

from hashlib import sha256

Literal = int | bool


class ClauseBook:
    """A formula under construction: true clauses are dropped, false literals left out."""

    def __init__(self) -> None:
        self.variables: int = 0
        """Number of variables, which are numbered from 1."""
        self.clauses: list[list[int]] = []
        """The clauses."""

    def new(self) -> int:
        """Return a new variable."""
        self.variables += 1
        return self.variables

    def add(self, *literals: Literal) -> None:
        """Add a clause."""
        # Constants are folded during construction. `is` distinguishes True from the variable 1,
        # unlike `==`.
        if not any(literal is True for literal in literals):
            self.clauses.append([literal for literal in literals if literal is not False])

    @staticmethod
    def negated(literal: Literal) -> Literal:
        """Return the negation of a literal."""
        return not literal if isinstance(literal, bool) else -literal

    @property
    def sha256(self) -> str:
        """SHA-256 digest of the formula in DIMACS format."""
        # The certificate names the formula by this hash. Otherwise a refutation of another formula
        # would look like a proof.
        text = sha256(f"p cnf {self.variables} {len(self.clauses)}\n".encode())
        for clause in self.clauses:
            text.update((" ".join(map(str, [*clause, 0])) + "\n").encode())
        return text.hexdigest()
