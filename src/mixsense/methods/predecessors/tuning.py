"""Every constant of the predecessors' methods that decides something, each with its origin.

READ: seen in an excerpt of the publication. REMEMBERED: from memory of it, not checked against the text. What has
neither of these is ours.
"""

from __future__ import annotations

# -- Mixed-Coloring --------------------------------------------------------------------------------------

DESIGNS = {2: (3, 15, 3.71), 3: (5, 15, 2.52), 4: (8, 13, 1.68)}
"""Answers to each query, layers, and bins over K, for L models of equal shares.

Derived: the reading of the publication's table (REMEMBERED: 33.39 K, 37.80 K and 40.32 K answers) whose density
evolution agrees with the error floors that are remembered with it. """
BIN_ROWS = 3
"""Queries of a bin: r, r ∘ w, and their sum. Derived: ratio and summation check need these."""
EVOLUTION_STEPS = 1000
"""Steps of the recursion of density evolution. A numerical guard: it has converged long before."""
ROBUST_MODELS = 2
"""The robust scheme reads this many models. Derived: the publication has it for two."""
HEARD = 0.65
"""At least this share of a model's measurements of a bin has to be complete; decides how often a query is asked.

Derived: what `DESIGNS` have for three models, the lowest of them.
"""
CROWD = 2.0
"""Non-zero coefficients of one model in a bin, on average. Derived: `DESIGNS` have 1.93 to 2.02."""
FLOOR = 1e-5
"""The share of coefficients that the first layers may leave without an owner. Derived: the order of the floors that are
remembered with `DESIGNS`."""
DEGREE = 1.9
"""Mean degree in the graph of strong doubletons, above 1 for a giant component. Derived: `DESIGNS` have 1.88 to
1.90."""
MOST_LAYERS = 60
"""More layers than this are not asked in the first place, however small a share is. Taste: four times `DESIGNS`."""
FIRST = 0.4
"""The part of the layers after which decoding is tried for the first time. Swept: on seeds 0 to 11 at n = 500, K = 50
and at n = 600, K = 60, L = 3: 0.3 saves nothing, 0.6 costs 10 % more answers."""
PATIENCE = 3.0
"""The method gives up at this many times the layers of its design. Taste: what is not found by then is not there."""
FEWEST_BINS = 4
"""Bins of a layer at least. Taste: fewer hardly part anything."""
COUNT_RISK = 0.05
"""The part of η that may be spent on counting the models. Taste: as the noiseless scheme does."""
GUESS = 8
"""Bins of the first layer if the number of coefficients is not known; doubled until the layer is thin enough.

Taste: a later layer is as wide as it has to be."""
SINGLES = 0.12
"""The share of measurements that hold one coefficient only, from which on a layer is thin enough. Derived: λ/(exp λ −
1) is 0.31 at the `CROWD`, and 0.12 where the bins hold 3.3."""
NONE_ALONE = 0.02
"""With fewer measurements of one coefficient only, the vectors are not sparse enough. Derived: the bins hold 6 then."""
TELLING = 50
"""Measurements that are enough to say so. Derived: fifteen are of one coefficient at the `CROWD`, four at twice
that."""
EXACT = 1e-12
"""Answers without noise that differ by less than this part of the largest entry of their bin are equal. Derived: ten
thousand roundings. A coefficient below 8 n times this part of the largest in its bin is not read there: 10⁻⁵ at n =
10⁶. """
MORE_SEEDS = 4
"""Components beyond L that may begin a colour, the largest first. Taste: L are enough, and a wrong one costs time."""
HASTE = 16
"""A layer is added at a time, and one more for this many that there are. Taste: decoding costs time, too."""
CONFIRMED = 2
"""This many measurements that a model explains must hold a coefficient before it is the model's own. Derived: one alone
may be the one that suggested it."""
SAME_VALUE = 1e-7
"""Values of a coefficient that differ by at most this share of it are equal: they are quotients of rounded sums.
A numerical guard."""
LOCATED = 400
"""Coefficients in a component of which the one that two models share is looked for. Taste: a second at most."""
SHARED = 5
"""At most this many shared coefficients are named. Taste: more say no more."""
ENTRIES = 3_000_000
"""Non-zero entries of the queries of one round. Taste: 36 MB, of which a few copies exist at a time."""

# -- Mixed-Coloring with noise ---------------------------------------------------------------------------

CHECK_ROWS = 4
"""Random sign rows that check an index. Derived: in `docs/predecessors.md`, a phantom passes with probability 1/16 and
needs to be in the bin, too."""
ROBUST_LAYERS = 12
"""Layers with noise, where erasures leave 80 to 90 % of the bins. Derived: by density evolution."""
ROBUST_BINS = 3.1
"""Bins over K with noise. Derived: by density evolution, as `ROBUST_LAYERS`."""
ADDS_UP = 1e-6
"""The coefficients of a vector have its answer to a query of all positions up to this share of the largest.
Taste: far above what is left of rounding after peeling, far below a coefficient that matters."""
OFFSET = 5.5
"""A coefficient this many standard errors from its multiple of the step is off the grid. Derived: of a thousand
coefficients one is by chance with probability 4e−5."""
MISREAD = 0.1
"""Up to this part of the bins, or of a lattice's rows, is asked again if the vectors do not explain them. Taste: more
are not misread."""
ROBUST_RISK = 0.002
"""The probability with which one of two models is not heard in a query's answers. Derived: a bin has some 25 queries,
and nine bins of ten should be read."""
ROBUST_CARE = 2.0
"""A bin's queries are asked this many times as often as those of a lattice. Taste: chosen with two to
four runs of benchmarks/predecessors.py; one misread query loses the bin."""
OFF_GRID = 6.0
"""Standard deviations of χ² from which on the answers are off the grid. Taste: as good as never by chance."""

