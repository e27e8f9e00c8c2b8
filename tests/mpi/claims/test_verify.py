"""The ledger says the same on any number of ranks, and its measurements stay apart."""

from pathlib import Path

import pytest

from mpinet.claims import claim, over
from mpinet.claims.ledger import claims_in
from mpinet.claims.verify import verify
from mpinet.cli.commands import parse
from mpinet.errors import UsageError
from mpinet.experiments.journal import Journal
from mpinet.jobs import module_of
from mpinet.machine import Machine
from mpinet.machine.transport import Local, world
from mpinet.report.envelope import digest

OWN = str(Path(__file__).parents[2] / "serial" / "claims" / "own.py")


def lasting(rows):
    """A digest of verdicts without their times."""
    return digest([{**vars(row), "seconds": None} for row in rows])


@pytest.mark.mpi
def test_verdicts_are_the_same_on_any_number_of_ranks():
    claims = claims_in(OWN)
    rows = verify(claims, "quick", world())
    if world().rank == 0:
        # The traceback of a failed measurement is the same, too: all are made by one rank alone.
        assert lasting(rows) == lasting(verify(claims, "quick", Local()))
    else:
        assert rows == []


@pytest.mark.mpi
def test_machines_of_measurements_are_hosted_by_one_rank():
    made = claim("X", statement="", claimed=1, grid=over(n=range(3, 30)))(
        lambda n: Machine(f"ring:{n}").transport.size
    )
    rows = verify([made], "full", world())
    assert [row.verdict for row in rows] == ["holds"] * (world().rank == 0)


@pytest.mark.mpi
def test_a_verification_may_go_on_with_another_number_of_ranks(tmp_path):
    folder = Path(world().share(str(tmp_path).encode()).decode())

    def journal_of(rank):
        return Journal(folder / "journal", f"rank-{rank}", "v", "--journal", alone=False)

    measured = []
    made = claim("X", statement="", relation="all", grid=over(n=range(20)))(
        lambda n: measured.append(n) is None
    )
    if world().rank == 0:
        journal = journal_of(9)
        verify([made], "full", Local(), at={"n": "7"}, journal=journal)
        journal.close()
    world().share(b"")
    before = len(measured)
    rows = verify([made], "full", world(), journal=journal_of(world().rank))
    assert 7 not in measured[before:]
    assert [row.points for row in rows] == [20] * (world().rank == 0)


@pytest.mark.mpi
def test_a_point_that_no_grid_has_is_refused_on_every_rank():
    options = parse(["verify", OWN, "RING-D", "--at", "n=2"])
    job = module_of("verify").prepare(options)
    with pytest.raises(UsageError, match="n=2"):
        job.run(world(), lambda count: None)
