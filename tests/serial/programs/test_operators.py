"""Operators against their definitions, executed by plain loops, and against NumPy."""

import cmath

import numpy as np
import pytest

import mpinet
from mpinet.errors import RuleError, UsageError
from mpinet.machine import Machine
from mpinet.machine.placement import scattered
from mpinet.programs import ascend
from mpinet.programs.operators import OPERATORS, Operator, Pass, open_operator
from mpinet.programs.operators.fourier import root, unit_roots
from mpinet.programs.operators.operator import KINDS, reversed_bits
from mpinet.programs.operators.prefix import PRIME, SumPrefix
from mpinet.programs.operators.reduction import Minimum, Sum
from mpinet.programs.schedules import pairs
from mpinet.programs.schedules.routed import as_words, from_words

FORMS = [
    (name, kind) for name in OPERATORS for kind in KINDS if kind in type(open_operator(name)).kinds
]


def by_definition(operator, kind, q, values):
    """Execute the passes as they are defined: dimension by dimension, pair by pair."""
    numbers = np.arange(1 << q)
    state = operator.prepare(values[operator.reads(kind, q, numbers)])
    for sweep in operator.passes(kind, q):
        upwards = list(range(sweep.low, sweep.high))
        for j in upwards if sweep.kind == "ascend" else reversed(upwards):
            for i in range(1 << q):
                if not i >> j & 1:
                    partner = i + (1 << j)
                    index = np.array([i])
                    low, high = state[i : i + 1].copy(), state[partner : partner + 1].copy()
                    low, high = sweep.oper(j, index, low, high)
                    state[i], state[partner] = low[0], high[0]
    results = operator.finish(state)
    in_order = np.empty_like(results)
    in_order[operator.holds(kind, q, numbers)] = results
    return in_order


def drawn(operator, q, seed=3):
    return operator.draw(seed, q, np.arange(1 << q))


@pytest.mark.parametrize(("name", "kind"), FORMS)
@pytest.mark.parametrize("q", [0, 1, 2, 5])
def test_passes_by_definition_give_the_serial_result(name, kind, q):
    operator = open_operator(name)
    values = drawn(operator, q)
    result = by_definition(operator, kind, q, values)
    expected = operator.expected(values)
    if result.dtype == complex:
        assert np.allclose(result, expected, rtol=0, atol=1e-12)
    else:
        assert (result == expected).all()


@pytest.mark.parametrize(("name", "kind"), FORMS)
def test_a_machine_of_one_rank_does_as_the_definition_says(name, kind):
    operator = open_operator(name)
    result = ascend.run(Machine("hypercube:5"), operator, kind, seed=3)
    by_loops = by_definition(operator, kind, 5, drawn(operator, 5))
    by_loops = by_loops[operator.holds(kind, 5, np.arange(32))]
    assert result.values.tobytes() == by_loops.tobytes()
    assert result.correct


def test_fft_is_the_sum_over_all_inputs():
    operator = open_operator("fft")
    x = drawn(operator, 4)
    turns = [
        sum(x[i] * cmath.exp(-2j * cmath.pi * i * k / 16) for i in range(16)) for k in range(16)
    ]
    for kind in KINDS:
        assert np.allclose(by_definition(operator, kind, 4, x), turns)


def test_fft_ascends_from_bit_reversed_input_and_descends_to_bit_reversed_output():
    x = np.arange(8) ** 2 + 0j
    spectrum = np.fft.fft(x)
    reverse = [int(f"{i:03b}"[::-1], 2) for i in range(8)]
    ascending = ascend.run(Machine("hypercube:3"), "fft", "ascend", values=lambda i: x[i])
    assert np.allclose(ascending.values, spectrum)
    descending = ascend.run(Machine("hypercube:3"), "fft", "descend", values=lambda i: x[i])
    assert np.allclose(descending.values, spectrum[reverse])
    assert reversed_bits(np.arange(8), 3).tolist() == reverse


