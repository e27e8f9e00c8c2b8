"""Calls of native kernels: the extension and ctypes do the same, for kernels in C and in Python."""

import ctypes
import gc
import struct
import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

from mpinet.base.arguments import SIGNATURES
from mpinet.base.native import build

BUILT = build.build()  # before the extension is loaded

from mpinet.base.native import calls, plaincalls  # noqa: E402

SMALLEST, LARGEST = -(2**63), 2**63 - 1

KERNELS = r"""
#include <stdint.h>
typedef int64_t W;
typedef struct Rule { W (*call)(struct Rule *, ...); const char *error; } Rule;

/* Writes the words behind an array into the array. */
int words(W *in, W *out, const char **error)
{
    for (W i = 0; i < in[1]; i++)
        ((W *)in[0])[i] = in[2 + i];
    return 0;
}

/* Takes a count, and as many words, which are its results. */
int same(W *in, W *out, const char **error)
{
    for (W i = 0; i < in[0]; i++)
        out[i] = in[1 + i];
    return 0;
}

int fail(W *in, W *out, const char **error)
{
    *error = (const char *)in[0];
    return (int)in[1];
}

static int end(Rule *rule, W value, W *out, const char **error)
{
    out[0] = value;
    if (value != INT64_MIN || !rule->error)
        return 0;
    *error = rule->error;
    rule->error = 0;
    return 1;
}

#define RULE(many, types, ...) \
    int rule##many(W *in, W *out, const char **error) \
    { \
        Rule *rule = (Rule *)in[0]; \
        W *w = in + 1; \
        return end(rule, ((W (*) types)rule->call)(rule, __VA_ARGS__), out, error); \
    }
RULE(4, (Rule *, W, W, W, W), w[0], w[1], w[2], w[3])
RULE(5, (Rule *, W, W, W, W, W), w[0], w[1], w[2], w[3], w[4])
RULE(6, (Rule *, W, W, W, W, W, W), w[0], w[1], w[2], w[3], w[4], w[5])
RULE(8, (Rule *, W, W, W, W, W, W, W, W), w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7])
RULE(10, (Rule *, W, W, W, W, W, W, W, W, W, W),
     w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9])

/* Takes a port rule, a number of nodes and parameters; adds up what the rule says of the nodes. */
int total(W *in, W *out, const char **error)
{
    Rule *rule = (Rule *)in[0];
    W sum = 0;
    for (W node = 0; node < in[1]; node++) {
        W (*call)(Rule *, W, W, W, W) = (W (*)(Rule *, W, W, W, W))rule->call;
        if (end(rule, call(rule, node, 0, in[2], in[3]), out, error))
            return 1;
        sum += out[0];
    }
    out[0] = sum;
    return 0;
}

/* Calls the rule as often, and never looks at its errors. */
int careless(W *in, W *out, const char **error)
{
    Rule *rule = (Rule *)in[0];
    for (W node = 0; node < in[1]; node++)
        ((W (*)(Rule *, W, W, W, W))rule->call)(rule, node, 0, in[2], in[3]);
    return 0;
}

/* Takes a decide rule and an array with two dimensions; gives the rule each row as a header. */
int rows(W *in, W *out, const char **error)
{
    Rule *rule = (Rule *)in[0];
    for (W node = 0; node < in[2]; node++) {
        W row = in[1] + 8 * node * in[3];
        W (*call)(Rule *, W, W, W, W, W) = (W (*)(Rule *, W, W, W, W, W))rule->call;
        if (end(rule, call(rule, node, row, in[3], row, in[3]), out, error))
            return 1;
    }
    return 0;
}

W native(Rule *self, W node, W port, W *params, W count) { return 1000 + node + params[0]; }
W smallest(Rule *self, W node, W port, W *params, W count) { return INT64_MIN; }
W failing(Rule *self, W node, W port, W *params, W count)
{
    self->error = "ValueError: there is no such node";
    return INT64_MIN;
}
"""

WORD, WORDS = ctypes.c_int64, ctypes.POINTER(ctypes.c_int64)
ENTRY = ctypes.PYFUNCTYPE(ctypes.c_int, WORDS, WORDS, ctypes.POINTER(ctypes.c_void_p))


class Record(ctypes.Structure):
    _fields_ = (("call", ctypes.c_void_p), ("error", ctypes.c_void_p))


def rule_form(many: int) -> Any:
    return ctypes.PYFUNCTYPE(WORD, ctypes.c_void_p, *[WORD] * many)


def ask(record: int, given: list[int], out: Any, error: Any) -> int:
    rule = Record.from_address(record)
    out[0] = rule_form(len(given))(rule.call)(record, *given)
    if out[0] != SMALLEST or rule.error is None:
        return 0
    error[0], rule.error = rule.error, None
    return 1


def words(given: Any, out: Any, error: Any) -> int:
    (WORD * given[1]).from_address(given[0])[:] = given[2 : 2 + given[1]]
    return 0


def same(given: Any, out: Any, error: Any) -> int:
    for at in range(given[0]):
        out[at] = given[1 + at]
    return 0


