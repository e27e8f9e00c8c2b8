"""Notebooks show a network and a machine as a card, with a picture where that is small."""

import re

import pytest

import mpinet


def told(page: str) -> dict[str, str]:
    """The lines of the card's table."""
    lines = re.findall(r"<tr><td[^>]*>(.*?)</td><td[^>]*>(.*?)</td></tr>", page)
    return dict(lines)


@pytest.mark.parametrize(
    ("name", "figures"),
    [
        ("torus:4x4", {"processors": "16", "links": "32", "degree": "4"}),
        ("fattree:2,2", {"processors": "4", "switches": "4", "links": "8", "degree": "4"}),
        ("lens:3,3,2", {"processors": "8"}),
        ("clens:3,4", {"processors": "64", "stated diameter": "6"}),  # it is 5
        ("ring:3*ring:4", {"processors": "12", "links": "24", "degree": "4"}),
    ],
)
def test_a_small_networks_card_has_its_picture_and_its_sizes(name, figures):
    network = mpinet.open(name)
    page = network._repr_html_()
    assert page.startswith("<svg") and page.count("<circle") >= network.hosts
    assert figures.items() <= told(page).items()
    assert "diameter" not in told(page)


def test_a_large_networks_card_has_no_picture_and_is_made_without_its_wiring():
    page = mpinet.open("hypercube:40")._repr_html_()
    assert "<svg" not in page and told(page)["processors"] == f"{2**40:,}"


def test_a_machines_card_tells_its_model_and_its_steps():
    page = mpinet.Machine("ring:6", "one")._repr_html_()
    assert page.startswith("<svg")
    assert {"ports": "one", "ranks": "1", "steps": "0"}.items() <= told(page).items()
