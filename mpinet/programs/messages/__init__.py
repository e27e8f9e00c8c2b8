"""Programs of messages: their files, and what makes them."""
