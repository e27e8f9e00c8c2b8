"""The benchmark of MPI bugs: its programs state what they should, and right programs run well."""

import ast
import io
import re
import runpy
from pathlib import Path

import bugbench
import pytest
from bugbench import (
    CATEGORIES,
    FAILED,
    MARKS,
    NAMED,
    RULES,
    SECTIONS,
    SEVERITIES,
    SILENT,
    Outcome,
    Program,
    Run,
)

import mpinet
from mpinet.mpi.script import ScriptOptions, run_script

PROGRAMS = bugbench.programs()
WRONG = [program for program in PROGRAMS if program.wrong]
RIGHT = [program for program in PROGRAMS if not program.wrong]

IN_PROCESS = ("struct_order", "tested_once", "group_kept", "rows_and_columns", "store_while_posted")
"""Right programs with derived datatypes, requests, groups, communicators and windows."""


def named(program: Program) -> str:
    return program.name


def test_there_are_sixty_pairs_of_a_wrong_and_a_right_program() -> None:
    assert len(WRONG) == 60
    assert [program.pair for program in WRONG] == [program.pair for program in RIGHT]
    assert {*PROGRAMS} == {*WRONG, *RIGHT}


def test_both_programs_of_a_pair_differ_in_their_calls_and_agree_on_their_category() -> None:
    for wrong, right in zip(WRONG, RIGHT, strict=True):
        facts = [(p.category, p.section, p.processors, p.options) for p in (wrong, right)]
        assert facts[0] == facts[1], wrong.pair
        assert code_of(wrong) != code_of(right), wrong.pair


def code_of(program: Program) -> str:
    """The program without docstring and comments."""
    return ast.unparse(ast.parse(program.path.read_text()).body[1:])


def test_each_rule_and_each_category_has_programs() -> None:
    assert {program.rule for program in WRONG} == {*RULES}
    assert {program.category for program in WRONG} == {*CATEGORIES}
    assert {program.section for program in WRONG} == {*SECTIONS}
    assert {program.severity for program in WRONG} == {*SEVERITIES}


@pytest.mark.parametrize("program", PROGRAMS, ids=named)
def test_the_facts_of_a_program_are_valid(program: Program) -> None:
    text = program.path.read_text()
    assert program.section in SECTIONS
    assert re.fullmatch(r"([1-9]|1\d)(\.[1-9]\d?){1,2}", program.section)
    assert 2 <= program.processors <= 4
    assert program.title.endswith(".") and program.reason.endswith(".")
    assert 10 <= len(text.splitlines()) <= 40
    if program.wrong:
        assert 1 <= len(program.marks) <= len(MARKS)
        assert text.count("  # ") == sum(map(len, program.marks))
        assert program.rule not in program.also and {*program.also} <= {*RULES}
    else:
        assert (program.rule, program.severity, program.also) == ("", "", ())
        assert "#" not in code_of(program) and not program.marks


@pytest.mark.parametrize("pair", IN_PROCESS)
def test_a_right_program_runs_well(pair: str) -> None:
    (program,) = (one for one in RIGHT if one.pair == pair)
    machine = mpinet.Machine(mpinet.open(f"complete:{program.processors}"), "all")
    outcome = run_script(machine, program.path, ScriptOptions(out=io.StringIO()))
    assert outcome.unreceived == 0


RESULTS = bugbench.results()

EMULATED = [name for name in ("mpinet", "checked") if name in RESULTS]
"""Ways of `mpinet exec` with recorded outcomes: without and with `--check`."""


@pytest.mark.long
@pytest.mark.parametrize("name", EMULATED)
@pytest.mark.parametrize("program", RIGHT, ids=named)
def test_every_right_program_runs_well(program: Program, name: str) -> None:
    ended = bugbench.run(bugbench.emulator(check=name == "checked"), program, 60)
    assert bugbench.judged(program, ended) == Outcome(SILENT, 0, "ended"), ended


@pytest.mark.long
@pytest.mark.parametrize("program", RIGHT, ids=named)
def test_a_right_program_needs_no_buffer_space(program: Program) -> None:
    tool = bugbench.emulator()
    tool.between += ["--sends", "synchronous"]
    ended = bugbench.run(tool, program, 60)
    assert bugbench.judged(program, ended) == Outcome(SILENT, 0, "ended"), ended


@pytest.mark.long
@pytest.mark.parametrize("name", EMULATED)
@pytest.mark.parametrize("program", WRONG, ids=named)
def test_a_wrong_program_has_the_outcome_of_the_page(program: Program, name: str) -> None:
    ended = bugbench.run(bugbench.emulator(check=name == "checked"), program, 60)
    recorded = RESULTS[name]["outcomes"][program.name]
    assert vars(bugbench.judged(program, ended)) == recorded, "run tests/bugbench.py"


