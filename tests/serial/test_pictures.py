"""Pages name their pictures with an alt text, and a command of the page makes each of them."""

import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

DOCS = Path(__file__).parents[2] / "docs"

WITH_PICTURES = (
    "how-to/compare", "how-to/draw", "how-to/notebooks", "how-to/plots", "how-to/recordings",
    "tutorials/classroom", "tutorials/how-long", "tutorials/latency-curves",
    "tutorials/own-fabric", "tutorials/own-network", "tutorials/ten-minutes",
)  # fmt: skip
"""Pages about pictures."""

DRAWN = "```\n$ mpinet draw ring:4 -o ring.svg\nring:4 in ring.svg\n```\n"


@pytest.fixture
def pictures(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The extension of Sphinx."""
    pytest.importorskip("sphinx")
    monkeypatch.setattr(sys, "path", [str(DOCS / "_extensions"), *sys.path])
    import pictures

    return pictures


@pytest.fixture
def jobs(pictures, tmp_path):
    """The jobs of a page with a given text."""

    def found(text: str):
        (tmp_path / "page.md").write_text(text)
        return [*pictures.jobs_of({"page": tmp_path / "page.md"}).values()]

    return found


def test_a_command_of_the_page_makes_its_picture(pictures, jobs):
    (job,) = jobs(f"{DRAWN}\n![A ring of four](ring.svg)\n")
    assert job["step"] == "mpinet draw ring:4 -o ring.svg"
    (made,) = pictures.make(job).values()
    assert pictures.b64decode(made).startswith(b"<?xml") and b"<svg" in pictures.b64decode(made)


def test_a_script_makes_a_picture_with_the_files_of_the_page(pictures, jobs):
    script = "from drawn import text\nopen('made.svg', 'w').write(text)\n"
    page = f"```python\n# drawn.py\ntext = '<svg/>'\n```\n\n```python\n{script}```\n"
    (job,) = jobs(f"{page}\n```{{figure}} made.svg\n:alt: Nothing\n\nA caption.\n```\n")
    assert job["step"] == script
    assert [*map(pictures.b64decode, pictures.make(job).values())] == [b"<svg/>"]


def test_the_plan_that_a_command_names_may_name_the_picture(pictures):
    plan = '```toml\n# plan.toml\n[plot]\noutput = "curves.svg"\n```\n'
    line = "mpinet sweep plan.toml --out runs && mpinet plot runs"
    assert pictures.maker(f"{plan}\n```\n$ {line}\nrows 1\n```\n", "curves.svg") == line
    assert pictures.maker(f"{plan}\n```\n$ {line}\nrows 1\n```\n", "urves.svg") is None


def test_commands_for_a_shell_run_in_a_shell(pictures, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pictures.run_line("mpinet show ring:4 > a.txt && mpinet show ring:5 | tail -n +2 > b.txt")
    assert "\nsize              4\n" in Path("a.txt").read_text()
    assert Path("b.txt").read_text().startswith("size              5\n")
    for wrong in ("mpinet show ring:x", "mpinet show ring:4; mpinet show ring:x"):
        with pytest.raises(RuntimeError, match=r"ring:x.* ends with status 2: mpinet: "):
            pictures.run_line(wrong)


def test_a_picture_that_no_command_makes_is_an_error(pictures, jobs):
    sentence = "page: no command of the page makes the picture other.svg"
    with pytest.raises(pictures.PictureError, match=sentence):
        jobs(f"{DRAWN}\n![A ring](other.svg)\n")
    # The command names the picture, but writes another file.
    page = "```\n$ mpinet show ring:4 --edges ring.svg.csv | grep -v ring.svg\n```\n"
    (job,) = jobs(f"{page}\n![A ring](ring.svg)\n")
    with pytest.raises(pictures.PictureError, match=r"does not make the picture ring\.svg"):
        pictures.make(job)


@pytest.mark.parametrize(
    "picture", ["![](ring.svg)", "![ ](ring.svg)", "```{figure} ring.svg\n:width: 50%\n```"]
)
def test_a_picture_without_an_alt_text_is_an_error(picture, pictures, jobs):
    with pytest.raises(pictures.PictureError, match=r"page: the picture ring\.svg has no alt text"):
        jobs(f"{DRAWN}\n{picture}\n")


def test_a_picture_of_the_repository_needs_no_command_but_an_alt_text(pictures, jobs, tmp_path):
    (tmp_path / "kept.png").write_bytes(b"")
    assert jobs("![Kept](kept.png)\n") == []
    with pytest.raises(pictures.PictureError, match=r"kept\.png has no alt text"):
        jobs("![](kept.png)\n")


def test_a_picture_in_a_block_of_code_is_no_picture(pictures):
    assert pictures.named("```md\n![](one.svg)\n```\n\n![Two](two.svg)\n") == {"two.svg": "Two"}


def test_results_are_kept_until_a_job_changes(monkeypatch, tmp_path, pictures):
    import pagecommands

    monkeypatch.setattr(pagecommands, "BUILD", tmp_path)
    script = tmp_path / "count.py"
    runs = tmp_path / "runs"
    script.write_text(
        f"import sys; sys.path.insert(0, {str(DOCS / '_extensions')!r})\n"
        "from pagecommands import serve\n"
        f"runs = open({str(runs)!r}, 'a')\n"
        "serve(lambda job: [runs.write(job), job.upper()][1])\n"
    )
    found = [pagecommands.results(str(script), jobs) for jobs in ({"1": "a"}, {"1": "a", "2": "b"})]
    assert found == [{"1": "A"}, {"1": "A", "2": "B"}]
    assert runs.read_text() == "ab"


def test_each_page_about_pictures_has_one_that_its_own_command_makes(pictures):
    jobs = pictures.jobs_of({page: DOCS / f"{page}.md" for page in WITH_PICTURES})
    assert {job["page"] for job in jobs.values()} == {*WITH_PICTURES}


def test_all_pages_of_the_site_name_pictures_that_are_there_or_made(pictures):
    pages = [page for page in DOCS.rglob("*.md") if "_build" not in page.parts]
    assert len(pictures.jobs_of({str(page): page for page in pages})) >= len(WITH_PICTURES)
    texts = [page.read_text() for page in pages]
    assert not any(re.search(r"<img\b", text) for text in texts)


def test_a_made_picture_has_its_own_width_in_pixels(pictures, tmp_path):
    file = tmp_path / "x.svg"
    file.write_text('<?xml version="1.0"?>\n<svg xmlns="x" width="432pt" height="90pt">')
    assert pictures.width_of(file) == "576px"
    file.write_bytes(b"\x89PNG\xff")
    assert pictures.width_of(file) == ""
