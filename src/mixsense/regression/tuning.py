"""Every constant that decides something in a fit, each with its origin.

An origin is one of three. *Derived*: it follows from what is said. *Swept*: it was chosen among several values, and the
seeds are named. *Taste*: a value that seemed reasonable and worked; "never swept" means that no trial of other values
was recorded. Numbers that only keep a division or a logarithm in range stay where they are used.

These constants are about fitting answers that are there, whoever asked for them; those that decide what is asked next
are in `mixsense.methods.frugal.tuning`.
"""

from __future__ import annotations

import numpy as np

# Spike and slab: the prior of a coefficient.

SLAB_SCALES = (1.0, 0.1, 0.01)
"""Variances of the slabs relative to the widest one, so that small coefficients are expected beside large ones.
Taste: never swept. How often each slab is used is learned from the answers; with equal shares the narrow slabs kept a
risk of unseen coefficients alive (545 answers at gap 20 where 340 were enough in all of 60 runs).
"""
LEAST_SLAB_WIDTH = 50.0
"""A slab narrower than this many noise variances of a coefficient is dropped: it could not be told from zero.
Taste: never swept."""
LONE_SLAB_WIDTH = LEAST_SLAB_WIDTH / 4
"""Where every slab would be dropped, one is left, at least this many noise variances wide. Taste: never swept."""
SUPPORT_PROBABILITY = 0.5
"""A coefficient more probable than this to be non-zero is in the support.
Derived: more probable than not, the median probability model."""
PSEUDO_COUNT = 1
"""Each share that is learned starts from this many imagined observations of every kind.
Derived: Laplace's rule of succession. It holds for the shares of the models, those of the slabs, and the width of the
slabs, which starts from one imagined coefficient of typical size.
"""
RATE_PRIOR_VECTORS = 1
"""The expected rate of non-zero coefficients counts as much as this many vectors of n observed coefficients.
Taste: never swept."""
LEAST_COEFFICIENTS = 0.5
"""The rate of non-zero coefficients is at least this many out of n. Taste: never swept."""
LARGEST_RATE = 0.98
"""The rate of non-zero coefficients is at most this. A numerical guard: the prior odds of a coefficient stay finite."""
START_SLAB = 4.0
"""Before any coefficient was found, and at least, slabs are as wide as if one were this many σ²/N: two standard errors.
Taste: never swept."""
LARGEST_NATS = 200.0
"""Where the best slab of a coefficient has more nats than this, the excess is taken from all slabs: their odds stay
what they are. A numerical guard."""
JOINT_SWEEPS = 10
"""The joint posterior of all coefficients takes at most this many rounds over them.
Taste: never swept. Rounds end sooner where `JOINT_TOLERANCE` is reached."""
JOINT_TOLERANCE = 1e-4
"""Rounds over the coefficients end when no mean moves by more than the root of this, in its own standard errors.
Taste: never swept; a hundredth of a standard error."""
LEAST_MATTERING = 0.02
"""Coefficients that are more probable than this get twice as many rounds as the others.
Taste: never swept. The improbable ones hardly move, and cost most of the time."""

# The working set: which columns EM works on.

MOST_COLUMNS = 250
"""EM works on at most this many columns at a time. Taste: never swept. Its time grows with the square of it."""
LEAST_COLUMNS = 60
"""EM may work on this many columns, however few answers there are. Taste: never swept."""
ANSWERS_PER_COLUMN = 4
"""Beyond `LEAST_COLUMNS`, EM takes one column for each of this many answers. Taste: never swept."""
KEEPS_COLUMN = 100.0
"""A coefficient whose square exceeds the noise variance divided by this keeps its column: a tenth of a standard error.
Taste: never swept."""
T_SQUARE_IN_PROMISE = 1e-3
"""A column's promise is its probability to matter plus its largest t² times this, which orders the improbable ones.
Taste: never swept."""
LEAST_PROMISE = 0.01
"""Columns that promise less than this are left out. Taste: never swept."""
FALLBACK_COLUMNS = 2
"""Where no column promises enough, EM works on this many of the best. Taste: never swept."""
SELECTIONS = 2
"""The working set is chosen at most this often, with EM after each. Taste: never swept."""
SETTLED_LOGLIK = 0.05
"""The working set is not chosen again if the last choice changed the log-likelihood by less than this, in nats.
Taste: never swept."""

