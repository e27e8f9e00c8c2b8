"""Work is dealt out: each piece is done once, by one rank alone or by all together."""

from pathlib import Path

import pytest

from mpinet.errors import MpinetError
from mpinet.experiments.dealing import deal
from mpinet.experiments.journal import Journal
from mpinet.machine import Machine
from mpinet.machine.transport import world

HANDS = [["a", "b"], [], ["b", "c"], ["d"]]


@pytest.mark.mpi
@pytest.mark.parametrize("together", [False, True])
def test_every_piece_is_done_once_and_those_of_a_hand_by_one_rank(together):
    done = []

    def work(key, ranks):
        done.append(key)
        return [world().rank, Machine("ring:4", transport=ranks).transport.size]

    dealt = deal(HANDS, work, world(), together=together)
    assert dealt.computed == 4
    assert together is False or done == ["a", "b", "c", "d"]
    if world().rank == 0:
        assert sorted(dealt.found) == ["a", "b", "c", "d"]
        assert dealt.found["a"][0] == dealt.found["b"][0]
        ranks = world().size if together else 1
        assert {size for _, size in dealt.found.values()} == {ranks}


@pytest.mark.mpi
def test_what_failed_is_told_and_done_again_and_the_rest_is_not(tmp_path):
    folder = Path(world().share(str(tmp_path).encode()).decode())
    done = []

    def work(key, ranks):
        done.append(key)
        if key == "c" and broken:
            raise MpinetError("c is broken")
        return key.upper()

    for broken, failed, pieces in ((True, {"c": "c is broken"}, 4), (False, {}, 1)):
        journal = Journal(folder, f"rank-{world().rank}", "v", "--journal")
        dealt = deal(HANDS, work, world(), journal)
        journal.close()
        world().share(b"")
        assert dealt.computed == pieces
        if world().rank == 0:
            assert dealt.failed == failed
            assert sorted(dealt.found.values()) == [*"AB", *("C" * (not broken)), "D"]
    everywhere = world().gather("".join(done).encode())
    if world().rank == 0:
        assert sorted(b"".join(everywhere)) == sorted(b"abccd")
