"""Small faults are planted in the machine and its programs, and the tests have to notice them.

A seeded sample of cosmic-ray's mutants, each tried by its room's tests in plain Python on one rank.
"""

import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cosmic_ray.ast import ast_nodes, get_ast_from_path
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator

CHECKOUT = Path(__file__).resolve().parents[2]

OPERATORS = """ReplaceBinaryOperator_Add_Sub ReplaceBinaryOperator_Sub_Add
ReplaceBinaryOperator_Mul_Add ReplaceBinaryOperator_BitAnd_BitOr ReplaceBinaryOperator_BitXor_BitOr
ReplaceComparisonOperator_Eq_NotEq ReplaceComparisonOperator_NotEq_Eq
ReplaceComparisonOperator_Lt_LtE ReplaceComparisonOperator_LtE_Lt ReplaceComparisonOperator_Gt_GtE
ReplaceComparisonOperator_GtE_Gt AddNot ReplaceTrueWithFalse ReplaceFalseWithTrue ReplaceAndWithOr
ReplaceOrWithAnd ReplaceBreakWithContinue ReplaceContinueWithBreak NumberReplacer""".split()

MACHINE = ["step", "violations", "router", "swap", "meters"]
"""The tests of tests/mpi/machine that everything in the machine is tried by."""

MODULES = """arbitration beep deliveries enforcement hop injected local_broadcast meters plan router
step swap""".split()

PROGRAMS = "ascend exchange flood gossip route scatter".split()

TRIED = {
    **{f"machine/{name}": [f"mpi/machine/test_{one}.py" for one in MACHINE] for name in MODULES},
    **{f"programs/{name}": [f"mpi/programs/test_{name}.py"] for name in PROGRAMS},
}
"""What faults are planted in, and the tests that it is tried by."""

MUTANTS = 40
"""So many are tried, or as many as fit into the time."""

SECONDS = 480

NOTICED = 0.75
"""The share that has to be noticed: it may rise, never fall. Of a whole sample 33 of 40 were. The
rest changed nothing but speed (when loops are inlined, how arrays grow), or was in code that one
rank does not reach (leaving messages, blocks on several ranks)."""


def candidates(package: Path) -> list[tuple[str, str, int]]:
    """All mutants: (module, operator, which of its places)."""
    found = []
    for module in sorted(TRIED):
        nodes = list(ast_nodes(get_ast_from_path(package / f"{module}.py")))
        for name in OPERATORS:
            operator = get_operator(f"core/{name}")()
            places = sum(1 for node in nodes for _ in operator.mutation_positions(node))
            found += [(module, name, place) for place in range(places)]
    return found


def passes(copy: Path, module: str, limit: float) -> bool:
    """Whether the module's tests pass within a number of seconds."""
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(copy)}
    command = [sys.executable, "tests/rankmain.py", "-qx", "-p", "no:cacheprovider", "--with-mpi"]
    tests = [f"tests/{name}" for name in TRIED[module]]
    try:
        done = subprocess.run(
            [*command, *tests], cwd=copy, env=environment, capture_output=True, timeout=limit
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


@pytest.mark.long
def test_most_small_faults_are_noticed(tmp_path: Path) -> None:
    for folder in ("mpinet", "tests"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(CHECKOUT / folder, tmp_path / folder, ignore=ignored)
    shutil.copy(CHECKOUT / "pyproject.toml", tmp_path)
    chosen = random.Random(13).sample(candidates(tmp_path / "mpinet"), MUTANTS)
    begun, usual, survivors, tried = time.monotonic(), {}, [], 0
    for module, name, place in chosen:
        tests = tuple(TRIED[module])
        if tests not in usual:
            start = time.monotonic()
            assert passes(tmp_path, module, SECONDS), f"{module}: its tests fail without a fault"
            usual[tests] = time.monotonic() - start
        left = SECONDS - (time.monotonic() - begun)
        if left < 2 * usual[tests]:
            continue
        file = tmp_path / "mpinet" / f"{module}.py"
        source = file.read_text()
        file.write_text(mutate_code(source, get_operator(f"core/{name}")(), place))
        if passes(tmp_path, module, min(left, 5 * usual[tests])):
            survivors.append(f"{module} {name} {place}")
        file.write_text(source)
        tried += 1
    print(
        f"{tried - len(survivors)} of {tried} small faults are noticed; not:", *survivors, sep="\n"
    )
    assert tried >= 10, "too slow a machine: few faults could be tried"
    assert len(survivors) <= (1 - NOTICED) * tried, survivors