def fail(given: Any, out: Any, error: Any) -> int:
    error[0] = given[0]
    return int(given[1])


def total(given: Any, out: Any, error: Any) -> int:
    found = 0
    for node in range(given[1]):
        if ask(given[0], [node, 0, *given[2:4]], out, error):
            return 1
        found += out[0]
    out[0] = found
    return 0


def careless(given: Any, out: Any, error: Any) -> int:
    rule = Record.from_address(given[0])
    for node in range(given[1]):
        rule_form(4)(rule.call)(given[0], node, 0, *given[2:4])
    return 0


def rows(given: Any, out: Any, error: Any) -> int:
    for node in range(given[2]):
        row = [given[1] + 8 * node * given[3], given[3]]
        if ask(given[0], [node, *row, *row], out, error):
            return 1
    return 0


def native(record: int, node: int, port: int, params: int, count: int) -> int:
    return int(1000 + node + WORD.from_address(params).value)


def smallest(record: int, node: int, port: int, params: int, count: int) -> int:
    return SMALLEST


TEXT = ctypes.create_string_buffer(b"ValueError: there is no such node")


def failing(record: int, node: int, port: int, params: int, count: int) -> int:
    Record.from_address(record).error = ctypes.addressof(TEXT)
    return SMALLEST


def of_rule(many: int) -> Any:
    return lambda given, out, error: ask(given[0], given[1 : 1 + many], out, error)


ENTRIES: dict[str, Any] = {
    each.__name__: ENTRY(each) for each in (words, same, fail, total, careless, rows)
}
ENTRIES |= {f"rule{many}": ENTRY(of_rule(many)) for many in (4, 5, 6, 8, 10)}
ENTRIES |= {each.__name__: rule_form(4)(each) for each in (native, smallest, failing)}


def in_python(name: str) -> int:
    return ctypes.cast(ENTRIES[name], ctypes.c_void_p).value or 0


@pytest.fixture(scope="module")
def in_c(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], int]:
    """Addresses of the entries in C, by their names."""
    source = tmp_path_factory.mktemp("kernels") / "kernels.c"
    source.write_text(KERNELS)
    made = source.with_suffix(".so")
    command = [*build.compiler(), "-shared", "-fPIC", "-O1", "-o", made, source]
    subprocess.run(command, check=True)
    handle = calls.library(str(made))
    return lambda name: calls.symbol(handle, name)


FORMS = ["ctypes, kernels in Python"]
if build.compiler():
    FORMS.append("ctypes, kernels in C")
    if build.TARGET.exists():
        FORMS.append("extension, kernels in C")


@pytest.fixture(scope="module", params=FORMS)
def form(request: pytest.FixtureRequest) -> Any:
    """A module that calls kernels, and the addresses of kernels."""
    used, language = request.param.split(", kernels in ")
    address = in_python if language == "Python" else request.getfixturevalue("in_c")
    module: Any = plaincalls
    if used == "extension":
        from mpinet.base.native import _calls  # type: ignore[attr-defined]

        assert build.is_current(_calls.BUILT_FROM), "run launch/setup first"
        module = _calls
    return SimpleNamespace(address=address, kernel=module.kernel, RuleForm=module.RuleForm)


def given_words(form: Any, forms: list[str], *values: Any, count: int = 1) -> list[int]:
    """The words that a kernel receives for arguments of these forms."""
    box = np.full(count, 77, np.int64)
    assert form.kernel(form.address("words"), ["A1i8", *forms], "v")(box, *values) is None
    found: list[int] = box.tolist()
    return found


def address_of(array: Any) -> int:
    return int(array.__array_interface__["data"][0])


class Index:
    def __init__(self, value: int):
        self.value = value

    def __repr__(self) -> str:
        return "Index()"  # names of tests must be the same in each process

    def __index__(self) -> int:
        return self.value


class Broken:
    def __index__(self) -> int:
        raise LookupError("no number today")

    __float__ = __bool__ = __index__  # type: ignore[assignment]


INTEGERS = [
    0,
    -1,
    SMALLEST,
    LARGEST,
    True,
    np.int8(-3),
    np.uint64(7),
    np.True_,
    np.False_,
    Index(5),
]


@pytest.mark.parametrize("value", INTEGERS, ids=repr)
def test_an_integer_is_one_word(form: Any, value: Any) -> None:
    assert given_words(form, ["i"], value) == [5 if isinstance(value, Index) else int(value)]


def test_an_integer_that_needs_more_than_64_bits_is_refused(form: Any) -> None:
    for value in (2**63, -(2**63) - 1, np.uint64(2**63), Index(2**99)):
        with pytest.raises(OverflowError, match=r"^argument 1 does not fit into 64 bits$"):
            given_words(form, ["i"], value)


@pytest.mark.parametrize("value", [1.5, "1", None, np.float64(1), [1], np.zeros(2, int)], ids=repr)
def test_what_is_no_integer_is_refused(form: Any, value: Any) -> None:
    with pytest.raises(TypeError, match=r"^argument 1 must be an integer, not "):
        given_words(form, ["i"], value)


