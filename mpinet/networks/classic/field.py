"""Arithmetic modulo a prime, for the networks that are made of finite fields."""

from __future__ import annotations

from mpinet.errors import TopologyError


def require_prime(family: str, name: str, number: int) -> None:
    """Raise `TopologyError` unless a number is prime."""
    divisor = next((d for d in range(2, number) if d * d <= number and number % d == 0), None)
    if divisor is not None:
        product = f"{number} = {divisor} * {number // divisor}"
        raise TopologyError(f"{family}: {name} must be prime, and {product}.")


def primitive_root(q: int) -> int:
    """The least number whose powers are all of 1..q-1 modulo the prime q."""
    factors = {d for d in range(2, q) if (q - 1) % d == 0}
    return next(g for g in range(1, q) if all(pow(g, (q - 1) // d, q) != 1 for d in factors))
