"""Every constant that decides a check of the model, each with its origin; see `mixsense.methods.frugal.tuning`."""

from __future__ import annotations

DOUBT_P_VALUE = 0.01
"""A stage whose unseen answers have a smaller p-value than this speaks against the fit: search again.
Taste: never swept."""
CHECK_P_VALUE = 0.00125
"""A check fails if its p-value is below this.
Derived: the 16 checks that have one where nobody is asked twice fail together with probability 2 % where the model
holds; with groups 19 have one if shares and σ are given, and fail with 2.4 %."""
BY_CHANCE = f"{100 * 16 * CHECK_P_VALUE:.0f} of 100 runs"
"""How often a check fails where the model holds, as results say it: 2 of 100.
Derived: that of the 16 checks together; with many answers it is less, see `POWER_TO_SPARE`."""
POWER_TO_SPARE = 300
"""With more answers than this, the p-value at which a check fails falls in proportion to 1/N.
Taste: never swept. At 250 answers the checks find what would spoil a certificate; with many times as many they find it
at 4.5 standard errors as surely, and fail by chance less often."""
INTERIM_P_VALUE = 1e-5
"""Before the precision is reached, a run ends only if a check has a smaller p-value than this.
Taste: it is looked at several times, at fits that may still get better."""
STRONG_SHARE = 0.4
"""Of several failed checks, that is named first which is first in the order of naming and, in nats, at least this share
of the strongest. Taste: never swept."""
SURELY_FAILED = 3.0
"""A check without a p-value fails beyond doubt if its statistic is this many times its threshold. Taste: never swept.
"""
RATIOS = ("link", "tails")
"""The checks that are log-likelihood ratios.
Derived: twice the answers give twice the nats, so that those in doubt are decided."""
DOUBTFUL_SHARE = 0.5
"""A ratio beyond this share of its threshold is in doubt: it is made again with more answers.
Derived: half of `LINK_NATS` and of `TAIL_NATS`, 3 and 1, is above what fits had where the model holds: 2.6 at most, and
0.6 but for one of 950."""
DOUBTFUL_FACTOR = 4.0
"""A p-value below this many times that at which a check fails is in doubt, too.
Derived: all checks together are so by chance in 8 % of the runs, which take twice the answers then."""
CHANGE_POINTS = 8
"""Drift is looked for at this many change points, at equal distances. Taste: as in the prototype of the checks."""
DRAWS = 20
"""Variances of scores are those of this many draws of all answers from the fit.
Taste: as in the prototype of the checks; the standard error of a variance is below 3 % from 150 answers on."""
DRAWS_OF_PAIRS = 100
"""Answers to the same query are drawn this often. Derived: each is of a model with a twentieth of the answers 5 times.
"""
LEAST_SQUARE = 1e-60
"""Numbers whose mean square is less than this are 0. A numerical guard."""
LEAST_SQUARE_OF_SKEWNESS = 1e-6
"""Sums that are less skewed than the root of this are as good as normal. A numerical guard."""
MOST_DRAWN_ANSWERS = 8000
"""With many answers, there are fewer draws: about this many answers altogether. Taste: memory and time."""
LEAST_EIGENVALUE = 1e-9
"""Directions in which the scores of what was estimated have less than this share of their largest variance are left
out: nothing was estimated there. A numerical guard."""
LEAST_PROJECTED = 0.02
"""An extension is tested if this share of its score's variance is left beside what was estimated.
Taste: never swept. At corners the square of a feature is the level, and nothing is left."""
MOST_CHECKED_FEATURES = 40
"""Of more features than this, those that matter are looked at. Taste: time."""
MOST_CROSSED_FEATURES = 16
"""Products of two features are looked at among this many, those that matter most. Taste: time; there are 120 of them.
"""
LEAST_ESTIMATED_PROBABILITY = 0.05
"""A coefficient that is more probable than this to be non-zero counts as estimated. Taste: never swept."""
ANSWERS_PER_ESTIMATED = 3
"""At most one coefficient for each of this many answers counts as estimated. Taste: never swept."""
LEAST_PAIRS = 8
"""With fewer pairs of answers than this, each of other respondents, it is not tested whether pairs are alike.
Taste: never swept."""
LINEAR_LAPSES = 0.3
"""Lapses of whose variance one linear model explains more than this are answers of a further model.
Taste: true ones have about none, and those far from all models a little, since they are far from them. Nonsense among
the answers of a further model makes it less: one of 20 % beside 2 % outliers had 0.4 (0.5 was the threshold then)."""
LEAST_LAPSES_LEFT = 8
"""It takes this many lapses more than there are columns to see that. Taste: never swept."""
TAIL_WIDTHS = (3.0, 8.0)
"""Heavy tails are a share of answers whose noise is this many times as large.
Taste: the first is made for a t distribution, the second for outliers."""
TAIL_START = 0.05
"""The share of the answers in the tails starts from this. Taste: never swept."""
TAIL_STEPS = 40
"""EM for the tails takes this many steps. Taste: never swept."""
TAIL_NATS = 2.0
"""Tails fail if they explain the answers, all but the farthest, better by this many nats.
Swept: of 950 fits to 150, 300 and 1,000 answers with Gaussian noise one had more than 0.6, 1.4; with noise of t₃ 54 of
60 had more than 2."""
LINK_WIDTHS = (0.75, 0.95, 1.3, 2.0)
"""Half widths at which answers level off, in units of half of their range.
Taste: an answer with noise passes the level by two σ or so."""
LINK_STEPS = 40
"""EM for answers that level off takes at most this many steps. Taste: never swept."""
LINK_SETTLED = 1e-3
"""EM for answers that level off ends when it gains less than this many nats. Taste: never swept."""
LINK_RIDGE = 1e-3
"""Ridge of models that level off, relative to the rows. A numerical guard: what is level tells nothing."""
LEAST_LINK_STEP = 1e-3
"""A step of EM for answers that level off leaves at least this share of σ. A numerical guard."""
LINK_NATS = 6.0
"""A link fails if answers that level off are more probable by this many nats.
Swept: of 50 fits to linear answers (seeds 0 to 24, n = 4 and 12) none had more than 2.6."""
ROUNDING_STEP = 0.5
"""Answers are too coarse if they come in steps of more than this many σ.
Taste: as in the prototype of the checks; rounding to such steps adds 2 % to the variance of the noise."""
EXACT_SHARE = 0.05
"""Answers on steps are exact, not rounded, if the models leave less of them than this share of a step.
Derived: rounding leaves 1/√12 = 0.29 of a step, or more."""
OFF_STEP = 1e-6
"""Distances of answers are multiples of a step up to this share. A numerical guard: what text and floats make of them.
"""
LEAST_GAPS = 2
"""A step takes at least this many distances of answers. Derived: one distance is always a step."""
OUTLIER_DISTANCE = 5.0
"""An answer this many standard deviations from every model is an outlier.
Taste: never swept. Under the model it happens with probability 6·10⁻⁷."""
LARGEST_OUTLIER_SHARE = 0.002
"""A larger share of outliers than this is no accident. Taste: never swept."""
FEWEST_OUTLIERS = 3
"""Up to this many outliers are no reason for a warning, whatever their share. Taste: never swept."""
AT_AN_END = 0.02
"""Where this share of rounded answers is the smallest or the largest, it is an end of the scale that is offered.
Taste: of rounded numbers without ends, less than 1 % of 300 are the largest; of ratings that reach an end, more."""
LOGIT_SLOPE = 4
"""The noise of probabilities is this many times as large in logits. Derived: the logit's slope at 1/2."""
PARALLEL_ERRORS = 4.0
"""Two models are parallel if no coefficient of a feature differs by more than this many standard errors.
Taste: with 30 features all are within it in 99.8 % of the cases, and errors are those of Gaussian noise: with noise of
Student's t, 2 of 7 runs that showed one model too many had one that was 3.5 off."""
PARALLEL_SHARE = 0.5
"""Two models are parallel if all differences of features together are at most this share of that of their levels.
Taste: a skewed noise that was taken for two models had 0.4."""
LEAST_FOR_A_SHAPE = 30
"""With fewer answers of two parallel models than this, the shape of the noise is not looked at. Taste: never swept."""
SHAPE_NATS = 5.0
"""Two parallel models have to explain their answers this much better than one with a noise of another shape.
Taste: as much as lapses have to (`mixsense.regression.tuning.LAPSES_ESTABLISHED`)."""
SHAPE_STEPS = 40
"""EM for two levels takes this many steps, from the fitted ones. Taste: never swept."""
SHAPE_SEARCH = 300
"""The search for a noise of another shape takes this many steps. Taste: time."""
START_FREEDOM = 5.0
"""The search for a wide noise begins at this many degrees of freedom of Student's t. Taste: never swept."""
LARGEST_LOG = 50.0
"""Logarithms of a scale beyond this are not tried. A numerical guard."""