# EM, and the expansion after it.

EM_STEPS = 60
"""EM takes at most this many steps on a working set. Taste: never swept."""
LATER_SWEEPS = 4
"""After EM's first step, the joint posterior takes at most this many rounds over the coefficients in each step.
Taste: never swept. The next step starts where this one ends."""
STEPS_BETWEEN_ALL = 5
"""One step of EM in this many renews all coefficients, and so does the last; the others those that matter.
Taste: time; the improbable ones hardly move."""
SETTLED_STEP = 1e-3
"""EM ends when no coefficient moves by more than the root of this, in its own standard errors.
Taste: never swept; 3 % of a standard error."""
LEAST_SHARE_IN_FIT = 0.005
"""An estimated share of a model stays between this and one minus this. Taste: never swept."""
LEAST_FREEDOM = 2
"""The noise is estimated with N minus the number of coefficients as its freedom, and at least N divided by this.
Taste: never swept."""
LEAST_RELATIVE_SIGMA = 1e-7
"""Noise below this share of the answers' root mean square is rounding.
A numerical guard, made for answers that are all equal."""
LAPLACE_STEPS = 3
"""The quadratic expansion of the likelihood is made at most this often, each time around the last one's mean.
Taste: never swept."""
TRUST_RADIUS = 3.0
"""A step of the expansion is cut to this many standard errors: beyond them a mixture's likelihood is not quadratic.
Taste: never swept."""
SETTLED_EXPANSION = 0.1
"""The expansion is not repeated if its last step was shorter than this many standard errors. Taste: never swept."""
LEAST_INFORMATION = 0.02
"""Untagged answers are taken to have at least this share of the information of tagged ones, in every direction.
Taste: never swept. Away from a maximum of the likelihood the observed information may be negative."""

LEAST_FREEDOM_LEFT = 0.2
"""Variances of steps are raised by the coefficients that were fitted, at most to five times. Taste: never swept."""
CHUNK_OF_COLUMNS = 2_000_000
"""Steps in all coefficients are computed this many entries of the queries at a time. Taste: 16 MB, a processor's cache.
"""

# Evidence.

COUNTED_PROBABILITY = 0.01
"""The size of a one-model fit is the sum of the inclusion probabilities above this.
Taste: never swept. A fit of several models sums over its working set instead."""

# Noise that is not the same for all answers.

NOISE_WORTH_A_LOOK = 1.0
"""Less lapses, or one noise for all models, is tried if it loses less than this many log N. Derived: twice the cost."""
LEAST_OWN_NOISE = 0.05
"""A model's own noise is at least this share of the noise of all. Taste: never swept; a model that goes exactly through
a few answers would have none."""
LAPSES_TRIED = (0.01, 0.05, 0.15)
"""Shares of lapses that a fit is tried with. Taste: EM finds the share."""
NARROWER_WITH_LAPSES = (1.0, 0.7, 0.4)
"""The noise that is left when lapses are taken out, as a share of that with them. Taste: EM finds it."""
LEAST_LAPSES = 1e-4
"""The share of lapses is at least this. A numerical guard."""
LAPSES_ESTABLISHED = 5.0
"""Lapses have to explain this many nats beyond what their share costs. Taste: close models look like them."""
MANY_LAPSES = 0.15
"""A fit with a larger share of lapses is not taken: the models are wrong. Taste: tried with up to 10 %."""
LAPSES_BESIDE = 0.01
"""The share of lapses while a further model is looked for among them, half of what it seems to be at most.
Taste: never swept. A model with 20 % of the answers, beside 2 % outliers, was among the lapses (13 %), and was not
found as long as it had to explain all of them."""
MOST_LAPSES = 0.3
"""The share of lapses is at most this while a fit is made. A numerical guard."""

# Starts: annealed EM with a lasso.