@pytest.mark.parametrize("letter", ["i", "b", "f"])
def test_the_error_of_an_argument_is_raised_as_it_is(form: Any, letter: str) -> None:
    with pytest.raises(LookupError, match="no number today"):
        given_words(form, [letter], Broken())


def test_a_truth_value_is_zero_or_one(form: Any) -> None:
    values = [False, True, 0, 17, np.False_, np.True_, None, "x", [], 0.5]
    found = given_words(form, ["b"] * len(values), *values, count=len(values))
    assert found == [int(bool(value)) for value in values]


@pytest.mark.parametrize(
    "value", [0.0, -0.0, 1.5, 3, float("inf"), float("nan"), np.float32(0.1), True]
)
def test_a_float_is_the_bits_of_a_double(form: Any, value: Any) -> None:
    assert given_words(form, ["f"], value) == [*struct.unpack("q", struct.pack("d", value))]


@pytest.mark.parametrize("value", ["1.5", None, 1j])
def test_what_is_no_number_is_refused(form: Any, value: Any) -> None:
    with pytest.raises(TypeError, match=r"^argument 1 must be a number, not "):
        given_words(form, ["f"], value)
    with pytest.raises(OverflowError):
        given_words(form, ["f"], 10**400)


LANE = np.dtype(
    [("sent", np.int64), ("high", np.int32), ("full", np.bool_), ("load", float)], align=True
)
RECORD = np.dtype((np.record, LANE))
SWAPPED = np.dtype([("sent", ">i8"), ("more", np.int64), ("load", float)], align=True)


def read_only(array: Any) -> Any:
    array.flags.writeable = False
    return array


ARRAYS = {
    "A1i8": np.arange(5),
    "A2i8": np.zeros((3, 4), np.int64),
    "A3u4": np.zeros((2, 1, 4), np.uint32),
    "A1b1": np.zeros(3, bool),
    "A1V24": np.zeros(2, LANE),
    "A2V24": np.zeros((2, 2), RECORD),
    "A1c16": np.zeros(3, complex),
    "A1f8": read_only(np.zeros(3)),
    "A2i4": np.zeros((0, 7), np.int32),
    "A1u1": np.zeros(9, np.uint8)[3:8],
    "A1i2": np.zeros(9, np.int16)[4:5:2],
}


@pytest.mark.parametrize("shape", ARRAYS)
def test_a_contiguous_array_is_its_address_and_its_shape(form: Any, shape: str) -> None:
    array = ARRAYS[shape]
    expected = [address_of(array), *array.shape, 123]
    assert given_words(form, [shape, "i"], array, 123, count=len(expected)) == expected


STRIDED = {
    "V1i8": np.arange(10)[8:2:-2],
    "V2u4": np.zeros((3, 5), np.uint32).T,
    "V3b1": np.zeros((4, 4, 4), bool)[::2, 1:, ::-1],
    "V1V24": np.zeros((3, 2), LANE)[:, 1],
    "V2f8": np.broadcast_to(np.zeros(4), (3, 4)),
}


@pytest.mark.parametrize("shape", STRIDED)
def test_an_array_with_strides_is_address_shape_and_strides(form: Any, shape: str) -> None:
    array = STRIDED[shape]
    expected = [address_of(array), *array.shape, *array.strides, 123]
    assert given_words(form, [shape, "i"], array, 123, count=len(expected)) == expected
    if shape != "V1i8":
        return
    with pytest.raises(
        TypeError, match=r"aligned native C-contiguous array of i8 with 1 dimensions"
    ):
        given_words(form, ["A1i8"], array)


UNALIGNED = np.zeros(41, np.uint8)[1:].view(np.int64)
REFUSED = {
    "another type": ("A1i8", [1, 2]),
    "no array": ("A1i8", None),
    "dimensions": ("A1i8", np.zeros((2, 2), np.int64)),
    "none": ("A1i8", np.array(3)),
    "kind": ("A1i8", np.zeros(2, np.uint64)),
    "size": ("A1i8", np.zeros(2, np.int32)),
    "floats": ("A1i8", np.zeros(2)),
    "order": ("A2i8", np.zeros((2, 3), np.int64).T),
    "step": ("A1i8", np.arange(6)[::2]),
    "bytes": ("A1i8", np.zeros(2, ">i8")),
    "bytes of strided": ("V1i8", np.zeros(2, ">i8")),
    "alignment": ("A1i8", UNALIGNED),
    "alignment of strided": ("V1i8", UNALIGNED),
    "size of records": ("A1V16", np.zeros(2, LANE)),
    "bytes of records": ("A1V24", np.zeros(2, SWAPPED)),
    "alignment of records": ("A1V24", np.zeros(49, np.uint8)[1:].view(LANE)),
}


@pytest.mark.parametrize("why", REFUSED)
def test_an_array_of_another_form_is_refused(form: Any, why: str) -> None:
    shape, array = REFUSED[why]
    with pytest.raises(
        TypeError, match=rf"^argument 1 must be an aligned native .* of {shape[2:]} with"
    ):
        given_words(form, [shape], array)