def test_the_page_shows_the_outcomes() -> None:
    made = runpy.run_path(str(Path(__file__).parents[2] / "docs/_extensions/mpibugs.py"))
    assert made["page"]() == made["PAGE"].read_text(), "run docs/_extensions/mpibugs.py"


def test_every_tool_ran_every_program_and_right_programs_run_well_under_real_libraries() -> None:
    assert RESULTS.keys() >= {"mpich", "mpinet", "openmpi"}
    for name, entry in RESULTS.items():
        assert entry["outcomes"].keys() == {program.name for program in PROGRAMS}, name
        assert re.fullmatch(r"\d+(\.\w+)+", entry["version"])
        assert entry["scores"] == bugbench.scores(entry["outcomes"])
    for name in ("mpich", "openmpi"):
        outcomes = [RESULTS[name]["outcomes"][program.name] for program in RIGHT]
        assert {one["outcome"] for one in outcomes} == {SILENT}


TRACEBACK = """\
  File "/x/{name}.py", line {line}, in <module>
    request.Wait()  # second
mpi4py.MPI.Exception: MPI_ERR_TRUNCATE: message truncated
"""


def judged(program: Program, errors: str = "", output: str = "", end: str = "status 1") -> Outcome:
    return bugbench.judged(program, Run(output, errors, end))


def test_a_message_names_a_mistake_by_its_kind_and_a_line() -> None:
    (program,) = (one for one in WRONG if one.pair == "column_truncated")
    first, second = (min(mark) for mark in program.marks)
    text = TRACEBACK.format(name=program.name, line=second)
    assert judged(program, text) == Outcome(NAMED, 1, "status 1")
    assert judged(program, f"{text}{program.name}.py:{first}") == Outcome(NAMED, 2, "status 1")
    other_line = TRACEBACK.format(name=program.name, line=second + 1)
    assert judged(program, other_line) == Outcome(FAILED, 0, "status 1")
    other_kind = text.replace("MPI_ERR_TRUNCATE: message truncated", "MPI_ERR_OTHER")
    assert judged(program, other_kind) == Outcome(FAILED, 0, "status 1")


def test_source_lines_and_names_of_programs_do_not_state_a_mistake() -> None:
    (program,) = (one for one in WRONG if one.pair == "alltoall_overlap")
    (line,) = program.marks[0]
    text = f'  File "/x/{program.name}.py", line {line}\n    invalid buffers overlap\nError\n'
    assert judged(program, text).outcome == FAILED
    assert judged(program, text, end="ended").outcome == SILENT


def test_findings_count_by_their_rule_and_places() -> None:
    (program,) = (one for one in WRONG if one.pair == "complex_as_floats")
    places = [f"{program.name}.py:{min(mark)}" for mark in program.marks]
    document = '{"result": {"findings": [{"rule": "%s", "severity": "error", "places": ["%s"]}]}}'
    right = document % ("types", '", "'.join(places))
    assert judged(program, output=right, end="status 3") == Outcome(NAMED, 2, "status 3", 1)
    one_line = document % ("types", places[0])
    assert judged(program, output=one_line, end="ended") == Outcome(NAMED, 1, "ended", 1)
    for other in (document % ("handles", places[0]), one_line.replace("error", "warning")):
        assert judged(program, output=other, end="ended") == Outcome(SILENT, 0, "ended", 1)


def test_scores_count_named_mistakes_lines_and_right_programs_that_fail() -> None:
    silent = {program.name: vars(Outcome(SILENT, 0, "ended")) for program in PROGRAMS}
    assert vars(bugbench.score(silent)) == {
        "wrong": 60, "named": 0, "helpful": 0, "failed": 0, "silent": 60, "false": 0,
    }  # fmt: skip
    by_length = {len(program.marks): program.name for program in WRONG}
    some = silent | {
        by_length[1]: vars(Outcome(NAMED, 1, "status 3")),
        by_length[2]: vars(Outcome(NAMED, 1, "status 3")),
        WRONG[0].name: vars(Outcome(FAILED, 0, "hangs")),
        RIGHT[0].name: vars(Outcome(SILENT, 0, "ended", findings=1)),
    }
    score = bugbench.score(some)
    assert (score.named, score.helpful, score.failed, score.false) == (2, 1, 1, 1)
    assert (score.recall, score.precision, score.helpfulness) == (2 / 60, 3 / 4, 1 / 60)


def test_the_recorded_checks_name_95_percent_of_the_mistakes_and_no_right_program() -> None:
    score = bugbench.score(bugbench.results()["checked"]["outcomes"])
    assert score.recall >= 0.95 and score.false == 0
