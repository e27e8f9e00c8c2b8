"""Every reference to docs, in code, tests and results, leads to a section that exists."""

import re
import subprocess
from pathlib import Path

import pytest

from mpinet.networks.catalogue import families

CHECKOUT = Path(__file__).resolve().parents[2]
DOCS = CHECKOUT / "docs"

NUMBER = r"\d+(?:\.\d+)?"
SECTIONS = rf"(?:,?\s+(?P<sections>{NUMBER}(?:(?:,\s+|\s+and\s+|-){NUMBER})*))?"
REFERENCE = re.compile(rf"\bdocs/(?P<page>[a-z-]+(?:/[a-z-]+)?)(?![\w/-]|\.\w){SECTIONS}")
SPECIFICATION = re.compile(rf"(?P<page>[a-z]+(?:/[a-z]+)?){SECTIONS}")
SOURCES_ELSEWHERE = ("textbook", "the user's", "GBSN", "Sen Gupta", "HDN", "Finkel", "STH")
"""How what a family names as its paper begins where docs/networks has no row for it."""

OLD_NAMES = re.compile(
    r"\bspec(?:ification)?s? of (?:the )?(?:G\(|STH|HDN|GBSN|BSN|lens)|\(spec,? \d"
    r"|(?<![\w/])(?:contract|design|speed|mpi|style)\.md\b|\bspec/\w+"
)


