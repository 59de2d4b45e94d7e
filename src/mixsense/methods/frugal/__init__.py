"""The default method: focused and steered queries, each asked once. `method` is the loop, `tuning` the numbers."""
