"""`mpinet load --program` as people type it: what is played, what is told, what is refused."""

import pytest

import mpinet
from mpinet.cli.session import CommandSession
from mpinet.machine.timed.program import Builder


def played(*networks, **options):
    (point,) = mpinet.load(*networks, **options).curves[0].points
    return point


def test_a_chain_of_messages_takes_what_its_hops_and_flits_take():
    """Alone, a message of F flits is taken h + F - 1 steps after its birth; then others begin."""
    builder, hops, flits, calc = Builder(6), (5, 3), 4, 7
    sent = builder.send(0, 5, 8 * flits - 3)
    got = builder.recv(5, 0, 8 * flits)
    thought = builder.calc(5, 2 * calc - 1, after=got)
    builder.send(5, 2, 1, after=thought)
    builder.recv(2, 5, 1)
    point = played("mesh:6", program=builder.done(), step_time=2)
    there = hops[0] + flits
    last = there + calc + hops[1] + 1
    assert sent == 0 and point.program.time == last
    assert point.program.ends == [flits, 0, last, 0, 0, there + calc + 1]
    assert point.latency_max == hops[0] + flits - 1 and point.delivered == 2


def test_a_schedule_under_flits_keeps_its_order_step_by_step(tmp_path):
    """A chunk of F flits is taken F steps after its birth, and sent on in the step after."""
    file = tmp_path / "gossip.csv"
    steps = mpinet.schedule.export("gossip", "ring:6", out=str(file)).steps
    point = played("ring:6", program=str(file), flits=3)
    assert point.program.time == (3 + 1) * steps and point.program.stuck == 0


def test_places_take_hops_away_and_several_networks_are_a_table(capsys):
    assert (
        CommandSession(
            "load torus:4x4 mesh:4x4 --program allreduce:ring,64 --place snake".split()
        ).run()
        == 0
    )
    text = capsys.readouterr().out
    assert text.startswith("allreduce:ring,64") and "mesh:4x4" in text
    along = played("torus:4x4", program="allreduce:ring,64", place="snake")
    assert along.hops_mean == 1 < played("torus:4x4", program="allreduce:ring,64").hops_mean


def test_operations_that_never_end_are_named_with_their_lines(tmp_path, capsys):
    file = tmp_path / "half.goal"
    file.write_text("num_ranks 2\nrank 0 {\na: recv 8b from 1\nb: calc 9\nb requires a\n}\n")
    assert CommandSession(["load", "ring:4", "--program", str(file)]).run() == 1
    shown, said = capsys.readouterr()
    assert "2 operations of the program never end; all others end within" in shown
    assert "the program is done" not in shown
    assert "2 operations never end on ring:4" in said
    assert "operation 0 (line 3): recv waits for a message from processor 1" in said


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("--program allreduce:ring,8 --rate 0.1", "leave it out"),
        ("--program allreduce:rign,8", "did you mean ring"),
        ("--program allreduce:ring,8,processors=40", "for 40 processors"),
        ("--program allreduce:ring,8 --flit-bytes 0", "--flit-bytes is a whole number"),
        ("--program allreduce:ring,8 --buffers 0 --switching vct --policy fifo", "--buffers 1"),
        ("--program none.goal", "Cannot read none.goal"),
        ("--place snake", "applies only with --program"),
        ("--flit-bytes 4", "--flit-bytes applies only with --program"),
        ("--step-time 4", "--step-time applies only with --program"),
    ],
)
def test_what_does_not_go_with_a_program_is_refused(given, said, capsys):
    assert CommandSession(f"load torus:4x4 {given}".split()).run() == 2
    assert said in capsys.readouterr().err
