"""Every constant that decides something in the frugal method, each with its origin.

An origin is one of three. *Derived*: it follows from what is said. *Swept*: it was chosen among several values, and the
seeds are named. *Taste*: a value that seemed reasonable and worked; "never swept" means that no trial of other values
was recorded. Numbers that only keep a division or a logarithm in range stay where they are used.

Here is what decides which queries are asked, when a run ends and what it says; the constants of the fit itself are in
`mixsense.regression.tuning`. Evidence is in nats.
"""

from __future__ import annotations

# Before the start: noise and sparsity.

NOISE_SHARE = 0.03
"""Share of the budget that measures an unknown noise, with the query x = 0. Taste: never swept."""
NOISE_BUDGET = 1000
"""A larger budget than this measures the noise with as many answers as this one.
Taste: never swept. The fit learns the noise from all answers later on."""
LEAST_NOISE_ANSWERS = 16
"""An unknown noise is measured with at least this many answers, where the budget allows it.
Taste: never swept. The standard error of σ is 18 % then."""
NOISE_BUDGET_PART = 4
"""One answer out of this many at most measures the noise, so that a budget of three leaves it to the fit.
Taste: never swept."""
TYPICAL_SPARSITY = 5.0
"""At n = 100, this many coefficients are expected to matter if the user does not say.
Taste: never swept. It is the k of most measurements in docs/frugal.md."""
TYPICAL_LENGTH = 100
"""Number of coefficients at which `TYPICAL_SPARSITY` of them are expected to matter; others by the cube root.
Taste: never swept."""
LARGEST_GUESSED_RATE = 0.5
"""Without a k from the user, at most this share of the coefficients is expected to matter. Taste: never swept."""
LARGEST_EXPECTED_RATE = 0.9
"""Whatever k the user gives, at most this share of the coefficients is expected to matter.
A numerical guard: the prior odds stay finite if k = n."""
QUIET_SHARE = 1e-3
"""In a box, a noise below this share of the answers' spread counts as none, and this share is worked with instead.
Taste: never swept."""
LEAST_NOMINAL_NOISE = 1e-6
"""Where answers have no noise, at least this share of the largest one is worked with.
A numerical guard, made for answers that hardly spread."""
ANSWERS_PER_VALUE = 3
"""Answers are taken for rounded ones if there are at least this many for each different value. Taste: never swept."""
FEW_ANSWERS = 8
"""From fewer answers than this, two means explain too much: the noise is at least half of their spread.
Taste: never swept."""
LEAST_NOISE_OF_A_STEP = 0.1
"""On a scale with steps the noise is at least this share of a step. Taste: never swept; less cannot be seen."""
START_NOISE_OF_A_STEP = 0.3
"""On a scale with steps the fits begin with a noise of at least this share of a step. Taste: about 1/√12, what rounding
alone looks like."""
LEAST_SPREAD_OF_FEW = 0.5
"""Share of the spread of a few answers that is noise, at least. Taste: never swept."""

# Answers without noise.

