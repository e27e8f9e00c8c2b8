"""Programs of messages: their files and their generators."""