COOLING_FACTOR = 0.9
"""The effective σ of the annealing is multiplied by this at every step. Taste: never swept."""
STEPS_AT_TRUE_SIGMA = 12
"""The annealing takes this many steps at the true σ after cooling. Taste: never swept."""
SEED_TEMPERATURE = 2.0
"""A start that was computed from the answers, not drawn, is annealed from this many σ on.
Taste: never swept. At the spread of the answers, where drawn starts begin, all models become one."""
LASSO_PENALTY = 0.7
"""The lasso's penalty in units of the universal one, √(2 log n). Taste: never swept."""
LASSO_STEPS = 4
"""Each M-step of the annealing makes this many accelerated proximal steps of its lasso.
Taste: never swept. The next M-step goes on from there."""
SHARED_LASSO_STEPS = 60
"""The lasso of all answers together, where the annealing begins, takes this many steps. Taste: never swept."""
SHORTER_CURVATURE = 0.75
"""The proximal steps of a weighted lasso use this share of the largest eigenvalue of all answers.
Taste: never swept. All of it would be safe whatever the weights, which are at most 1; less makes longer steps."""
POWER_STEPS = 12
"""The largest eigenvalue is found with this many steps of power iteration. Taste: never swept."""
EIGENVALUE_SLACK = 1.1
"""The largest eigenvalue is taken to be this many times what power iteration found, which is never too large.
Taste: never swept."""
MOST_ANNEALED_COLUMNS = 1500
"""The annealing works on at most this many columns: those that the answers or their squares point to.
Taste: never swept. Its memory and time grow with it."""

HALF_OF_THE_DIGITS = 1e-4
"""The annealing computes with half of the digits if the noise is at least this share of the largest answer.
Derived: single precision has 6·10⁻⁸, which is 0.06 % of such a noise."""
MOST_ANNEALED_ANSWERS = 4000
"""The annealing works on at most about this many answers, drawn at random: it only has to come near the models, which
all answers are fitted to then. Taste: time; what the second moments and splits point to is computed from all of them.
"""

# The fits that are alive.

NEW_STARTS = 6
"""Random starts of the annealing at every stage while the number of models is not established, or in doubt.
Taste: never swept."""
FEW_NEW_STARTS = NEW_STARTS // 2
"""Random starts at every stage while the evidence for several models is below `NO_NEW_STARTS`. Taste: never swept."""
ANSWERS_IF_NOT_CROWDED = 4
"""With fewer answers than this for each coefficient new starts are tried at every stage, whatever the evidence.
Taste: four models that were fitted with 286 coefficients to 451 answers were a false optimum."""
POOR_FIT = 3.0
"""New starts are tried while the residuals' mean square is more than this many times that of the noise.
Taste: never swept; made for a noise of 10⁻³ of the answers' spread, where a false optimum explains far more than one
model does."""
NO_NEW_STARTS = 200.0
"""With more evidence for several models than this no new starts are tried; below, the best fit may be a false optimum.
Taste: never swept."""
REFINED_STARTS = 3
"""This many annealed starts, the best ones, are fitted with spike and slab at a stage. Taste: never swept."""
KEPT_FITS = 3
"""At most this many different fits of one number of models are kept from one stage to the next. Taste: never swept."""
DROPPED_BEHIND = 40.0
"""A fit whose score is this far behind that of the best with as many models is given up. Taste: never swept."""
DISTINCT = 0.02
"""Two fits are different if some coefficient differs by more than this many σ. Taste: never swept."""
DISTINCT_STARTS = 0.1
"""Two annealed starts are different if some coefficient differs by more than this many σ.
Taste: never swept; EM takes starts that are nearer to each other to the same optimum."""
ONE_MODEL_SELECTIONS = 3
"""The fit of one model chooses its working set at most this often. Taste: never swept."""
LEAST_MOMENT_COLUMNS = 10
"""The direction of the second moments is computed on at least this many coordinates, if there are.
Taste: never swept."""
MOST_MOMENT_COLUMNS = 40
"""The direction of the second moments is computed on at most this many coordinates. Taste: never swept."""
ANSWERS_PER_MOMENT_COLUMN = 10
"""Between its limits, the direction of the second moments takes one coordinate for each of this many answers.
Taste: never swept."""
LEAST_SPREAD_OF_ONE = 1e-3
"""One model is scored with a noise of at least this share of the noise that several models leave.
A numerical guard: its likelihood stays finite where it explains everything."""

