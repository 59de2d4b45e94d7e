"""New queries that verify what was found: no function that is not linear is certified."""
