"""Every constant of the queries that verify vectors, each with its origin."""

from __future__ import annotations

NEW_ROWS = 20
"""New queries whose answers must be the vectors'. Taste: one that answers a sixth of them shows in 97 of 100 runs."""
HALF_EVERY = 4
"""Every so many of them have half of the entries only. Taste: never swept."""
LEAST_ENTRY = 0.25
"""The smallest entry of a new query without noise, and what all are multiples of: fractions of few digits, and floats
that are exact. Taste: never swept."""
LARGEST_ENTRY = 16.0
"""The largest entry of a new query without noise. Taste: five times what Mixed-Coloring asks, about the anchor of the
lattice; one entry of six is above 4."""
NEW_ENTRIES = 200_000
"""Entries of all new queries that are not 0. Taste: up to n = 10,000 that is all; 0.05 s at n = 10⁶."""
SAME = 1e-6
"""An answer this close, in units of the sizes of what is added up, is right. Taste: as `ADDS_UP`."""
RESOLUTION = 1e-10
"""Without noise, coefficients below this share of the largest may be lost in its rounding. Taste: answers are held
to be equal at 1e-9, and with one coefficient of 1e10 those of 1 were wrong, with 1e9 right to 1e-4."""
ODD = 4.5
"""With noise, a new answer this many σ from all vectors is none of theirs. Derived: chance brings one of 20 so far once
in 7,000 runs."""
LARGEST_WHOLE_ENTRY = 20.0
"""The largest entry of a new query with noise, where all entries are whole. Taste: as the anchor of the lattice."""
NOISE_ERRORS = 6.0
"""The squares of new answers' distances may be this many standard errors above their mean. Taste: as where coefficients
are off their grid."""