STEPS = (1e-4, 1e-6)
"""Lengths of the steps around a point, in units of a query: the second is tried if the first tells no linear models.
Derived: doubles leave 10⁻¹² and 10⁻¹⁰ of the differences; two models whose answers at the point are nearer to each
other than five steps are taken for one, which has a probability of about 10⁻³ for vectors as far apart as they are
long, and a hundred times less with the second."""
LONGEST_STEP = 10.0
"""Queries within this many steps of the point are steps. Derived: a normal entry is never beyond it."""
FROM_THE_EDGE = 0.99
"""In a box, points of exact answers are this far from the middle at most, so that steps stay inside. Taste: unswept."""
CLUSTER_WIDTH = 5.0
"""Neighbouring answers around the point that are further apart than this many steps times the largest answer are from
different models. Taste: those of one model spread over about three."""
PLAIN_QUERIES = 6
"""Plain queries at the start: they tell the scale of the answers, and verify the models later. Taste: never swept."""
PLAIN_SHARE = 0.1
"""This share of the other queries is plain, to verify the models. Taste: never swept."""
LEAST_PLAIN = 100
"""In a box, this many exact answers to plain queries are explained before anything is promised.
Derived: a piece of the box, or a model, with a share of 3 % is missed with probability 5 %."""
CORNERS_AMONG_PLAIN = 0.5
"""In a box, this share of the plain queries are corners: where answers level off, they do so there.
Taste: never swept."""
REPEATED_IF_EXACT = 0.25
"""This share of the queries is asked twice where answers have no noise but are no small steps.
Taste: never swept. One query that two models have answered is enough; with shares of .95 and .05, 40 that were asked
twice show none with probability 2 %."""
LEAST_EXACT_STAGE = 4
"""A round of exact answers has at least this many. Taste: never swept."""
EXACT_GROWTH = 0.1
"""A round of exact answers adds this share of those so far. Taste: small, since a fit takes milliseconds."""
PATIENCE = 3.0
"""Where the models around a point do not explain plain queries, this many times the answers that gave them are waited
for others. Taste: never swept."""
ROUNDED_DIGITS = 12
"""Answers to plain queries with at most this many digits are rounded ones.
Derived: doubles have 16, so that six which are not rounded look like it once in 10²⁴ times."""

# How large the start and the stages are.

ENOUGH = 0.9
"""This part of a stage's answers is enough to go on, where the others keep everybody waiting: they come with a later
stage. Taste: never swept. A crowd in which one of ten leaves half-way is not waited for."""
UNLIMITED = 10**9
"""The budget of a run that has none. Taste: nobody asks that often."""
START_PER_COEFFICIENT = 6.0
"""The first batch has this many queries for each k log(n/k + 1), what k coefficients among n can be told by.
Taste: never swept."""
START_BASE = 60.0
"""The first batch has this many queries more, whatever n and k are. Taste: never swept."""
LARGEST_START = 0.4
"""The first batch takes at most this share of the budget. Taste: never swept."""
LEAST_START = 10
"""The first batch has at least this many queries, if the budget has. Taste: never swept."""
START_SHARE_WITH_GAMMA = 0.75
"""With a precision to reach, the start takes this share of the first batch: the stages decide how many are enough.
Taste: introduced together with other changes that let runs stop sooner; the value was never swept."""
STAGE_GROWTH = 0.2
"""A stage adds this share of the answers so far where no bound says how many are missing.
Swept: chosen among a few settings on seeds 0 to 39 of benchmarks/frugal.py, together with `FOCUS_SHARES`."""
LARGEST_STAGE_GROWTH = 2 * STAGE_GROWTH
"""Where the bound is far from γ, a stage adds this share of the answers so far. Taste: few looks at the bound are worth
more than queries that are focused a little better."""
LEAST_STAGE_GROWTH = STAGE_GROWTH / 2
"""A stage adds at least this share of the answers so far, even if the bound is very near γ. Taste: never swept."""
BUDGET_STAGE_GROWTH = STAGE_GROWTH / 2
"""Where a budget is spent on at most `SHORT_VECTORS` coefficients, a stage adds this share of the answers so far.
Swept: of 0.05, 0.1 and 0.2 in the simulation that `SHARPNESS` was chosen by: 0.1 lowers the median error at gap 1 by
5 %, and half of that takes twice the time for nothing."""
SHORT_VECTORS = 1000
"""Longer vectors than this have larger stages, since a fit takes longer.
Taste: a run of 3,000 answers stays below a minute at n = 10,000."""
LEAST_STAGE = 20
"""A stage has at least this many queries. Taste: never swept."""
LEAST_IN_BOX = ((4, 250), (12, 150))
"""In a box of this many features or fewer, and of this many or more, a certificate takes at least this many answers.
Between the two it is interpolated. Swept: with a prototype of the checks, 100 to 400 answers; from there on they have
power."""
LEAST_WITHOUT_BOX = 150
"""Without a box a certificate takes at least this many answers beside those to x = 0, which tell nothing about models.
Taste: as in a box of many features. With fewer, three models of which two differ in two features passed for two.
This, and `LEAST_IN_BOX`, is for two models: more of them take as many answers each. One of three that leaves its line
was certified in 9 of 26 runs in a box of 6 features, after 225 to 422 answers."""
LEAST_RESPONDENTS = 30
"""Of respondents who give several answers each, a certificate takes at least this many. Derived: a model with a share
of 10 % is none of theirs with probability η = 0.05 then. Of 12 who gave 20 answers each, 1 of 8 certificates did not
have the third model (15 %), and checks, which count on many respondents, failed by chance in 4 of 30 runs."""
ENOUGH_LAPSES = 1.5
"""Times the answers that the check of lapses takes: they are counted only where they are probable lapses.
Swept: of 1 and 1.5 on three models with shares .6/.33/.07 and .8/.12/.08 (seeds 777,001 with 0 to 7)."""
SELDOM = 0.15
"""A model with at most this share of the answers is one that answers seldom. Taste: never swept."""
SELDOM_PER_COEFFICIENT = 10.0
"""Such a model needs this many answers of its own for each of its coefficients. Taste: of one with all of 8 to 25
coefficients and 6 to 10 % of the answers, beside models with one, 14 of 199 certificates were wrong; it had given 2 to
6 for each, and those that were taken for 0 were up to 2.2 γ."""
LAPSES_OF_A_MODEL = 0.03
"""Where this share of the answers may fit no model, within a standard error, a certificate takes as many answers as
tell whether they are linear. Taste: more than the share that a model has to have, since a few are always far away.
Below, from `LEAST_SHARE` on, a note says so."""
MORE_AT_ONCE = 2.0
"""Where a model that answers seldom, or lapses, ask for more answers, a stage brings them to this many times as many at
most. Taste: while such answers are few, how many it takes is a guess, and the model may be none."""
SMALLEST_REST = 0.3
"""If less than this share of a stage would be left of the budget after it, the stage takes that as well.
Taste: never swept."""