def test_the_refusal_of_an_array_names_what_was_given(form: Any) -> None:
    with pytest.raises(TypeError) as found:
        given_words(form, ["i", "A2i4"], 1, np.zeros((2, 3), ">i4"))
    assert str(found.value) == (
        "argument 2 must be an aligned native C-contiguous array of i4 with 2 dimensions, "
        "not an array of dtype >i4, shape (2, 3) and strides (12, 4)"
    )


def test_a_record_is_its_address(form: Any) -> None:
    for lanes in (np.zeros(3, LANE), np.zeros(3, RECORD)):
        assert given_words(form, ["r24"], lanes[2]) == [address_of(lanes) + 48]
    alone = np.zeros((), LANE)[()]
    word = given_words(form, ["r24"], alone)[0]
    alone["sent"] = 12345
    assert WORD.from_address(word).value == 12345


def test_what_is_no_record_of_the_size_is_refused(form: Any) -> None:
    unaligned = np.zeros(49, np.uint8)[1:].view(LANE)[0]
    for value in (
        np.zeros(1, LANE),
        1,
        None,
        np.zeros(1, "i8,i8")[0],
        np.zeros(1, SWAPPED)[0],
        unaligned,
    ):
        with pytest.raises(
            TypeError, match=r"^argument 1 must be an aligned native record of 24 bytes"
        ):
            given_words(form, ["r24"], value)


def test_a_dtype_that_was_native_once_hides_no_other(form: Any) -> None:
    run = form.kernel(form.address("words"), ["A1i8", "A1V24"], "v")
    for dtype in (LANE, RECORD, LANE):
        run(np.zeros(1, np.int64), np.zeros(1, dtype))
        with pytest.raises(TypeError):
            run(np.zeros(1, np.int64), np.zeros(1, SWAPPED))


class Group(NamedTuple):
    number: int
    array: Any
    flag: bool


class Outer(NamedTuple):
    first: Group
    last: int


def test_groups_are_taken_apart(form: Any) -> None:
    array = np.zeros(4, np.int64)
    group = Group(11, array, True)
    forms = ["i", "A1i8", "b"] * 2 + ["i"]
    expected = [11, address_of(array), 4, 1] * 2 + [13]
    assert given_words(form, forms, group, Outer(group, 13), count=9) == expected
    assert given_words(form, forms, *group, (), (*group, (13,)), count=9) == expected
    with pytest.raises(
        TypeError, match=r"^argument 5 must be an aligned native C-contiguous array"
    ):
        given_words(form, forms, group, Group(1, 2, False), 13)


def test_a_group_within_itself_ends(form: Any) -> None:
    endless: Any = ()
    for _ in range(100_000):
        endless = (endless,)
    with pytest.raises(RecursionError):
        given_words(form, ["i"], endless)
    while endless:
        (endless,) = endless


@pytest.mark.parametrize("given", [[], [1], [1, 2, 3], [(1, 2), (3,)]], ids=str)
def test_another_number_of_arguments_is_refused(form: Any, given: list[Any]) -> None:
    count = sum(len(each) if isinstance(each, tuple) else 1 for each in given)
    with pytest.raises(TypeError, match=rf"^the kernel takes 2 arguments, not {count}$"):
        form.kernel(form.address("same"), ["i", "i"], "v")(*given)


def test_a_result_has_the_form_that_was_stated(form: Any) -> None:
    def result(forms: str, text: str, *values: Any) -> Any:
        return form.kernel(form.address("same"), ["i", *forms], text)(len(values), *values)

    assert result("", "v") is None and result("", "()") == ()
    for value in (SMALLEST, -1, 0, LARGEST):
        assert result("i", "i", value) == value
    assert result("i", "b", 17) is True
    assert result("f", "f", 0.1) == 0.1
    found = result("ifb", "(ifb)", -5, 2.5, 0)
    assert found == (-5, 2.5, False) and [type(each) for each in found] == [int, float, bool]
    assert result("i", "(i)", 1) == (1,)
    assert result("i" * 64, f"({'i' * 64})", *range(64)) == (*range(64),)


BAD_FORMS = [
    "",
    "x",
    "ii",
    "A",
    "A0i8",
    "A1",
    "A1i",
    "A1i0",
    "A1i8x",
    "AAi8",
    "r",
    "r0",
    "r-8",
    "R8",
    "f8",
]


@pytest.mark.parametrize("text", BAD_FORMS)
def test_a_form_that_there_is_not_is_refused(form: Any, text: str) -> None:
    with pytest.raises(ValueError, match=rf"^invalid form '{text}' of an argument$"):
        form.kernel(form.address("same"), ["i", text], "v")


@pytest.mark.parametrize("text", ["", "x", "ii", "(", "(iv)", "(i", "i)", "((i))", f"({'i' * 65})"])
def test_a_result_that_there_is_not_is_refused(form: Any, text: str) -> None:
    with pytest.raises(ValueError, match="of a result"):
        form.kernel(form.address("same"), [], text)


