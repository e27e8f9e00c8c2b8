"""Certificates as theorems: Coq's kernel accepts them from the machine's definition alone."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import mpinet
from mpinet.cli.session import CommandSession
from mpinet.errors import CertificateError

PROOFS = Path(__file__).parents[2] / "proofs"

K39 = "".join(f"{u} {v}\n" for u in range(3) for v in range(3, 12))

BOUNDS = {
    "ways": ("mesh:7", {}, 5),
    "front": ("mesh:3x3", {"items": 7, "root": 4, "ports": "all"}, 4),
    "back": ("debruijn:3", {"collective": "scatter", "ports": "all"}, 3),
    "home": ("fattree:2,2", {"collective": "gather"}, 4),
    "pieces": ("shuffleexchange:3", {"collective": "gossip"}, 8),
    "parallel": ("dgx1", {"collective": "gossip", "items": 6, "ports": "all"}, 6),
    "busses": ("lens:2,3,3", {}, 4),
    "switches": ("roadrunner:3,2,3", {}, 10),
    "weights": ("graph:k39.edges", {"collective": "gossip"}, 32),
    "combined": ("shuffleexchange:3", {"collective": "reducescatter"}, 8),
    "turned": ("roadrunner:3,2,3", {"collective": "reduce"}, 10),
    "summed": ("mesh:3x3", {"collective": "reduce", "items": 7, "root": 4, "ports": "all"}, 4),
    "entered": ("mesh:2x3", {"collective": "exchange", "ports": "all"}, 3),
    "everyone": ("fattree:2,2", {"collective": "allreduce", "items": 4, "ports": "all"}, 6),
    "gated": ("fattree:2,2", {"collective": "exchange"}, 9),
    "many": ("mesh:5", {"collective": "exchange", "items": 2}, 23),
}
"""Networks, what is asked, and the steps that are too few, where pages and counts say them."""


ENOUGH = r"""
Definition pair := links 2 2 [(0, 1, 1); (1, 0, 1)].
Definition there := Channel 0 [1] 0.
Definition back := Channel 1 [0] 1.

Ltac few v := unfold counted, hears; cbn -[N.eqb room];
  destruct (N.eqb_spec 0 v) as [<-|]; [vm_compute; discriminate|];
  destruct (N.eqb_spec 1 v) as [<-|]; [vm_compute; discriminate|];
  rewrite ?(N.eqb_sym v), ?(proj2 (N.eqb_neq 0 v)), ?(proj2 (N.eqb_neq 1 v)) by assumption;
  cbn -[N.eqb room]; first [apply N.le_0_l | lia].
Ltac which v := assert (v = 0 \/ v = 1) as [-> | ->] by lia.

Goal combines pair One (reduce 0 1) [[Message back 0 [0]]].
Proof.
  split; [constructor; [|constructor]; split; [|split]|].
  - intros m [<-|[]]. split; [vm_compute; auto|apply incl_refl].
  - intros c. few c.
  - intros _ v. split; few v.
  - intros v i hv hi _. simpl in *. assert (i = 0) as -> by lia. which v; reflexivity.
Qed.

Goal does pair One (exchange pair 1) [[Message there 1 [1]; Message back 2 [0]]].
Proof.
  split; [split; [split; [|split]|exact I]|].
  - intros m [<-|[<-|[]]]; (split; [vm_compute; auto|split; [apply incl_refl|reflexivity]]).
  - intros c. few c.
  - intros _ v. split; few v.
  - intros v i hv hi need. simpl in *. which v;
      assert (i = 0 \/ i = 1 \/ i = 2 \/ i = 3) as [-> |[-> |[-> | ->]]] by lia;
      trivial; discriminate.
Qed.
"""
"""Schedules of two processors, so that what theorems speak of is there."""


def exported(folder, name):
    """The theorem that a search's certificate becomes."""
    network, asked, steps = BOUNDS[name]
    file = folder / f"{name}.cert"
    mpinet.optimum(network, save=file, **asked)
    found = mpinet.certify(file, on=network, export=folder / f"{name}.v")
    assert found["more_than"] == steps
    return (folder / f"{name}.v").read_text()


def same_formula(file, steps, links):
    """A second theorem: the formula that Coq writes is that of the DIMACS file."""
    mpinet.certify(file, export=file.with_suffix(".cnf"))
    _, *lines = file.with_suffix(".cnf").read_text().splitlines()
    clauses = "; ".join(f"[{'; '.join(line.split()[:-1])}]" for line in lines)
    asked = f"numbered net 0 {steps}%nat away {str(links).lower()}"
    return f"Goal {asked} = [{clauses}]%Z. vm_compute. reflexivity. Qed.\n"