STAGES_BETWEEN_MORE = 3
"""Where the evidence is beyond `mixsense.regression.tuning.NO_NEW_STARTS`, one model more is tried at one stage in this
many, and at the end.
Taste: never swept."""

# Which queries a stage asks.

STEERING_EVIDENCE = 3.0
"""With more evidence for several models than this, queries are steered towards where they differ.
Taste: never swept. Far less than `mixsense.regression.tuning.SEVERAL_ESTABLISHED`."""
QUERY_ENERGY = 2.0
"""Mean squared norm of a steered query, in units of n.
Derived: that of the paper's own sum queries, x + x' with two Gaussian vectors."""
LABELLING_SEPARATION = 5.0
"""The distance of the two means, in σ, at which an answer labels itself; no query is pushed further.
Taste: never swept. The nearer mean is the wrong one with probability 0.6 % then."""
LABELLING_LOSS = 2.0
"""An untagged answer has about s²/(s² + this) of a tagged one's information if its means are s σ apart.
An approximation whose derivation is not recorded."""
FOCUS_SHARES = (1.0, 0.85, 0.7, 0.55, 0.4, 0.25, 0.1)
"""Shares of the energy that may go into focus, the rest into the push: the one that tells most is taken.
Swept: the split was chosen among a few settings on seeds 0 to 39 of benchmarks/frugal.py, together with `STAGE_GROWTH`.
"""
SHARPNESS = (0.4, 0.9)
"""Where a budget is spent, what each coordinate gets in all goes as its chance to matter to this power: at the start,
and at the end of the budget. Half would be best for the mean squared error (derived); a sharper end gives up on the few
worlds with one more small coefficient, for a smaller error in most.
Swept: of constant powers from 0.5 to 1 and eight such pairs, in a simulation of the design with tagged answers and the
prior known (n = 100, k = 5, N = 1,000 to 10,000, gaps 1 and 5, 600 to 2,000 worlds); tried on seeds 0 to 13. In such a
simulation (benchmarks/spending.py) neither other powers nor optimal stopping lowered the median by more than 3 %."""
REACHES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
"""Where a budget is spent, queries may be pushed to these shares of `LABELLING_SEPARATION`: the one that tells most is
taken. Taste: never swept."""
FARTHEST_MEANS = 8.0
"""Means that are further apart than this many σ are as good as tagged. Derived: 0.1 % is lost."""
MEANS_TRIED = 81
"""Distances at which the information of an untagged answer is computed; between them it is interpolated.
Taste: never swept."""
NOISE_POINTS = 60
"""Points of the integral over the noise of an answer, in `mixsense.planning.limits`, too. Taste: never swept."""
FLOORS = {"any": (0.5, 0.6, 0.7, 0.8, 0.9), "typical": (0.4,)}
"""Shares of the energy that may go to all coordinates alike, by what is promised: the one that tells most is taken.
Swept: 0.9 won nearly always in the prototype of the bound for any vectors, on seeds from 60,000 on."""
NOISE_QUANTILE = 1.645
"""The noise of what was not found counts with this many standard errors when a floor is chosen.
Derived: the one-sided 95 % quantile."""
DRAWS_TO_CHOOSE_FROM = 4
"""Of three models or more, the query whose answer labels itself best is taken of this many, where there is no box.
Taste: never swept."""
LEAST_CHANCE = 1e-3
"""Every coordinate is asked about as if its chance to matter were at least this.
Taste: never swept. That focus goes as the root of the chance is derived, and was measured: it lowered the error at gap
1 and 560 answers from 0.157 to 0.125.
"""
SAME_DIRECTION = 1e-9
"""Differences of models span a direction if they are more than this share of the largest in it. A numerical guard."""
MOMENT_COEFFICIENTS = 3
"""While the second moments have a say, at least this many coordinates out of n are expected to matter.
Taste: never swept."""
MOMENT_CHARGE = 1.5
"""Log odds that a coordinate pays for being pointed to by the second moments: t²/2 has to exceed it.
Taste: never swept."""
SAME_PLACES = 9
"""Two queries are the same if they agree to this many places. Taste: far beyond what is drawn twice."""
HALF_NORMAL = (0.0522, 0.1573, 0.2641, 0.3741, 0.4888, 0.6103, 0.7416, 0.8871, 1.0545, 1.2582, 1.5341, 2.0368)
"""Midpoints of twelve equally probable parts of |N(0, 1)|. An approximation: sums over them stand for integrals."""