def test_a_kernel_has_an_address_and_a_bound_on_words(form: Any) -> None:
    with pytest.raises(ValueError, match="address 0"):
        form.kernel(0, [], "v")
    with pytest.raises(ValueError, match="at most 4096 words"):
        form.kernel(form.address("same"), ["A1i8"] * 2049, "v")
    with pytest.raises(ValueError, match="at most 4096 words"):
        form.kernel(form.address("same"), ["i"] * 5000, "v")


ERRORS = {
    "ZeroDivisionError: division by zero": ZeroDivisionError("division by zero"),
    "ValueError: a: b": ValueError("a: b"),
    "IndexError:": IndexError(),
    "IndexError: ": IndexError(),
    "AssertionError": AssertionError(),
    "OverflowError: ü": OverflowError("ü"),
    "NoSuchError: what": RuntimeError("NoSuchError: what"),
    "print: what": RuntimeError("print: what"),
    "": SystemError("a kernel failed without an error"),
}


@pytest.mark.parametrize("text", ERRORS)
def test_the_text_of_an_error_becomes_an_exception(form: Any, text: str) -> None:
    memory = ctypes.create_string_buffer(text.encode())
    run = form.kernel(form.address("fail"), ["i", "i"], "v")
    for status in (1, -1, 7):
        with pytest.raises(type(ERRORS[text])) as found:
            run(ctypes.addressof(memory), status)
        assert found.value.args == ERRORS[text].args
    assert run(ctypes.addressof(memory), 0) is None
    with pytest.raises(SystemError, match="without an error"):
        run(0, 1)


PARAMS, HEADER = np.array([5, 6, 7]), np.array([-1, -2])
CANDIDATES, CREDITS = np.arange(8).reshape(4, 2), np.array([9, 9, 9, 9])
CALLS: dict[str, list[Any]] = {
    "port_rule": [3, -4, PARAMS],
    "start_rule": [3, LARGEST, HEADER, PARAMS],
    "decide_rule": [SMALLEST, HEADER, PARAMS],
    "schedule_rule": [1, 2, 3, 4, PARAMS],
    "class_rule": [1, 2, 3, 4, HEADER, PARAMS],
    "candidates_rule": [1, 2, 3, HEADER, CANDIDATES, PARAMS],
    "choose_rule": [1, HEADER, CANDIDATES, CREDITS, PARAMS],
}


def rule_kernel(form: Any, kind: str) -> Any:
    """A kernel that calls a rule of this kind once, with the kernel's arguments."""
    assert CALLS.keys() == SIGNATURES.keys()
    forms = [f"A{each.ndim}i8" if isinstance(each, np.ndarray) else "i" for each in CALLS[kind]]
    many = sum(1 + int(each[1]) if each[0] == "A" else 1 for each in forms)
    return form.kernel(form.address(f"rule{many}"), ["R", *forms], "i")


@pytest.mark.parametrize("kind", CALLS)
def test_a_rule_in_python_receives_what_the_kernel_gives(form: Any, kind: str) -> None:
    seen: list[Any] = []

    def function(*given: Any) -> int:
        seen.append([np.copy(each) if isinstance(each, np.ndarray) else each for each in given])
        for each in given:
            if isinstance(each, np.ndarray):
                assert each.dtype == np.int64 and each.flags.writeable and each.flags.c_contiguous
                each.flat[0] += 100
        return 42

    given = [np.copy(each) if isinstance(each, np.ndarray) else each for each in CALLS[kind]]
    run, rule = rule_kernel(form, kind), form.RuleForm(function, kind)
    for turn in range(3):
        assert run(rule, *given) == 42
        assert [type(each) for each in seen[-1]] == [type(each) for each in given]
        for got, gave, before in zip(seen[-1], given, CALLS[kind], strict=True):
            if isinstance(gave, np.ndarray):
                assert got.shape == gave.shape
                assert gave.flat[0] == before.flat[0] + 100 * (turn + 1) == got.flat[0] + 100
                assert gave.flat[1:].tolist() == before.flat[1:].tolist() == got.flat[1:].tolist()
            else:
                assert got == gave
    assert (rule.call, rule.kind, rule.address) == (function, kind, 0)


def test_a_rule_may_receive_arrays_without_elements(form: Any) -> None:
    def function(node: int, port: int, params: Any) -> int:
        return 10 * node + len(params)

    run, rule = rule_kernel(form, "port_rule"), form.RuleForm(function, "port_rule")
    for params in (np.zeros(0, np.int64), np.zeros(3, np.int64), np.zeros(0, np.int64)):
        assert run(rule, 7, 0, params) == 70 + len(params)
    nothing = form.kernel(form.address("rule4"), ["R", "i", "i", "i", "i"], "i")
    assert [nothing(rule, 7, 0, 0, 0) for _ in range(3)] == [70] * 3


