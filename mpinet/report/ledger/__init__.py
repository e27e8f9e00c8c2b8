"""The ledger as people read it: in a terminal, and as a page for a browser."""
