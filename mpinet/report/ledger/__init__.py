"""The ledger of claims as text for a terminal and as a page for a browser."""
