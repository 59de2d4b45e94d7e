"""Oracles outside this process: an HTTP service, a program; and the preflight that looks at one before it is asked."""