@pytest.mark.parametrize("value", INTEGERS, ids=repr)
def test_a_rules_result_is_an_integer(form: Any, value: Any) -> None:
    expected = 5 if isinstance(value, Index) else int(value)
    for kind in ("port_rule", "start_rule"):
        assert (
            rule_kernel(form, kind)(form.RuleForm(lambda *_: value, kind), *CALLS[kind]) == expected
        )


def test_only_a_start_rule_may_return_none(form: Any) -> None:
    for kind in CALLS:
        rule = form.RuleForm(lambda *_: None, kind)
        if kind == "start_rule":
            assert rule_kernel(form, kind)(rule, *CALLS[kind]) == 0
            continue
        with pytest.raises(TypeError, match=r"^a rule must return an integer, not NoneType$"):
            rule_kernel(form, kind)(rule, *CALLS[kind])


def test_another_result_of_a_rule_is_refused(form: Any) -> None:
    run = rule_kernel(form, "port_rule")
    for value in (1.0, (1,), "1"):
        name = type(value).__name__
        with pytest.raises(TypeError, match=rf"^a rule must return an integer, not {name}$"):
            run(form.RuleForm(lambda *_, value=value: value, "port_rule"), *CALLS["port_rule"])
    with pytest.raises(OverflowError, match=r"^the result of a rule does not fit into 64 bits$"):
        run(form.RuleForm(lambda *_: 2**63, "port_rule"), *CALLS["port_rule"])
    with pytest.raises(LookupError, match="no number today"):
        run(form.RuleForm(lambda *_: Broken(), "port_rule"), *CALLS["port_rule"])


@pytest.mark.parametrize(
    "error", [ZeroDivisionError("by zero"), KeyboardInterrupt(), SystemExit(3)]
)
def test_the_error_of_a_rule_ends_the_kernel_and_has_the_rules_line(form: Any, error: Any) -> None:
    asked = []

    def neighbor(node: int, port: int, params: Any) -> int:
        asked.append(node)
        if node == 2:
            raise error  # the rule's line
        return 1

    rule = form.RuleForm(neighbor, "port_rule")
    run = form.kernel(form.address("total"), ["R", "i", "A1i8"], "i")
    for _ in range(2):
        asked.clear()
        error.__traceback__ = None
        with pytest.raises(type(error)) as found:
            run(rule, 5, PARAMS)
        assert found.value is error and asked == [0, 1, 2]
        last = traceback.extract_tb(found.value.__traceback__)[-1]
        assert (last.name, last.line) == ("neighbor", "raise error  # the rule's line")
        assert run(rule, 2, PARAMS) == 2


def test_a_kernel_that_overlooks_an_error_of_a_rule_ends_with_it(form: Any) -> None:
    asked = []

    def neighbor(node: int, port: int, params: Any) -> int:
        asked.append(node)
        raise ValueError(f"node {node}")

    rule = form.RuleForm(neighbor, "port_rule")
    with pytest.raises(ValueError, match="node 0"):
        form.kernel(form.address("careless"), ["R", "i", "A1i8"], "v")(rule, 5, PARAMS)
    assert asked == [0]
    rule.address = form.address("smallest")
    with pytest.raises(SystemError, match="without an error"):  # the first error is still there
        rule_kernel(form, "port_rule")(rule, 1, 2, PARAMS)
    assert rule_kernel(form, "port_rule")(rule, 1, 2, PARAMS) == SMALLEST


def test_a_rule_may_return_the_smallest_integer_even_after_an_error_within(form: Any) -> None:
    run = form.kernel(form.address("careless"), ["R", "i", "A1i8"], "v")

    def neighbor(node: int, port: int, params: Any) -> int:
        if port == 1:
            with pytest.raises(ValueError, match="inner"):
                run(rule, 3, params)
            return SMALLEST
        raise ValueError("inner")

    rule = form.RuleForm(neighbor, "port_rule")
    assert rule_kernel(form, "port_rule")(rule, 0, 1, PARAMS) == SMALLEST
    found = form.RuleForm(lambda *_: SMALLEST, "port_rule")
    assert rule_kernel(form, "port_rule")(found, 1, 2, PARAMS) == SMALLEST


def test_a_kernel_uses_native_code_from_the_moment_it_is_there(form: Any) -> None:
    def neighbor(node: int, port: int, params: Any) -> int:
        if node == 2:
            rule.address = form.address("native")
        return 1

    rule = form.RuleForm(neighbor, "port_rule")
    run = form.kernel(form.address("total"), ["R", "i", "A1i8"], "i")
    record = rule.record
    assert run(rule, 5, PARAMS) == 3 + (1000 + 3 + 5) + (1000 + 4 + 5)
    assert rule.address == form.address("native") and rule.record == record
    assert run(rule, 2, PARAMS) == (1000 + 5) + (1000 + 1 + 5)
    assert rule.call(0, 0, PARAMS) == 1
    rule.address = 0
    assert run(rule, 2, PARAMS) == 2 and rule.address == 0


