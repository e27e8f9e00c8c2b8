"""Pictures of networks: contents (scene), matplotlib output (figure), browser output (page)."""