def texts() -> dict[str, str]:
    """Every file of the checkout in which people read, by its name."""
    kept = subprocess.run(
        ["git", "ls-files", "mpinet", "tests", "docs", "launch", "*.md", "*.toml", "*.cff"],
        cwd=CHECKOUT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    paths = (CHECKOUT / name for name in kept.stdout.split())
    files = {str(path.relative_to(CHECKOUT)): path for path in paths if path.is_file()}
    return {name: path.read_text(errors="replace") for name, path in files.items()}


def sections_of(page: str) -> set[str]:
    """The numbers of a page's headings."""
    text = (DOCS / f"{page}.md").read_text()
    return set(re.findall(rf"^##+ ({NUMBER})\.? ", text, re.MULTILINE))


def named(sections: str) -> set[str]:
    """The sections that a text like ``1-3, 5 and 6.1`` names."""
    ranges = re.sub(r"(\d+)-(\d+)", lambda ends: " ".join(between(*ends.groups())), sections)
    return set(re.findall(NUMBER, ranges))


def between(first: str, last: str) -> list[str]:
    return [str(number) for number in range(int(first), int(last) + 1)]


def is_folder(page: str) -> bool:
    return (DOCS / page).is_dir()


TEXTS = {name: text for name, text in texts().items() if name != "tests/serial/test_docs.py"}
REFERENCES = [
    (f"{name}: {found.group()}", found["page"], found["sections"] or "")
    for name, text in TEXTS.items()
    for found in REFERENCE.finditer(text.replace("\n#", "\n"))
    if not is_folder(found["page"])
]


def test_a_reference_leads_to_a_section_that_exists():
    for reference, page, sections in REFERENCES:
        assert (DOCS / f"{page}.md").is_file(), reference
        assert named(sections) <= sections_of(page), reference


def test_there_are_references_to_every_paper():
    pages = {page for _, page, _ in REFERENCES}
    assert pages >= {f"papers/{paper.stem}" for paper in (DOCS / "papers").glob("*.md")}
    assert len(REFERENCES) > 100


def test_no_reference_leads_out_of_the_repository():
    found = {name: OLD_NAMES.findall(text) for name, text in TEXTS.items()}
    assert {name: words for name, words in found.items() if words} == {}


@pytest.mark.parametrize("family", families(), ids=lambda family: family.name)
def test_every_network_says_where_it_is_defined(family):
    found = list(SPECIFICATION.finditer(family.specification))
    assert ", ".join(match.group() for match in found) == family.specification
    for match in found:
        assert named(match["sections"]) <= sections_of(match["page"])
        assert match["sections"]
    texts = [(DOCS / f"{match['page']}.md").read_text() for match in found]
    assert all(f"`{family.name}" in text for text in texts)
    # Papers' pages define their networks by formulas, without the names of families.
    if family.specification == "networks 3":
        assert f"`{family.name}" in section("networks", 3)


@pytest.mark.parametrize("family", families(), ids=lambda family: family.name)
def test_every_network_is_promised_and_has_its_source(family):
    promised, sources = section("contract", 1), section("networks", 1)
    assert re.search(rf"`{family.name}[:`]", promised)
    assert f"`{family.name}`" in sources or family.paper.startswith(SOURCES_ELSEWHERE)


def section(page: str, number: int) -> str:
    """The text of a numbered section of a page."""
    text = TEXTS[f"docs/{page}.md"]
    _, _, rest = text.partition(f"\n## {number}. ")
    return rest.partition(f"\n## {number + 1}. ")[0]


def test_links_to_files_of_the_repository_have_targets():
    pages = [(name, text) for name, text in TEXTS.items() if name.endswith(".md")]
    # The docs build makes pictures, which test_pictures.py tests.
    link = re.compile(r"(?<!!)\[[^]]*\]\(([^):]+)\)")
    links = [(name, target) for name, text in pages for target in link.findall(text)]
    assert len(links) > 8
    assert [
        link for name, link in links if not (base_of(name) / link.partition("#")[0]).exists()
    ] == []


def base_of(page: str) -> Path:
    """The folder from which a page's links start: of a fragment, the changelog's folder."""
    is_fragment = re.fullmatch(r"docs/changes/\d+\.\w+\.md", page)
    return CHECKOUT if is_fragment else (CHECKOUT / page).parent


def test_the_map_of_the_rooms_names_files_that_are_there():
    rows = re.findall(r"^\| (`.*?) \|", TEXTS["docs/architecture.md"], re.MULTILINE)
    paths = [path for row in rows for path in re.findall(r"`([\w/]+(?:\.py|/))`", row)]
    assert len(paths) > 50
    assert [path for path in paths if not (CHECKOUT / "mpinet" / path).exists()] == []


def test_the_reading_lists_are_as_short_as_they_say():
    lists = section("architecture", 9).split("\n**")[1:]
    lengths = {}
    for each in lists:
        goal, _, items = each.partition("**")
        files = re.findall(r"`(mpinet/[\w/]+\.py)`", items)
        assert len(files) >= 3, goal
        lengths[goal] = sum((CHECKOUT / file).read_text().count("\n") for file in files)
    assert list(lengths) == [
        "Add a network",
        "Add a program or a collective",
        "Add an MPI call",
        "Understand traffic and time",
    ]
    assert [goal for goal in lengths if lengths[goal] > (2000 if "time" in goal else 1100)] == []


def test_every_way_says_what_is_traded_away_and_names_modules_that_are_there():
    ways = re.split(r"^### ", section("architecture", 5), flags=re.MULTILINE)[1:]
    for way in ways:
        assert way.count("Traded away: ") == 1, way.splitlines()[0]
        block = way.split("```")[1]
        places = re.findall(r"^ *(\w+(?:/\w+)+)", block, re.MULTILINE)
        there = [(CHECKOUT / "mpinet" / place) for place in places]
        assert [
            path for path in there if not (path.is_dir() or path.with_suffix(".py").exists())
        ] == []
    kinds = ("route", "broadcast", "exec", "checkpoint", "certificate", "recording", "load")
    assert all(
        any(kind in way.splitlines()[0] for way in ways) for kind in (*kinds, "replay", "sweep")
    )


def test_every_room_is_on_the_page():
    page = TEXTS["docs/architecture.md"]
    rooms = {
        path.parent.relative_to(CHECKOUT / "mpinet")
        for path in CHECKOUT.glob("mpinet/*/**/__init__.py")
    }
    missing = [str(room) for room in rooms if not re.search(rf"\b{room.as_posix()}\b", page)]
    assert len(rooms) > 30 and missing == []


def test_links_between_pages_have_targets():
    pages = {name: text for name, text in TEXTS.items() if name.startswith("docs/")}
    targets = {
        target for text in pages.values() for target in re.findall(r"^\((.+)\)=$", text, re.M)
    }
    links = {
        link for text in pages.values() for link in re.findall(r"\{ref}`[^<`]*<([^>]+)>`", text)
    }
    assert links <= targets