def test_native_code_of_a_rule_may_fail_and_may_return_the_smallest_integer(form: Any) -> None:
    rule = form.RuleForm(lambda *_: 1, "port_rule")
    run = rule_kernel(form, "port_rule")
    rule.address = form.address("failing")
    with pytest.raises(ValueError, match=r"^there is no such node$"):
        run(rule, 1, 2, PARAMS)
    rule.address = form.address("smallest")
    assert run(rule, 1, 2, PARAMS) == SMALLEST


def test_a_rule_that_keeps_its_arrays_keeps_each(form: Any) -> None:
    headers = np.arange(24).reshape(6, 4)
    kept: list[Any] = []
    bases: list[Any] = []

    def keeping(node: int, header: Any, params: Any) -> int:
        if node % 2:
            kept.append(header)
        else:
            bases.append(header[1:])
        assert header.tolist() == params.tolist() == headers[node].tolist()
        return 1

    run = form.kernel(form.address("rows"), ["R", "A2i8"], "i")
    rule = form.RuleForm(keeping, "decide_rule")
    for _ in range(2):
        run(rule, headers)
    assert [each.tolist() for each in kept] == headers[1::2].tolist() * 2
    assert [each.tolist() for each in bases] == headers[::2, 1:].tolist() * 2


def test_a_rule_that_reshapes_its_array_changes_no_later_one(form: Any) -> None:
    headers = np.arange(24).reshape(6, 4)
    seen = []

    def shaping(node: int, header: Any, params: Any) -> int:
        seen.append(header.shape)
        params[0] = -1
        params.flags.writeable = False
        return 1

    rule = form.RuleForm(shaping, "decide_rule")
    form.kernel(form.address("rows"), ["R", "A2i8"], "i")(rule, headers)
    assert seen == [(4,)] * 6 and headers[:, 0].tolist() == [-1] * 6


def test_a_rule_may_call_a_kernel_with_itself(form: Any) -> None:
    run = form.kernel(form.address("rows"), ["R", "A2i8"], "i")
    memories = [np.full((2, 3), depth) for depth in range(4)]
    order = []

    def nested(depth: int, header: Any, params: Any) -> int:
        mine = header[0]
        if mine + 1 < len(memories):
            run(rule, memories[mine + 1])
        assert header.tolist() == [mine] * 3
        order.append(int(mine))
        return 1

    rule = form.RuleForm(nested, "decide_rule")
    run(rule, memories[0])
    assert [order.count(depth) for depth in range(4)] == [2, 4, 8, 16]


def test_a_rule_may_handle_the_error_of_an_inner_kernel(form: Any) -> None:
    run = form.kernel(form.address("total"), ["R", "i", "A1i8"], "i")

    def inner(node: int, port: int, params: Any) -> int:
        raise ValueError("inner")

    def outer(node: int, port: int, params: Any) -> int:
        with pytest.raises(ValueError, match="inner"):
            run(form.RuleForm(inner, "port_rule"), 3, params)
        return node

    assert run(form.RuleForm(outer, "port_rule"), 4, PARAMS) == 6


def test_what_is_no_rule_is_refused(form: Any) -> None:
    for value in (lambda *_: 1, None, 5, np.zeros(3, np.int64)):
        with pytest.raises(TypeError, match=r"^argument 0 must be a rule, not "):
            rule_kernel(form, "port_rule")(value, *CALLS["port_rule"])
    with pytest.raises(TypeError, match="must be callable"):
        form.RuleForm(5, "port_rule")
    with pytest.raises(ValueError, match=r"^there is no kind of rules named 'no_rule'$"):
        form.RuleForm(print, "no_rule")


def test_calls_leave_no_references(form: Any) -> None:
    """The counts of all objects stay, also after errors of each kind."""
    lanes = np.zeros(2, LANE)
    group = Group(1 << 40, np.zeros(4, np.int64), True)

    def function(node: int, port: int, params: Any) -> Any:
        return [1, None, 2.5, 2**70, Broken()][node]

    rule = form.RuleForm(function, "port_rule")
    forms = ["A1i8", "i", "A1i8", "b", "A1V24", "r24", "R", "f"]
    run = form.kernel(form.address("words"), forms, "v")
    same = form.kernel(form.address("same"), ["i", "i", "f"], "(if)")
    ask = rule_kernel(form, "port_rule")
    fail = form.kernel(form.address("fail"), ["i", "i"], "v")
    text, number = ctypes.create_string_buffer(b"ValueError: x"), 1 << 50
    good = [np.zeros(1, np.int64), group, lanes, lanes[0], rule, 0.25]
    bad = [None, lanes.view(SWAPPED), 2**80, Broken(), [number], "x"]
    known = [LANE, SWAPPED, lanes.dtype, None, 0, 1, True]
    objects = [*good, *bad, *group, function, text, number, *known]

    def use() -> None:
        run(*good)
        same(2, number, 0.25)
        fail(0, 0)
        for place in range(len(good)):
            for wrong in bad:
                refused(run, *good[:place], wrong, *good[place + 1 :])
        refused(fail, ctypes.addressof(text), 1)
        refused(fail, ctypes.addressof(text))
        refused(form.kernel, 0, [], "v")
        refused(form.kernel, 1, ["i", "x"], "v")
        for node in range(5):
            (refused if node else use_well)(ask, rule, node, number, good[0])

    for _ in range(100):
        use()
    gc.collect()
    before, blocks = [sys.getrefcount(each) for each in objects], sys.getallocatedblocks()
    for _ in range(800):
        use()
    gc.collect()
    after, more = [sys.getrefcount(each) for each in objects], sys.getallocatedblocks()
    changed = [change - was for change, was in zip(after, before, strict=True)]
    assert max(map(abs, changed)) < 200
    assert more - blocks < 700  # Python keeps some hundred for later; 800 would be one a turn


