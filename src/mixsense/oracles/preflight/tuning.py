"""The numbers of a preflight: how much is asked, and when something is said."""

from __future__ import annotations

import numpy as np

REPEATS = 12
"""How often one query is asked, and how many queries right beside it; three times as many where that leaves a doubt.
And how often x = 0 is asked. Taste: of two models with equal shares both answer, but once in 2,048 times."""
INNER = 0.7
"""How far from the middle that query may be, of half of each range. Taste: less is clipped there than at
the ends."""
LINES = 8
"""Lines through the box. Taste: with `PASSES` 256 answers, as many as a small recovery takes."""
PASSES = 8
"""How often each of the points on a line is asked. Taste: see `LINES`."""
STOPS = np.array([0.0, 1 / 3, 2 / 3, 1.0])
"""Where the points are on a line. Derived: four are the fewest that tell a parabola from a line and both from more."""
BENDS = np.array([[1.0, -1.0, -1.0, 1.0], [-1.0, 3.0, -3.0, 1.0]])
"""The second and the third difference over the stops. Derived: both are 0 for a line, the third for a parabola too."""
PLACES = 2
"""Where stickiness is looked for. Taste: one place may be where two models answer alike."""
CALLERS = 4
"""Callers at each place for a look. Taste: fewer may all be sent to one model."""
LOOKS = 3
"""How often it is looked, with further callers. Taste: most sticky services are seen at the first look."""
VISITS = 6
"""Questions of each caller at a place. Swept: of two models d apart 60 of 60 simulated are seen with shares 70/30,
d = 2 σ, 57 with 90/10, 5 σ; by 4 visits 49, 41."""
JITTER = 1e-3
"""Repeated queries on a line differ by this share of the box. Taste: no cache answers them, and no model bends."""
DEPENDENCE = 0.05
"""Below this p-value the answers are taken to depend on the inputs. Taste: an audit of an endpoint that does not is
stopped in 19 runs of 20."""
SIGNIFICANCE = 0.001
"""A check speaks of a problem only if chance would show the same less often than this. Taste: a few of them, so that an
endpoint that is as it should be is stopped in less than 1 % of the runs."""
MISFIT = 1.0
"""Logarithm of how much worse straight lines may fit than as many values at each stop, mean over the lines.
Swept: below 0.5 ± 0.1 for all mixtures of two lines that were simulated, shares from 1:1 to 9:1, Gaussian or Laplace
noise; of three to six lines, 1 mixture of 216 was above 1, with noise 0.02 gap, and one line with a share of 90 %."""
FIRST_LINES = 48
"""Lines through two answers that are tried as the first of several. Taste: of up to 384 those with the most answers
beside them."""
REFITS = 5
"""How often lines are fitted to the answers that are nearest. Taste: a handful; the best of them counts."""
PERMUTATIONS = 1999
"""How often answers are permuted for the p-value of a spread. Derived: p-values below `SIGNIFICANCE` can be told."""
MORE_PERMUTATIONS = 4999
"""The same within callers. Derived: p-values below a third of `SIGNIFICANCE`, of one in `LOOKS` looks, can be told."""
STEPS = (1.0, 0.1, 0.01, 0.001, 0.0001)
"""What answers may be rounded to. Taste: those with more decimals look like real numbers."""
FLAT = 1e-3
"""A bend of a line by less than this share of the answers' range does not matter. Taste: nobody sees it."""
JUMP = 20 * FLAT
"""Answers at a place of a line that differ by more than this share of the answers' range are random. Taste: far beyond
what a bend or rounding would do."""
MOST_STEPS = 21
"""Whole numbers with at most this many values look like ratings. Taste: from −10 to 10."""
AUTO_BLOCK = 8
"""Questions for one caller of a sticky service, where nobody says how many. Taste: eight answers label each other well
at a gap of the noise, and the shares are known by the number of callers."""
DEFAULT_RANGE = 2.0
"""Without a box, each input runs from minus this number to plus this number. Taste: as far as most of the Gaussian
queries that follow."""