TURNS_OF_GROUPS = 3
"""Starts of more than two models from the products of answers of a group: the directions that they give, turned this
many times at random. Taste: never swept."""
LEAST_ANSWERS_TO_SPLIT = 20
"""A model that owns fewer answers than this is not split in two. Taste: never swept."""
STARTS_OF_MORE = 2
"""Random starts with one model more than there seem to be; each model split in two is a start besides.
Taste: never swept."""
REFINED_OF_MORE = 1
"""This many of the starts with one model more, the best ones, are fitted with spike and slab. Taste: never swept."""
SHARE_BESIDE = 0.1
"""A model that is looked for beside others begins with this share.
Swept: 0.03, 0.1 and 0.3 found the same model in each of six stages of the run of benchmarks/models.py with shares .4,
.3, .2 and .1, n = 50 and seed 507."""
LEAST_BESIDE = 1e-9
"""Each answer belongs to a model that is looked for beside others with at least this probability. A numerical guard."""
MOST_COLUMNS_BESIDE = 400
"""A model is looked for beside others among at most this many columns. Taste: time."""
ANSWERS_PER_COEFFICIENT = 2
"""A further model needs this many answers of its own for each of its coefficients.
Taste: never swept. A model with as many coefficients as answers explains any outliers."""
REFINED_OF_FEWER = 2
"""Starts with one model less, two models merged or one left out, that are fitted: the most likely ones.
Taste: never swept."""
STEPS_OF_RIVAL = 12
"""A fit with another number of models takes this many steps of EM; if its score comes near the best, it goes on.
Taste: never swept."""

# How many models.

SEVERAL_ESTABLISHED = 10.0
"""Evidence for L models, against fewer, from which on they count as established.
Taste: never swept. What the last model's coefficients and its share cost is in the evidence already."""
ONE_ESTABLISHED = 3.0
"""Evidence against several models from which on one model counts as established.
Taste: never swept. What the second model's coefficients cost is in the evidence already."""
ONE_NEEDS_STARTS = 2
"""One model counts as established only with this many times the answers of a first batch.
Taste: introduced so that a handful of answers promises nothing; the value was never swept."""
ANSWERS_FOR_NOTHING = 200
"""From this many answers on, a pair without any coefficient means that there is nothing, so that one model suffices.
Taste: never swept."""
NOTHING_EVIDENCE = -2 * ONE_ESTABLISHED
"""The evidence for several models is at most this where there is nothing.
Taste: well below the evidence at which one model is established."""

# One model: how far two may be apart that were not seen.

HIDDEN_GRID = np.geomspace(0.2, 6.0, 18)
"""Differences of two models that one model is held against, in its noise: the distance to the farther of the two.
Taste: steps of a fifth, from less than anyone asks for to more than anyone misses."""
HIDDEN_SHARE = 0.8
"""Two models that differ in one column are tried with this share of one of them, too. Taste: never swept; with equal
shares only, two with shares of .8 and .2 that were 1.5 σ apart passed for one."""
SPREAD_STEPS = 8
"""Steps of EM for the spread of answers on a scale around one model. Taste: steps of ratings that are σ wide leave a
tenth of the way after two."""
HIDDEN_COLUMNS = 60
"""At most this many columns are tried, those that the squares of the residuals point to. Taste: never swept."""
HIDDEN_COLUMNS_ON_A_SCALE = 15
"""On a scale, where an interval takes ten times as long as a real number, at most this many are. Taste: never swept."""
SELDOM_STARTS = (-2.0, -1.2, 1.2, 2.0)
"""Where two models may differ in one column, and one of them answers seldom (1 − `HIDDEN_SHARE`), it is looked for this
many spreads from the one model. Taste: about what is hard to see; EM finds the size."""
SELDOM_TRIED = 3
"""This many of the `SELDOM_STARTS` of all columns are fitted: those that explain the answers best. Taste: time."""
TAIL_SCALE = 2.0
"""Answers that are far from a model, by Cauchy's law, are half of them within this many times its noise. Taste: wide
enough for outliers, and narrow enough for the tails of a t distribution."""
MOST_HIDDEN_NATS = 50.0
"""Pairs that are this many nats ahead of one model are as good as any. A numerical guard: their odds stay finite."""
LEAST_HIDDEN_NOISE = 0.02
"""Two models leave at least this share of the variance around one. A numerical guard."""