def use_well(function: Any, *given: Any) -> None:
    assert function(*given) == 1


def refused(function: Any, *given: Any) -> None:
    try:
        function(*given)
    except (TypeError, ValueError, OverflowError, LookupError):
        return


def test_a_rule_that_names_itself_is_collected(form: Any) -> None:
    class Function:
        alive = 0

        def __init__(self) -> None:
            Function.alive += 1

        def __del__(self) -> None:
            Function.alive -= 1

        def __call__(self, *given: Any) -> int:
            return 1

    for _ in range(10):
        function: Any = Function()
        function.rule = form.RuleForm(function, "port_rule")
        rule_kernel(form, "port_rule")(function.rule, 1, 2, PARAMS)
        del function
    gc.collect()
    assert Function.alive == 0


def test_both_forms_have_the_same_names_and_the_same_level() -> None:
    names = set(calls.__all__) - {"FORM", "library", "symbol"}
    assert all(hasattr(plaincalls, name) for name in names)
    assert calls.cpu_level() == plaincalls.cpu_level()
    rule = calls.RuleForm(max, "port_rule")
    assert {"call", "kind", "address", "record"} <= set(dir(rule))


def test_a_symbol_that_a_library_lacks_has_no_address(form: Any) -> None:
    handle = calls.library(None)  # type: ignore[arg-type]
    assert calls.symbol(handle, "malloc") > 0
    assert calls.symbol(handle, "mp_no_such_kernel") == 0


def test_the_extension_is_used_where_it_can_be_compiled() -> None:
    command = [sys.executable, "-c", "from mpinet.base.native import calls; print(calls.FORM)"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    built = BUILT.startswith("the extension")
    assert done.stdout.strip() == ("extension" if built else "ctypes"), BUILT


WITHOUT = {
    "a Python without a global lock": "sys.abiflags += 't'",
    "no extension": "sys.modules['mpinet.base.native._calls'] = None",
    "an extension of another source": "build.checksum = lambda: '00000000'",
}


@pytest.mark.parametrize("why", WITHOUT)
def test_ctypes_is_used_where_the_extension_cannot_be(why: str) -> None:
    program = (
        f"import sys; from mpinet.base.native import build; {WITHOUT[why]}\n"
        "from mpinet.base.native import calls, plaincalls\n"
        "print(calls.FORM, calls.kernel is plaincalls.kernel)"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["ctypes", "True"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the extension's source alone, which `build` uses."""
    (tmp_path / "_calls.c").write_bytes(build.SOURCE.read_bytes())
    monkeypatch.setattr(build, "SOURCE", tmp_path / "_calls.c")
    monkeypatch.setattr(build, "TARGET", tmp_path / "_calls.abi3.so")
    monkeypatch.setattr(build, "headers", dict)
    return tmp_path


def test_without_a_compiler_ctypes_calls_kernels(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CC", "/no/such/compiler -O1")
    assert build.build() == "ctypes calls kernels: there is no C compiler '/no/such/compiler -O1'"
    monkeypatch.setenv("CC", "false")
    assert build.build() == "ctypes calls kernels: the C compiler failed (status 1)"
    assert [each.name for each in folder.iterdir()] == ["_calls.c"]


def test_an_extension_of_another_source_is_compiled_anew(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program that copies its text stands for the compiler."""
    compiler = folder / "compiler"
    compiler.write_text(
        f"#!{sys.executable}\nimport sys\n"
        "text = next(each for each in sys.argv if each.startswith('-DSOURCE='))\n"
        "open(sys.argv[sys.argv.index('-o') + 1], 'a').write("
        f"{build.MARK.decode()!r} + text.split('\"')[1])\n"
    )
    compiler.chmod(0o755)
    monkeypatch.setenv("CC", str(compiler))
    made = "the extension was compiled"
    assert (build.build(), build.build()) == (made, "the extension is up to date")
    first = build.TARGET.read_text()
    assert build.is_current(first)
    build.SOURCE.write_text("another")
    assert not build.is_current(first)
    assert (build.build(), build.build()) == (made, "the extension is up to date")
    assert build.is_current(build.TARGET.read_text())
    build.SOURCE.unlink()
    assert build.is_current(first)
    assert sorted(each.name for each in folder.iterdir()) == ["_calls.abi3.so", "compiler"]
