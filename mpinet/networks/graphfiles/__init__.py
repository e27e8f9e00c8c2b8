"""Files of others that are networks: one reader per format, and the table that finds it."""
