"""A recording as a self-contained page for a browser, which needs no network."""

from mpinet.report.player.page import page as page
from mpinet.report.player.page import write_page as write_page
