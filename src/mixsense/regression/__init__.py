"""A mixture of sparse regressions on raw answers: EM, spike and slab, where it can start."""
