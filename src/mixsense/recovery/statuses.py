"""How a recovery ended."""

STATUSES = {
    "certified": "the promised precision is reached",
    "single": "the answers support one vector only",
    "budget": "there are no more answers; the best estimate so far",
    "uncertain": "finished, but a check failed; a warning says which",
    "open": "the study goes on; the best estimate so far",
}
"""Every status, with its meaning."""
ALL_DATA = "all data were used; the best estimate"
"""What "budget" means of a fit, which takes data as they are."""
PROMISES = "certified", "single"
"""The statuses that promise something."""
