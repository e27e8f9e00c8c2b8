"""What `mpinet doctor --compile` compiles beforehand: all that can be, into the cache."""

import ast
import re
from pathlib import Path

from trees import tree_of

import mpinet
import mpinet.compiled
from mpinet.base.native.kept import Kept
from mpinet.launching import compiling
from mpinet.launching.compiling import codes, compile_all, everything
from mpinet.machine.router import Router
from mpinet.networks.catalogue import FAMILIES
from mpinet.programs.patterns import pattern_of

FOURIER = "mpinet.programs.operators.fourier"
PACKAGE = Path(mpinet.__file__).parent


def decorated() -> set[str]:
    """The kernels in the sources, as ``module:name``."""
    found = set()
    for path in PACKAGE.rglob("*.py"):
        module = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
        for node in tree_of(path.read_text()).body:
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


def test_keys_of_codes_are_unique_and_name_what_any_python_names_so():
    keys = [key for name in everything() for key in codes(name)]
    assert len(set(keys)) == len(keys)
    assert "family:hypercube Hypercube.neighbor" in keys
    assert "mpinet.compiled:map_rule map_rule" in keys
    assert not any(re.search(r"[0-9a-f]{16}|0x|<", key) for key in keys)


def test_what_jobs_ask_for_beside_kernels_and_default_routings_is_listed():
    listed = {code.fingerprint for name in everything() for code in codes(name).values()}
    torus, product = mpinet.open("torus:9x5"), mpinet.open("ring:7*mesh:2x4")
    of_hosts = mpinet.open("torus:4x7,hosts=3")
    for topology in (torus, product, of_hosts):
        for name in ("valiant", "updown", "ugal-l", "ugal-g", "polarized"):
            routing = topology.routing(name)
            wanted = [routing.start, routing.decide, routing.choose, topology.neighbor.rule]
            assert {rule.fingerprint for rule in wanted} <= listed, (topology.name, name)
    for text in ("transpose", "mix:uniform@0.2+tornado", "groups:neighbour@4+uniform"):
        assert pattern_of(mpinet.open("torus:4x4"), text).rule.fingerprint in listed
    for loads in (False, True):
        machine = mpinet.Machine("hypercube:6", "all", loads=loads)
        loops = Router(machine, machine.topology.routing()).inlining()
        assert {loop.fingerprint for loop in loops} <= listed


def test_what_is_kept_is_not_compiled_again_and_errors_are_told(monkeypatch, tmp_path):
    monkeypatch.setenv("MPINET_CACHE", str(tmp_path))
    own = Kept()
    monkeypatch.setattr(compiling, "kept", lambda: own)
    monkeypatch.setattr(compiling.WATCH, "has", lambda code: own.has(code.fingerprint))
    told = []
    names = ["mpinet.compiled:map_rule", "family:star", "mpinet.compiled:nothing"]
    wrong = compile_all(names, 1, lambda done, of: told.append((done, of)))
    assert wrong.startswith("mpinet.compiled:nothing: AttributeError") and ";" not in wrong
    star = codes("family:star")
    count = 1 + len(star)
    assert told == [(done, count) for done in range(count + 1)]
    own.look()
    kept = {path.stem for path in own.folder.glob("*.o")}
    assert kept == {code.fingerprint for code in [*star.values(), mpinet.compiled.map_rule]}
    told.clear()
    assert compile_all(names[:2], 1, lambda done, of: told.append((done, of))) == ""
    assert told == [(0, 0)]
