"""A recording as a page for a browser: one file that needs no other and no network."""

from mpinet.report.player.page import page as page
from mpinet.report.player.page import write_page as write_page
