"""Pictures of networks: what is shown (scene), by matplotlib (figure), in a browser (page)."""