# Which queries are asked inside a box.

CORNER_REACHES = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Corners may be pushed to these shares of the largest separation: the one that tells most is taken.
Taste: never swept."""
CORNERS_TO_CHOOSE_FROM = 16
"""Of three models or more, the corner whose answer tells most is taken of this many.
Swept: of 4, 12 and 40 in a simulation of the design with 12 features and the models known (error over that of tagged
answers 1.16, 1.12, 1.11), on worlds that no table of the docs shows."""
CORNERS_OF_A_DESIGN = 1000
"""Where a budget is spent, the corners that tell most are chosen among at least this many.
Swept: of 400, 1,000 and 3,000, with 12 features and three models on seeds 10 to 17, which differ by 1 %."""
CORNERS_FOR_ONE = 4
"""Where a budget is spent, each corner that is asked is chosen from at least this many. Taste: never swept."""
DESIGN_STEPS = 40
"""Steps of the multiplicative algorithm for the weights of an A-optimal design in a box.
Swept: of 15 and 40 on the seeds of `CORNERS_OF_A_DESIGN`; the errors that the information allows differ by 1.5 %."""
DESIGN_NOISE_POINTS = 20
"""Points of the integral over the noise of an answer in a design for a box. Taste: never swept."""
MIDDLE_SHARE = 0.5
"""This share of the corners has one entry in the middle of its range.
Taste: between 0.3 and 1, which cost 2 and 11 % of the corners' information with 12 features."""
HOLES_SHARE = 0.5
"""While one model seems to be enough, this share of the entries of this share of the corners is in the middle.
Taste: as in the prototype that it was tried with."""
INSIDE_SHARE = 0.15
"""Each entry of a corner is drawn from the inside of its range with this probability, so that a bend can be seen.
Taste: as in the prototype of the checks; it costs 9 to 14 % of the corners' information."""
INSIDE_RANGE = (0.3, 0.8)
"""Entries inside their range are this far from its middle, in half ranges, to either side.
Derived: a cubic bend, x³ − x, is largest at 1/√3 = 0.58; over this range its mean square is 0.13, over all 0.08."""
REPEATED_SHARE = 0.08
"""This share of a round's queries is asked twice: then it can be seen whether the query chooses the model.
Taste: a dozen pairs in 150 answers. A repeated query tells as much about the models as any other."""
DUEL_SHARE = 0.6
"""While rivals keep the bound above γ, this share of a stage's queries are duels. Taste: never swept."""
DRAWS_FOR_A_DUEL = 20
"""Duels are the best of this many times as many corners with entries in the middle. Taste: never swept."""
RIVALS_IN_DUELS = 6
"""Duels tell apart this many rivals at most: the best, and those next to it. Taste: never swept."""
SECOND_IN_THE_MIDDLE = 0.5
"""A duel has a second entry in the middle of its range with this probability. Taste: never swept."""
POINTS_OF_AN_ANSWER = 60
"""The divergence of two densities of an answer is summed over this many points. Taste: never swept."""
BEYOND_THE_MEANS = 4.0
"""The divergence of two densities of an answer is summed up to this many σ beyond the outermost means.
Derived: 0.006 % of the answers are further from their mean."""
RIVALS_SHARE_OF_ETA = 5
"""Rivals beyond the bound have together a probability of at most η divided by this.
Taste: never swept; as in the prototype that the rivals were tried with."""
FURTHER = 4.0
"""Readings of the answers that this many times as many more would not tell apart end a run. Taste: never swept."""
FURTHER_FOR_ONE = 16.0
"""One model that hides two which differ in one feature ends a run if it would take this many times as many answers to
see them. Derived: what is hidden falls like N to the power of −1/4, so that it is twice what was asked for.
Without it, one model with a γ of 0.3 σ in a box took 25,000 to more than 119,000 answers. For the same reason a run of
one model ends that has spent this many times what its own precision took, and this many times
`ANSWERS_FOR_SELDOM`: two of which one answers seldom kept 11 of 37 such runs going to 60,000 to 676,000.
Runs of several models end by the same rule: with noise of Student's t (5 degrees of freedom) two in a box were at
30,000 answers with an error bound of 7 γ, and end after 20,663; and see `CLEARLY_MORE_PROBABLE`."""
LEAD_OF_CHANCE = 3.0
"""Of several readings that only unequal shares tell apart, one leads by fewer nats than this by chance.
Derived: with equal shares the lead of each is about half of χ², less ½ log N for shares that are free: 3 nats take a
χ² beyond 11 at 250 answers, which has a probability of 0.1 %."""
SHARES_APART = 3.0
"""Shares are clearly unequal this many standard errors from 1/2, if each answer told its model. Taste: never swept."""
READINGS_TOLD = 6
"""A warning lists at most this many readings, or features. Taste: never swept."""
DIFFERENCE_TOLD = 0.1
"""A warning names the features whose difference is at least this share of the largest. Taste: as where the search for
rivals begins."""
TRIAL_CORNERS = 400
"""This many corners are drawn to see how much a separation tells. Taste: never swept."""