LINE_STARTS = ((-0.6, 0.0, 0.6), (-0.6, -0.25, 0.5), (-0.5, 0.25, 0.6))
"""Where three models on the line through two begin, in the distance of the two from their middle. Taste: what two fits
make of three, with the middle one split evenly or mostly given to one of them."""
LINE_STEPS = 40
"""Steps of EM for models on a line. Taste: never swept."""

# Rivals: pairs that differ elsewhere.

RIVAL_SUPPORTS = (0.1, 0.35)
"""The search for rivals begins with the columns whose difference is at least these shares of the largest one.
Taste: never swept; as in the prototype that the rivals were tried with."""
RIVAL_SIGNIFICANCE = 3.0
"""The search begins with the columns, too, whose difference is this many standard errors from 0. Taste: never swept.
Without it, at a noise of 10⁻³ of the answers' spread, small differences that are sure were never among the rivals."""
RIVAL_SEARCHES = 3
"""The moves are tried from at most this many pairs: the best so far whose models differ in other columns than those
before. Taste: never swept."""
RIVAL_NEAR = 5.0
"""The moves are tried from pairs that are at most this many nats behind the best. Taste: what they find is at most a
few nats better than they are, and has to be near the best to count."""
RIVALS_TRIED = 24
"""Of all moves of a pair, this many are fitted: those that explain the answers best as they are. Taste: never swept."""
COLUMNS_OF_A_SWAP = 2
"""Of three models and more, two that clearly differ in at most this many columns may be mistaken.
Derived: two that differ in more answer alike nowhere."""
OWN_OF_A_SWAP = 0.5
"""What two of several models may mean is seen by the answers that are theirs with this probability. Taste: nearly all
answers are either theirs or not."""
RIVAL_STEPS = 25
"""A rival takes at most this many steps of EM. Taste: never swept."""
RIVAL_SETTLED = 1e-3
"""A rival's EM ends when no coefficient of the mean model moves by more than this many σ. Taste: never swept."""
RIVAL_RIDGE = 1e-6
"""Ridge of a rival's least squares, for each answer. A numerical guard."""
LEAST_RIVAL_SIGMA = 0.1
"""A rival's noise is at least this share of the noise of the fit. A numerical guard."""
RIVAL_BEHIND = 15.0
"""Rivals whose score is this far behind the best are ruled out. Taste: never swept; their probability is below 10⁻⁶."""
RIVAL_DISTINCT = 0.15
"""Rivals are different if a model differs by more than this many σ. Taste: never swept."""

# Answers without noise.

POLISHINGS = 10
"""Models of exact answers are solved for again at most this often, each time with the answers nearest to them.
Taste: never swept."""

EXPLAINED = 1e-9
"""Answers without noise are explained if they are missed by at most this share of their scale.
Derived: doubles have 2·10⁻¹⁶, of which steps of 10⁻⁴ around a point leave 10⁻¹²."""
RESOLVED = 1e-9
"""A coefficient below this share of the largest one is rounding. Derived: as `EXPLAINED`."""
ROUNDINGS = 16
"""The sum of products that makes an answer may be off by this many roundings of the largest one.
Taste: the rounding of 100 products adds up to about ten."""
SPARE_ANSWERS = 2
"""A model without noise needs this many answers more than it has coefficients.
Derived: one that was not the truth would explain each of them with probability 0, by rounding with about 10⁻⁹."""
REWEIGHTED = 5
"""Basis pursuit is solved at most this often, each time with weights from the solution before.
Taste: after four the support hardly changes in the source of the idea."""
REWEIGHTING = 0.1
"""The weight of a coefficient that is 0, in units of that of the largest. Taste: as in the source of the idea."""

# Memory.

ROWS_AT_ONCE = 20_000
"""Sums of products over more rows than this are made this many rows at a time. Taste: never swept. It only decides how
much memory is needed."""
COLUMNS_AT_ONCE = 500
"""Moments of more columns than this are computed this many columns at a time. Taste: never swept. It only decides how
much memory is needed: no dense copy of the queries is made."""

# What is told of a fit.

NORMAL_QUANTILE = 1.959963984540054
"""Half of a 95 % interval, in standard errors. Derived: the quantile of the normal distribution."""
LARGEST_COVARIANCE = 60
"""The covariance of the coefficients is kept for at most this many of them. Taste: some thousand numbers are enough."""
