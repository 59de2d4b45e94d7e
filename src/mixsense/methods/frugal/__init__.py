"""The default method: fresh queries, focused and steered, each asked once."""
