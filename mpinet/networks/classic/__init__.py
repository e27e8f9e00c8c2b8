"""The networks that everybody compares with; wiring and routing as the papers' specs give them."""
