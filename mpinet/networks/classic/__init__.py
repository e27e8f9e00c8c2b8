"""The networks that everybody compares with; defined in docs/papers."""