@pytest.mark.parametrize("j", [0, 5, 10, 13])
def test_roots_of_unity_are_right_to_the_last_digit_but_one(j):
    roots = unit_roots(j)
    numbers = range(0, 1 << j, max(1, (1 << j) // 501))
    found = np.array([root.function(*roots, k) for k in numbers])
    exact = np.array([cmath.exp(-1j * cmath.pi * k / (1 << j)) for k in numbers])
    assert len(roots.fine) * len(roots.coarse) == 1 << j
    assert np.abs(found - exact).max() < 5e-16


@pytest.mark.parametrize("kind", KINDS)
def test_fft_of_runs_and_of_single_pairs_is_the_same_to_the_last_bit(kind):
    topology = mpinet.open("hypercube:13")
    x = drawn(open_operator("fft"), 13)
    in_runs = ascend.run(Machine(topology), "fft", kind, values=lambda i: x[i])
    anyhow = Machine(topology, mapping=scattered(topology, 5))
    by_pairs = ascend.run(anyhow, "fft", kind, values=lambda i: x[i])
    assert in_runs.values[by_pairs.index].tobytes() == by_pairs.values.tobytes()
    reads = open_operator("fft").holds(kind, 13, in_runs.index)
    assert np.allclose(in_runs.values, np.fft.fft(x)[reads], rtol=0, atol=1e-11)


def test_prefix_composes_affine_maps_in_the_order_of_their_numbers():
    operator = open_operator("prefix")
    maps = drawn(operator, 4)
    prefixes = by_definition(operator, "ascend", 4, maps)
    for k in range(16):
        x = 12345
        for factor, shift in maps[: k + 1].tolist():
            x = (factor * x + shift) % PRIME
        factor, shift = prefixes[k].tolist()
        assert (factor * 12345 + shift) % PRIME == x


def test_affine_maps_do_not_commute():
    operator = open_operator("prefix")
    first, second = drawn(operator, 1)[:1], drawn(operator, 1)[1:]
    assert operator.combine(first, second) != operator.combine(second, first)


def test_prefix_sums_are_cumulative_sums():
    values = np.array([3, -1, 4, 1, -5, 9, 2, -6])
    result = ascend.run(Machine("hypercube:3"), "prefix-sum", values=lambda i: values[i])
    assert result.values.tolist() == np.cumsum(values).tolist()


def test_sort_takes_equal_and_negative_keys():
    keys = np.array([5, -3, 5, 5, 0, -3, 7, 0])
    sort = ascend.run(Machine("hypercube:3"), "bitonic-sort", "descend", values=lambda i: keys[i])
    assert sort.values.tolist() == sorted(keys.tolist())


def test_bitonic_merge_draws_an_ascending_and_a_descending_half():
    values = drawn(open_operator("bitonic-merge"), 6)
    assert (np.diff(values[:32]) > 0).all()
    assert (np.diff(values[32:]) < 0).all()


@pytest.mark.parametrize("operator", [Sum(float), Minimum(np.float32), SumPrefix(float)])
def test_reductions_work_on_the_type_they_are_made_for(operator):
    result = ascend.run(Machine("hypercube:6"), operator, values=lambda i: np.sin(i))
    assert result.correct
    assert result.values.dtype in (np.float64, np.float32)


def test_values_that_do_not_fit_the_type_are_refused():
    with pytest.raises(UsageError, match="sum works on int64; values of type float64"):
        ascend.run(Machine("hypercube:3"), "sum", values=lambda i: i / 2)


def test_draws_depend_on_seed_and_number_only():
    for name in OPERATORS:
        operator = open_operator(name)
        whole = operator.draw(7, 5, np.arange(32))
        some = np.array([31, 4, 4, 17])
        assert (operator.draw(7, 5, some) == whole[some]).all()
        assert (operator.draw(8, 5, np.arange(32)) != whole).any()


def test_a_wrong_result_is_noticed():
    class Wrong(Sum):
        def oper(self, j, i, low, high):
            total = low + high
            return total, total + (i == 2)

    assert not ascend.run(Machine("hypercube:3"), Wrong()).correct


def test_a_float_that_is_off_by_more_than_the_tolerance_is_noticed():
    class Rough(Sum):
        tolerance = 1e-3

        def oper(self, j, i, low, high):
            total = low + high
            return total * self.off, total

    for off, correct in ((1.0001, True), (1.01, False), (np.nan, False)):
        operator = Rough(float)
        operator.off = off
        assert ascend.run(Machine("hypercube:3"), operator).correct == correct


def test_an_operator_may_swap_or_change_the_arrays_it_is_given():
    class Swap(Operator):
        name = "reversal"

        def oper(self, j, i, low, high):
            return high, low

        def expected(self, values):
            return values[::-1]

    class InPlace(Sum):
        def oper(self, j, i, low, high):
            low += high
            return low, low

    for operator in (Swap(), InPlace()):
        for kind in KINDS:
            assert ascend.run(Machine("hypercube:6"), operator, kind).correct


def test_pieces_of_a_large_dimension_make_no_difference(monkeypatch):
    whole = ascend.run(Machine("hypercube:7"), "prefix").values
    monkeypatch.setattr(pairs, "PIECE", 8)
    in_pieces = ascend.run(Machine("hypercube:7"), "prefix").values
    assert (whole == in_pieces).all()


def test_an_operator_that_overrides_the_rule_of_one_with_a_loop_is_obeyed():
    class Largest(Minimum):
        def oper(self, j, i, low, high):
            return np.maximum(low, high), np.maximum(low, high)

    result = ascend.run(Machine("hypercube:5"), Largest(), values=lambda index: index)
    assert set(result.values.tolist()) == {31}


@pytest.mark.parametrize(
    ("name", "kind"),
    [("prefix", "descend"), ("bitonic-sort", "ascend"), ("bitonic-merge", "ascend")],
)
def test_an_operator_without_the_form_says_which_it_has(name, kind):
    with pytest.raises(UsageError, match=f"{name} has no {kind} form; it has: "):
        open_operator(name).passes(kind, 4)


def test_an_unknown_operator_gets_a_sentence():
    with pytest.raises(UsageError, match="no operator 'bitonicsort': did you mean bitonic-sort"):
        open_operator("bitonicsort")


def test_an_unknown_kind_gets_a_sentence():
    with pytest.raises(UsageError, match="no pass of kind 'sideways': give ascend or descend"):
        ascend.run(Machine("hypercube:3"), "sum", "sideways")


def test_a_pass_outside_of_the_dimensions_is_refused():
    class TooFar(Sum):
        def passes(self, kind, q):
            return [Pass(kind, 0, q + 1, self.oper)]

    with pytest.raises(UsageError, match=r"'ascend', 0, 4\): .* within 0\.\.3"):
        ascend.run(Machine("hypercube:3"), TooFar())


def test_states_of_any_fixed_size_travel_as_words():
    for dtype in (np.int8, np.float32, complex, "S5", [("a", "i2"), ("b", "f8", 3)]):
        state = np.zeros(4, dtype)
        state.view(np.uint8)[:] = np.arange(state.nbytes) % 251
        assert from_words(as_words(state), state.dtype).tobytes() == state.tobytes()


def test_objects_cannot_be_elements():
    class Objects(Sum):
        dtype = np.dtype(object)

        def __init__(self):
            pass

    with pytest.raises(UsageError, match="works on Python objects"):
        ascend.run(Machine("hypercube:3"), Objects())


@pytest.mark.parametrize("kind", KINDS)
def test_cyclic_shift_by_any_number(kind):
    x = np.arange(16) * 7
    for by in range(-17, 34):
        y = by_definition(open_operator(f"shift:{by}"), kind, 4, x)
        assert [y[(i + by) % 16] for i in range(16)] == x.tolist()


@pytest.mark.parametrize(("name", "turn"), [("shuffle", 1), ("unshuffle", -1)])
def test_shuffles_rotate_the_bits_of_addresses(name, turn):
    y = by_definition(open_operator(name), "ascend", 5, np.arange(32) + 100)
    for i in range(32):
        bits = f"{i:05b}"
        assert y[int(bits[turn:] + bits[:turn], 2)] == i + 100


@pytest.mark.parametrize(("rows", "columns"), [(1, 32), (2, 16), (4, 8), (8, 4), (16, 2), (32, 1)])
def test_matrices_that_are_not_square_are_transposed_by_shuffles(rows, columns):
    operator = open_operator(f"transpose:{rows}x{columns}")
    y = by_definition(operator, "ascend", 5, np.arange(32))
    assert [y[c * rows + r] for r in range(rows) for c in range(columns)] == list(range(32))
    assert len(operator.passes("ascend", 5)) == 2 * (rows.bit_length() - 1)


def test_a_square_matrix_is_transposed_by_two_passes():
    sweeps = open_operator("transpose").passes("ascend", 6)
    assert [(s.kind, s.low, s.high) for s in sweeps] == [("ascend", 0, 6), ("descend", 0, 3)]
    y = by_definition(open_operator("transpose:8x8"), "ascend", 6, np.arange(64))
    assert [y[c * 8 + r] for r in range(8) for c in range(8)] == list(range(64))


@pytest.mark.parametrize("kind", KINDS)
def test_odd_even_merge_takes_any_two_ascending_halves(kind):
    operator = open_operator("odd-even-merge")
    for zeros in range(9):
        for others in range(9):
            halves = [0] * zeros + [1] * (8 - zeros) + [0] * others + [1] * (8 - others)
            merged = by_definition(operator, kind, 4, np.array(halves))
            assert merged.tolist() == sorted(halves)


def test_odd_even_merge_draws_two_ascending_halves():
    values = drawn(open_operator("odd-even-merge"), 6)
    assert (np.diff(values[:32]) > 0).all()
    assert (np.diff(values[32:]) > 0).all()


OWN = """
import numpy as np
from mpinet.programs.operators import Operator

class Product(Operator):
    def oper(self, j, i, low, high):
        product = low * high % 97
        return product, product

    def expected(self, values):
        result = 1
        for value in values.tolist():
            result = result * value % 97
        return np.full(len(values), result)

class Power(Product):
    def __init__(self, modulus=97):
        self.name = f"power modulo {modulus}"

    @classmethod
    def read(cls, text):
        return cls(int(text)) if text else cls()

class Failing(Product):
    @classmethod
    def read(cls, text):
        raise KeyboardInterrupt(text)

class Blank(Operator):
    pass

class Unchecked(Operator):
    def oper(self, j, i, low, high):
        return high, low

class Stranger:
    pass
"""


@pytest.fixture
def own(tmp_path, monkeypatch):
    (tmp_path / "ownoperators.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "ownoperators.py"


def test_an_operator_of_the_users_own_comes_from_a_file_or_a_module(own):
    for place in (str(own), "ownoperators.py", "ownoperators"):
        result = ascend.run(Machine("gmn:32"), f"{place}:Product")
        assert (result.operator, result.correct, result.steps) == ("Product", True, 21)
    assert open_operator("ownoperators:Power:11").name == "power modulo 11"


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("nowhere.py:Product", "There is no operator 'nowhere.py:Product': There is no file"),
        ("nowhere:Product", "There is no operator 'nowhere:Product': There is no module"),
        ("ownoperators.py:Sum", "ownoperators.py has no class 'Sum'"),
        ("ownoperators:Stranger", "ownoperators:Stranger must be a subclass"),
        ("ownoperators:Blank", "ownoperators:Blank lacks the rule 'oper'"),
        ("ownoperators:Unchecked", "ownoperators:Unchecked lacks the serial computation"),
        ("ownoperators:Product:3", "The operator Product takes no parameters: '3' is given"),
        ("ownoperators:Power:x", "ownoperators:Power could not be made"),
        ("sum:3", "The operator sum takes no parameters: '3' is given"),
        ("shift:x", "shift:'x': give a whole number"),
        ("transpose:8", "transpose:'8': give rows x columns"),
    ],
)
def test_what_is_no_operator_gets_a_sentence(own, name, sentence):
    with pytest.raises(UsageError) as error:
        open_operator(name)
    assert str(error.value).startswith(sentence)


def test_an_operator_s_class_that_fails_is_named_with_its_line(own):
    sentence = r"Failing could not be made: .*ownoperators.py:\d+: KeyboardInterrupt: hard"
    with pytest.raises(RuleError, match=sentence):
        open_operator("ownoperators:Failing:hard")


def test_a_matrix_of_another_size_is_refused():
    with pytest.raises(UsageError, match="transpose:4x8 needs 32 elements, not 16"):
        ascend.run(Machine("ring:16"), "transpose:4x8")
