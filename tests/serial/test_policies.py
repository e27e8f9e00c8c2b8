"""Policies agree with the code: versions, deprecated names, forms for issues, and the workflow."""

import json
import re
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from mpinet.cli import main

CHECKOUT = Path(__file__).resolve().parents[2]
SETTINGS = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())
FORMS = sorted((CHECKOUT / ".github/ISSUE_TEMPLATE").glob("*.yml"))
WORKFLOWS = {path.stem: path for path in (CHECKOUT / ".github/workflows").glob("*.yml")}
POLICIES = (CHECKOUT / "docs/contract.md").read_text().partition("\n## 10. ")[2]

FIELDS = {
    "markdown": {"value"},
    "textarea": {"label", "description", "render"},
    "dropdown": {"label", "options"},
}
"""Kinds of fields in the forms, and the attributes that the forms use."""

WARNING = re.compile(r"\b(?:Pending)?(?:DeprecationWarning|FutureWarning)\b")


def read(path: Path) -> dict:
    """A file of YAML. Its key `on` is the value True in YAML 1.1."""
    return yaml.safe_load(path.read_text())


def wrong(form: dict) -> list[str]:
    """The faults of a form for issues."""
    faults = [f"no {key}" for key in ("name", "description", "body") if not form.get(key)]
    ids = [field["id"] for field in form["body"] if field["type"] != "markdown"]
    faults += [f"twice {name}" for name in set(ids) if ids.count(name) > 1]
    for field in form["body"]:
        allowed = FIELDS.get(field["type"], set())
        faults += [f"unknown {key}" for key in field["attributes"].keys() - allowed]
        if "options" in field["attributes"]:
            options = field["attributes"]["options"]
            faults += [f"no text {option}" for option in options if not isinstance(option, str)]
    return faults


@pytest.mark.parametrize("form", [form for form in FORMS if form.stem != "config"], ids=str)
def test_the_forms_for_issues_can_be_read(form: Path) -> None:
    assert wrong(read(form)) == []


def test_a_wrong_form_is_found() -> None:
    field = {"type": "dropdown", "id": "ranks", "attributes": {"options": [True], "words": 1}}
    found = wrong({"name": "Bug", "description": "", "body": [field, field]})
    assert found[:2] == ["no description", "twice ranks"]
    assert {*found[2:]} == {"unknown words", "no text True"}


def test_there_are_forms_for_bugs_features_and_wrong_results() -> None:
    forms = {form.stem: form.read_text() for form in FORMS}
    assert forms.keys() == {"bug", "config", "feature", "wrong-result"}
    assert "mpinet doctor" in forms["bug"] and "mpinet doctor" in forms["wrong-result"]
    assert "SECURITY.md" in forms["bug"]


@pytest.mark.parametrize("name", ["SECURITY.md", "CODE_OF_CONDUCT.md"])
def test_a_page_names_the_maintainers_and_no_address(name: str) -> None:
    text = (CHECKOUT / name).read_text()
    assert "the maintainers of the repository" in text.lower()
    assert "@" not in text and "http" not in text


def stated() -> list[str]:
    """The versions of Python that the classifiers state."""
    lines = "\n".join(SETTINGS["project"]["classifiers"])
    return re.findall(r"^Programming Language :: Python :: (3\.\d+)$", lines, re.MULTILINE)


def test_the_workflow_runs_what_ci_runs_with_each_stated_version_of_python() -> None:
    workflow = read(WORKFLOWS["tests"])
    assert {"push", "pull_request"} <= workflow[True].keys()
    assert workflow["permissions"] == {"contents": "read"}
    (job,) = workflow["jobs"].values()
    cells = job["strategy"]["matrix"]["include"]
    assert [cell["python"] for cell in cells] == stated()
    assert cells[0]["arguments"] == ""
    assert "${{ matrix.python }}" in job["container"]["image"]
    commands = [step["run"] for step in job["steps"] if "run" in step]
    assert ".ci/run ${{ matrix.arguments }}" in commands
    assert (CHECKOUT / ".ci/run").stat().st_mode & 0o111


