"""Bisection widths are found on one rank, and told to all; the result is that of one rank."""

import pytest

import mpinet
from mpinet.certify.certificate import certify
from mpinet.errors import OutOfReach, UsageError
from mpinet.machine.transport import world

WIDTHS = {"hypercube:4": 8, "lst:3": 10, "hexcell:3": 6, "fattree:2,3": 4, "torus:5x5": 12}


@pytest.mark.parametrize(("name", "width"), WIDTHS.items())
def test_every_rank_knows_the_width_and_rank_0_writes_the_certificate(name, width, tmp_path):
    file = tmp_path / "width.cert"
    found = mpinet.optimum(name, collective="bisection", save=file)
    assert (found.lower, found.upper, found.exact) == (width, width, True)
    if world().rank == 0:
        assert certify(file).claim.more_than == width - 1
        alone = mpinet.measure.bisection_width(name)
        assert alone.exact and alone == width


def test_every_rank_refuses_what_there_is_not():
    with pytest.raises(OutOfReach, match="no certificate by eigenvalue"):
        mpinet.optimum("fattree:2,2", collective="bisection", by="eigenvalue")
    with pytest.raises(UsageError, match="there are no halves"):
        mpinet.optimum("complete:1", collective="bisection")
