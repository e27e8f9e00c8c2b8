"""What the tests of all papers' claims share."""

import pytest

from mpinet.claims.remembered import forget


@pytest.fixture(autouse=True)
def nothing_remembered():
    """A measure of a network that a test has changed must not outlive it."""
    forget()
    yield
    forget()