def test_a_release_is_built_twice_compared_and_attested() -> None:
    workflow = read(WORKFLOWS["release"])
    assert workflow[True]["push"] == {"tags": ["v*"]}
    assert workflow["permissions"] == {"contents": "read"}
    build, attest = workflow["jobs"]["build"], workflow["jobs"]["attest"]
    assert build["strategy"]["matrix"]["number"] == [1, 2] and "permissions" not in build
    (makes,) = (step for step in build["steps"] if "launch/release/make" in step.get("run", ""))
    address = "$GITHUB_SERVER_URL/$GITHUB_REPOSITORY"  # no address is written down
    assert makes["run"] == f'launch/release/make wheels --url "{address}"'
    others = makes["env"]["MPINET_PYTHONS"].replace("python", "").split()
    assert ["3.11", *others] == stated()
    (versions,) = (
        step["with"] for step in build["steps"] if "python-version" in step.get("with", {})
    )
    assert {*versions["python-version"].split()} == {*stated()}
    # Only the job that runs no code of the project can sign.
    assert attest["permissions"] == {"id-token": "write", "attestations": "write"}
    assert attest["needs"] == "build"
    assert [step["run"] for step in attest["steps"] if "run" in step] == [
        "diff --recursive --brief build-1 build-2"
    ]
    (signed,) = (
        step for step in attest["steps"] if "attest-build-provenance" in step.get("uses", "")
    )
    assert signed["with"] == {"subject-path": "build-1/*"}


@pytest.mark.parametrize("name", WORKFLOWS)
def test_a_workflow_names_versions_of_its_actions_and_commands_that_exist(name: str) -> None:
    for job in read(WORKFLOWS[name])["jobs"].values():
        for step in job["steps"]:
            assert "run" in step or re.fullmatch(r"actions/[\w-]+@v\d+", step["uses"])
            program = step.get("run", "").split(" ")[0]
            assert program.partition("/")[0] not in (".ci", "launch") or (
                (CHECKOUT / program).stat().st_mode & 0o111
            )


def test_the_policies_use_the_kinds_of_the_changelog() -> None:
    kinds = {kind["directory"]: kind["name"] for kind in SETTINGS["tool"]["towncrier"]["type"]}
    assert {*re.findall(r"of kind `(\w+)`", POLICIES)} == {"deprecated", "removed", "results"}
    assert f"*{kinds['results']}*" in POLICIES


def deprecations(texts: dict[str, str]) -> list[str]:
    """The files that warn about deprecated names, and fragments that announce them."""
    return [name for name, text in texts.items() if WARNING.search(text) or ".deprecated." in name]


def test_the_contract_knows_whether_a_name_is_deprecated() -> None:
    places = [*(CHECKOUT / "mpinet").rglob("*.py"), *(CHECKOUT / "docs/changes").glob("*.md")]
    found = deprecations({path.name: path.read_text() for path in places})
    assert ("No name is deprecated at present." in POLICIES) == (found == [])


def test_a_deprecated_name_is_found() -> None:
    texts = {
        "route.py": 'warnings.warn("use --pairs", FutureWarning)',
        "4.deprecated.md": "`--pattern`",
        "5.added.md": "`--pairs`",
    }
    assert deprecations(texts) == ["route.py", "4.deprecated.md"]


LINES = (
    "show ring:4",
    "broadcast torus:3x3",
    "verify GMN-C-diam",
    "replay allreduce:ring,8 --on ring:8 --time-byte 1",
)


def documents(capsys: pytest.CaptureFixture[str]) -> list[dict]:
    """The documents of some commands."""
    found = []
    for line in LINES:
        with pytest.raises(SystemExit, match=r"^0$"):
            main([*line.split(), "--json"])
        found.append(json.loads(capsys.readouterr().out))
    return found


def test_the_version_changes_no_digest(monkeypatch, capsys) -> None:
    before = documents(capsys)
    for name, module in [*sys.modules.items()]:
        if name.partition(".")[0] == "mpinet" and hasattr(module, "__version__"):
            monkeypatch.setattr(module, "__version__", "7.8.9")
    after = documents(capsys)
    assert "7.8.9" not in {each["mpinet"] for each in before}
    assert {each["mpinet"] for each in after} == {"7.8.9"}
    assert [each["digest"] for each in before] == [each["digest"] for each in after]
