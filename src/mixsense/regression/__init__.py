"""A mixture of sparse regressions on raw answers: its likelihood, EM, spike and slab, evidence, where it can start."""
