"""Standard networks of the literature, defined in docs/papers."""