# The error bound.

BOUND_FACTOR = 1.03
"""The error bound is at least this many times the posterior quantile, which does not know that it chose its queries.
Swept: set on seeds from 2000 and from 3000 on, and once more after a look at three rows of the table of promises in
docs/frugal.md, where 12 of 200 errors were above γ at gap 2. Before, it was 1.1, then 1.05.
"""
BOUND_FACTOR_UNLABELLED = 0.4
"""Added to the factor on the error bound if no answer labels itself, in proportion if some do.
Swept: together with `BOUND_FACTOR`; 0.2 before. The expansion behind the posterior is less exact there."""
MOST_USED_UP = 0.9
"""The error bound grows with the share of the answers that the coefficients use up, until it is this.
Taste: never swept."""
BOUND_DRAWS = 300
"""The posterior quantile of the error is taken from this many draws, with a fixed seed.
Taste: at η = 0.05, 15 of them lie beyond the quantile, whose standard error is about 2 % of it."""
GIBBS_SETTLES = 30
"""This many sweeps of the sampler come before those that count. Taste: as in its prototype, which took 120 to 150."""
EXPECTED_IN_AN_OCTAVE = 0.5
"""Coefficients expected in each octave of size, all models together, before any answer.
Taste: the shape of a Gamma prior, Jeffreys' for a Poisson number."""
LEAST_SHARE_OF_ZEROS = 0.02
"""At least this share of the coefficients is expected to be zero. A numerical guard: the odds stay finite."""
TYPICAL_FACTOR = 1.1
"""Where a certificate is about typical vectors, the bound is this many times larger.
Swept: of 1 and 1.1 on seeds from 60,000 on: 5 and 0 of 196 certified errors were above γ."""
LEVELS_SEEN = 1.5
"""One model is not called single before two whose levels are this many σ from it are excluded; smaller differences of
the level alone are told, not excluded.
Derived: two levels 3 σ apart need about 150 answers to be told from one with more noise, 1.5 σ apart 3,500."""
HIDDEN_ODDS = 0.02
"""Two models that one may hide are excluded if they have at most these odds against it.
Taste: as in the prototype that it was tried with."""
ANSWERS_FOR_SELDOM = 400
"""With this many answers, two models of which one answers seldom are no longer excluded beyond doubt before one is
called single: it is enough that their odds are at most `AS_PROBABLE`. Without a box, models with a noise of their own
are not certified before, since the one with more may be two.
Swept: of 0, 400, 600, 800 and 1,000 on seeds 5,000 to 5,207. Beyond doubt would take 1,700 to 3,000 answers, and with
none of it 9 of 24 pairs that differ in one of 12 features, shares .8 and .2, were called single."""
AS_PROBABLE = 0.4
"""Two models that have more than these odds against one are not passed over, however many answers there are, also if
they differ in their levels by less than `LEVELS_SEEN`.
Swept: 0.5 left 2 of 24 such pairs, 0.4 none (seeds 5,100 to 5,123), at 500 to 600 answers to one model. It has to be
above exp(−1), the odds of two models of which the answers tell nothing."""
MOST_MOVED = 2.0
"""Nothing is certified in a stage that moved a model by more than this many γ: a fit that was just found has not seen
answers that did not make it; nor in the first stage. Taste: of 48 runs with 31 to 60 coefficients a model (seeds 700 to
705), 3 were wrong, and had moved 3 to 5 γ."""
NEARLY_AS_PROBABLE = 6.0
"""One model more counts in the error bound unless its score, in nats, is this much lower. Taste: twice what a rival of
probability η = 0.05 would be behind, since it may be the wrong one of its kind."""
NEARLY_AS_PROBABLE_AS_LAPSES = 12.0
"""The same where some answers fit none of the models: that they are a further model's is likelier than nonsense, before
anything was asked. Taste: of 7 models with a twentieth of the answers that were taken for lapses 5 were less than this
behind; of two models with 2 % outliers in boxes of 4 features 2 of 4, which take more answers, and of 12 and 30 1."""
WIDER = 1.15
"""Of several models, one whose noise is this many times the smallest may be two, of which one answers seldom.
Taste: never swept. Where all models have one noise it changes nothing; of eight mergers of two that were 1.7 to 2.5 γ
apart, all had such a noise."""
ANSWERS_FOR_PAIRS = 1000
"""With this many answers, two models in the place of one of several are passed over if they are less probable than it
(`MORE_PROBABLE`); with fewer, if their odds are at most `AS_PROBABLE`.
Swept: without it, 3 of 6 pairs with noise of 0.5 and 1.5 (seeds 75,000 on) found no end within 3,000 answers; with
`MORE_PROBABLE` from the start, 5 of 12 mergers were certified (seeds 81,000 to 81,003), where 1 is."""
MORE_PROBABLE = 1.0
"""Beyond these odds two models are more probable than one. Derived: from what odds are."""
CLEARLY_MORE_PROBABLE = 3.0
"""After `ANSWERS_FOR_SELDOM`, where queries are no corners, two models in the place of one of several are passed over
up to these odds; before that, up to `MORE_PROBABLE`.
Swept: of 0.4, 1 and 3 on three models of which two differ in one to eight features (seeds 777,000 with 1 to 8), and on
ordinary ones (seeds 130,000 to 130,003), of which 0.4 took up to twice the answers; and, until 1,000 in place of 400
answers, 18 of 50 runs with promise="typical" took more than was planned.
A model on the line through two with more than these odds also ends a run of many answers whose own bound is below γ:
with noise of Student's t (5 degrees of freedom) three models in a box went on from 8,039 answers to 84,748."""
SHARE_OF_TAILS = 0.02
"""Where queries are no corners, this share of a model's answers may be far from it before two are tried in its place.
Taste: as many as a model has to give to be one. Without it, outliers and t₃ noise kept nearly all runs from an end."""
BEYOND_DOUBT = 0.99
"""Coefficients more probable than this to be non-zero have the error that their standard error says; all others count
in the estimate of what was not found.
Swept: as in the prototype of the bound for any vectors, on seeds from 60,000 on; 0.5 was wrong in 2 of 9 runs."""
LOOK_SHARE_OF_ETA = 0.7
"""Each look at the bound for any vectors may be wrong with this share of η.
Swept: of 0.5, 0.7 and 1 on seeds from 60,000 on, where a dense tail keeps the error just above γ for ever: 4, 5 and 11
of 155 runs were certified."""
NEAR_GAMMA = 1.5
"""A look at the bound counts if it is below this many γ: from further away it seldom comes down at once.
Taste: never swept."""
MANY_LOOKS = 8
"""After this many looks, each may be wrong less often (`SHARE_AFTER_MANY_LOOKS`).
Taste: as in the prototype of the bound for any vectors."""
SHARE_AFTER_MANY_LOOKS = 0.5
"""After `MANY_LOOKS` looks, each may be wrong with this share of the probability that it had before.
Taste: as in the prototype of the bound for any vectors."""
ANSWERS_PER_INTERVAL = 12
"""Answers for each coefficient that was found, below which no interval is known while the precision is not reached.
Swept: over 0, 12 and 16, with n from 10 to 200, k = 3 and 20 to 120 answers, seeds 0 to 11 (900 to 911 of the pairs);
without it 58 of 283 runs had intervals that covered less than 85 %, 5 of 115 with 12, and 2 of 65 with 16."""
LEAST_FOUND = 5
"""Where fewer coefficients were found, answers are counted as for this many: others may not have been seen yet.
Taste: 60 answers are needed then; with 40, runs that had found 2 of 6 gave intervals for them."""

# Does the model hold: `model_checks.tuning` has what decides a check.

INTERIM_FACTOR = 4.0
"""The checks end a run that does not reach its precision from this many times the least number of answers on.
Taste: a further model that is there has shown itself by then."""
ANSWERS_IF_DOUBTFUL = 2.0
"""Where a check passed narrowly, a certificate takes this many times as many answers, once.
Taste: twice the answers turn half of the nats that decide into all of them."""
INTERIM_GROWTH = 1.5
"""While a run does not reach its precision, the checks are made again whenever there are this many times as many
answers. Taste: never swept."""
SIGNIFICANT_ERRORS = 5.0
"""A statistic this many standard errors from what the model says is significant.
Taste: never swept. It holds for the offset of the answers to x = 0, and for the level of a box at x = 0."""
LEAST_ANSWERS_FOR_OFFSET = 3
"""With fewer answers than this to x = 0, their offset is not looked at. Taste: never swept."""
