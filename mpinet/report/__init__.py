"""How results are shown, written and proved: envelope, digests, tables, progress."""
