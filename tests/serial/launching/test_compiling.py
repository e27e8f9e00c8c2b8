"""What `mpinet doctor --compile` compiles beforehand: all that can be, into the cache."""

import ast
from pathlib import Path

import mpinet
from mpinet.launching.compiling import compile_all, everything
from mpinet.networks.catalogue import FAMILIES

FOURIER = "mpinet.programs.operators.fourier"
PACKAGE = Path(mpinet.__file__).parent


def decorated() -> set[str]:
    """The kernels in the sources, as ``module:name``."""
    found = set()
    for path in PACKAGE.rglob("*.py"):
        module = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.FunctionDef):
                names = {getattr(each, "id", "") for each in node.decorator_list}
                found |= {f"{module}:{node.name}"} if "kernel" in names else set()
    return found


def test_every_kernel_of_the_sources_is_found_or_has_to_be_bound_first():
    names = everything()
    assert len(set(names)) == len(names)
    found = {name.partition(":")[2] for name in names}
    left_out = {name for name in decorated() if name.partition(":")[2] not in found}
    assert left_out == {f"{FOURIER}:cross_pairs", f"{FOURIER}:cross_runs"}  # have stand-ins
    assert {f"family:{family}" for family in FAMILIES} - set(names) == {"family:graph"}
    assert names[0].startswith("mpinet.machine.traffic")  # what takes longest begins first


def test_kernels_are_in_the_cache_afterwards_and_errors_are_told(monkeypatch, tmp_path):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    told = []
    names = ["mpinet.compiled:map_rule", "family:hypercube", "mpinet.compiled:nothing"]
    wrong = compile_all(names, 1, lambda done, of: told.append((done, of)))
    assert "mpinet.compiled:nothing: AttributeError" in wrong
    assert "map_rule" not in wrong and "hypercube" not in wrong
    assert told == [(1, 3), (2, 3), (3, 3)]
    kept = [path.name for path in tmp_path.rglob("*.nbi")]
    assert any("map_rule" in name for name in kept)
    assert any("Hypercube.neighbor" in name for name in kept)
