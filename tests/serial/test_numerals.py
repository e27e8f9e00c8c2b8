"""What is a whole number where a person writes one."""

import pytest

from mpinet.base import numerals
from mpinet.cli.session import CommandSession

LONG = "9" * 5000
"""More digits than Python reads."""


@pytest.mark.parametrize(("text", "number"), [("0", 0), ("-12", -12), ("+7", 7), ("1_000", 1000)])
def test_ascii_digits_are_a_number(text: str, number: int) -> None:
    assert numerals.whole(text) == number


@pytest.mark.parametrize("text", ["", "²", "5²", "٣", "1.0", "--1", "1e3", "0x3", "_1", LONG])
def test_anything_else_is_refused_with_a_sentence(text: str) -> None:
    with pytest.raises(ValueError, match=r"(is not a whole number|1000 digits at most)$"):
        numerals.whole(text)


def test_a_number_that_fills_more_than_a_line_is_told_as_a_power() -> None:
    assert numerals.counted(10**40) == str(10**40)
    assert numerals.counted(2**20000 + 1) == "more than 2^20000"


@pytest.mark.parametrize(
    "command",
    [
        "neighbors hypercube:4 {}",
        "path hypercube:4 0 {}",
        "show hypercube:{}",
        "show torus:{}x3",
        "show hdn:{}x3,super=0.1/0.1",
        "route ring:8 --pairs random:{}",
        "route ring:8 --pairs hotspot:{}",
        "route ring:8 --seed={}",
        "route ring:8 --faults node:{}",
        "broadcast ring:8 --root={}",
        "ascend hypercube:4 --operator transpose:{}",
        "ascend hypercube:4 --operator transpose:{}x4",
        "ascend hypercube:4 --operator shift:{}",
        "circulate hypercube:4 --dimensions={}",
        "embed ring:8 hypercube:3 --images={}",
        "predict broadcast ring:8 --ranks={}",
        "bench --repeat={}",
        "exec --on ring:4 --packet={} -c pass",
    ],
)
def test_no_command_takes_them(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    for odd in ("²", "5²", LONG, f"-{LONG}", "--1"):
        assert CommandSession(command.format(odd).split()).run() == 2
        told = capsys.readouterr().err
        assert len(told.splitlines()) == 1
        assert len(told) < 400


def test_a_product_of_many_sides_is_too_large_in_one_sentence(
    capsys: pytest.CaptureFixture[str],
) -> None:
    sides = "x".join(["1000000"] * 2000)
    assert CommandSession(["show", f"torus:{sides}"]).run() == 2
    assert "Traceback" not in capsys.readouterr().err
