"""Arithmetic modulo a prime, for the networks that are made of finite fields."""

from __future__ import annotations

from math import isqrt

from mpinet.errors import TopologyError


def require_prime(family: str, name: str, number: int) -> None:
    """Raise `TopologyError` unless a number is prime."""
    divisor = next((d for d in range(2, number) if d * d <= number and number % d == 0), None)
    if divisor is not None:
        product = f"{number} = {divisor} * {number // divisor}"
        # The nearest primes are named, because sizes of such networks jump. People choose them by a
        # wanted number of processors.
        near = [
            next(filter(_is_prime, numbers), None)
            for numbers in (range(number - 1, 1, -1), range(number + 1, 2 * number))
        ]
        primes = " and ".join(str(prime) for prime in near if prime is not None)
        raise TopologyError(f"{family}: {name} must be prime, and {product}; near are {primes}.")


def _is_prime(number: int) -> bool:
    return all(number % divisor for divisor in range(2, isqrt(number) + 1))


def primitive_root(q: int) -> int:
    """The least number whose powers are all of 1..q-1 modulo the prime q."""
    # A number generates the group if no power by a proper divisor of q - 1 is 1 (Lagrange). So few
    # powers have to be tried.
    factors = {d for d in range(2, q) if (q - 1) % d == 0}
    return next(g for g in range(1, q) if all(pow(g, (q - 1) // d, q) != 1 for d in factors))
