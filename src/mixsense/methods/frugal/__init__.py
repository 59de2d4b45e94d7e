"""The default method: focused, steered queries, nearly all asked once. `method` is the loop, `tuning` the numbers."""