# -- Means on a grid -------------------------------------------------------------------------------------

CLIMB_TOLERANCE = 1e-6
"""Likelihoods that differ by less are equal. A numerical guard."""
CLIMB_STEPS = 200
"""Newton steps to the likeliest means. A numerical guard: a handful is usual."""
AT_ONCE = 2_000_000
"""Densities that are computed at a time. Taste: 16 MB."""
CLOSE_MEANS = 10.0
"""Answers to a query beyond those that hear all models: this times L² (σ/step)^`CLOSE_POWER`. Swept: with it 3 to 7 %
of the queries are misread, L = 2 to 4, σ/step 0.3 to 2, 200 batches each with seed 0."""
CLOSE_POWER = 2.5
"""Power of σ/step in the answers to a query beyond those that hear all models. Swept: with `CLOSE_MEANS`."""
UNHEARD = 0.02
"""The probability with which one of the models is not heard in a query's answers. Taste: such a row is left out."""
SAME_SHARES = 1e-6
"""Shares that differ by less are equal. A numerical guard."""
MOST_NOISE = 2.0
"""Noise in steps beyond which a grid is of no help. Derived: the answers to a query grow as exp((σ/step)^⅔) by what is
remembered, and from 300 on by what was measured."""

# -- Lattice, and small steps ----------------------------------------------------------------------------

ROWS_PER_K = 2.0
"""Rows to begin with: this times k log(n/k + 1), and `MORE_ROWS`. Derived: the phase transition of basis pursuit."""
MORE_ROWS = 10
"""Rows to begin with, besides those of `ROWS_PER_K`. Taste: some rows are dropped."""
MORE = 0.25
"""The part of the rows that is added if they are not enough. Taste: a few more rounds for fewer rows."""
GUESSED_K = 4
"""The sparsity to begin with if it is not given. Taste: rows are added until they are enough."""
DETERMINED = 2
"""Rows over the non-zero coefficients of a vector that they determine. Derived: two vectors of that many coefficients
differ in twice as many."""

# -- Lattice ---------------------------------------------------------------------------------------------

ANCHOR_SIZE = 20
"""Largest entry of the anchor. Derived: two models that differ in one coefficient by a step are apart by up to 20."""
ANCHORS = 12
"""Anchors that are tried. Taste: of models that differ in one coefficient by a step, noise two steps, one of five
does."""
AUTO_ANCHORS = 3
"""Anchors that are asked to count the models. Taste: two models meet at one of them with probability 0.1 at most."""
ANCHOR_CARE = 150.0
"""Answers to the anchor for each model, times (σ/step)². Derived: the mean of 100 (σ/step)² is misread, off by half a
step, with probability 6e−7; a half more, as shares vary."""
APART = 8.0
"""Answers further apart than this many σ are of different models. Derived: no gap of a Gaussian sample is."""
TIGHT = 1.6
"""A cluster with a larger spread, in σ, is of more than one model. Derived: of 8 answers in 10,000 clusters one is."""
SPREAD_ERRORS = 6.0
"""Standard errors of a variance that are chance. Derived: one in 10⁹, and one in 10⁴ where tails are heavier."""
MOST_ROWS = 3
"""The method gives up at this many times the rows to begin with. Taste: as `PATIENCE`."""
AGAIN = 3
"""Rows that do not fit are asked again this many times. Taste: one misread three times is wrong for another reason."""

# -- Polynomials, and small steps ------------------------------------------------------------------------

CELLS = 4
"""Cells that are tried. Derived: a cell has a crossing with probability 1/k at most."""
STEP = 1e-5
"""Length of the steps from the anchor. Derived: the answers keep 11 of their 16 digits, and one of 100,000 rows would
leave the neighbourhood of its anchor's value."""
NEAR = 0.4
"""Answers further from the anchor's than this part of the narrowest gap are of an unknown model. Derived: below a
half."""
FAR = 1000.0
"""Answers further from the anchor's than a step times this, in units of the largest value of the anchor, are of an
unknown model, too. Derived: a Gaussian row's value is not a thousand times another's."""
EAGER = 1.1
"""More rows than are missing on average. Taste: one round in place of several."""
CHECKED = 5
"""New measurements that a vector has to predict before it is certain. Taste: a wrong one predicts none."""
PREDICTED = 1e-8
"""Predictions this close, in units of the largest measurement, are right. Derived: a thousand times what `STEP`
leaves of rounding."""

# -- Prony's method --------------------------------------------------------------------------------------

PRIME = 2**2203 - 1
"""A Mersenne prime. Coefficients whose numerator and denominator are below its root, 2¹¹⁰¹, come back exactly: that is
every float. Derived: what comes back is checked against the exact values, so that the prime decides about speed only.
"""
SUPPORTS = 9
"""Random supports whose median loss is the predicted one. Taste: never swept."""