COQC = shutil.which("coqc")
"""Coq's compiler; the tests that ask it are there where it is."""

if COQC:

    @pytest.fixture(scope="module")
    def accepted(tmp_path_factory):
        """Compile a file beside the proofs; what Coq says, and whether it is content."""
        folder = tmp_path_factory.mktemp("proofs")

        def compiled(name, text):
            (folder / f"{name}.v").write_text(text)
            words = [COQC, "-q", "-R", str(folder), "Mpinet", str(folder / f"{name}.v")]
            done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
            return done.returncode == 0, done.stdout + done.stderr

        for each in ("Machine", "Cuts", "Ways", "Reversal", "Formula"):
            content, said = compiled(each, (PROOFS / f"{each}.v").read_text())
            assert content, said
        return compiled

    @pytest.mark.first
    @pytest.mark.parametrize(
        "names",
        [
            ["pieces", "busses", "combined", "entered", "everyone"],
            pytest.param([*BOUNDS], marks=pytest.mark.long),
        ],
    )
    def test_coq_proves_what_was_certified_and_no_more(names, accepted, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        Path("k39.edges").write_text(K39)
        theorems = {name: exported(tmp_path, name) for name in names}
        same = {}
        for name in {"busses", "switches"} & {*names}:
            same[name] = same_formula(
                tmp_path / f"{name}.cert", BOUNDS[name][2], name == "switches"
            )
        parts = [
            f"Module {name}.\n{text}\n{same.get(name, '')}End {name}."
            for name, text in theorems.items()
        ]
        opening = "From Mpinet Require Import Machine Cuts.\n"
        content, said = accepted("Bounds", "\n".join([opening, ENOUGH, *parts]))
        assert content, said
        assert said.count("Closed under the global context") == len(names)
        forged = []
        for name, text in theorems.items():
            stated = re.search(r"(\d+)%nat", text)
            more = f"{int(stated[1]) + 1}%nat"
            forged.append((f"{name}_later", text.replace(stated[0], more)))
        for name in {"busses", "switches"} & {*names}:
            shorter = re.sub(r"; \d+\]%positive\n\]", "]%positive\n]", theorems[name])
            assert shorter != theorems[name]
            forged.append((f"{name}_hint", shorter))
        for name, old, new in [
            ("pieces", "(7, 6, 1)]", "(7, 6, 1); (2, 0, 1)]"),
            ("parallel", ", 2)", ", 3)"),
            ("combined", "(6, 7, 1)]", "(6, 7, 1); (0, 2, 1)]"),
            ("entered", "(4, 3, 1)", "(4, 3, 2)"),
            ("entered", "; (6, 1);", "; (6, 2);"),
            (
                "weights",
                "sends := in_step net (table 0 [(0, 1",
                "sends := in_step net (table 0 [(0, 0",
            ),
        ]:
            if name in names:
                wrong = theorems[name].replace(old, new)
                assert wrong != theorems[name]
                forged.append((f"{name}_{len(forged)}", wrong))
        refused = "\n".join(
            f"Module {name}.\n{text.replace('true). Qed.', 'true). Fail Qed. Abort.')}\nEnd {name}."
            for name, text in forged
        ).replace("Print Assumptions bound.", "")
        assert refused.count("Fail Qed.") == len(forged)
        content, said = accepted("Forged", refused)
        assert content, said


def test_a_certificate_without_a_theorem_is_not_exported(tmp_path, capsys):
    asked = {
        "sums": (
            "ring:6",
            {"collective": "allreduce", "items": 12},
            "hops of allreduce. is not based on cuts",
        ),
        "classes": ("debruijn:3", {}, "class-lp of broadcast. is not based on cuts"),
        "halves": ("petersen", {"collective": "bisection"}, "theorems are about steps"),
        "busses": ("lens:2,3,3", {"collective": "gossip"}, "cut of gossip. is not based on cuts"),
    }
    for name, (network, others, sentence) in asked.items():
        file = tmp_path / f"{name}.cert"
        mpinet.optimum(network, save=file, **others)
        with pytest.raises(CertificateError, match=sentence):
            mpinet.certify(file, export=tmp_path / "x.v")
        assert not (tmp_path / "x.v").exists()
    assert CommandSession(["certify", str(file), "--export", str(tmp_path / "x.pdf")]).run() == 2
    assert "must end in .cnf or .lp or .opb or .v" in capsys.readouterr().err
