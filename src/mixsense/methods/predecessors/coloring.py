"""Mixed-Coloring (Yin, Pedarsani, Chen, Ramchandran 2019): sparse queries, and a decoder in linear time."""

from __future__ import annotations

import math

import numpy as np

from mixsense.checks import as_int, as_size
from mixsense.errors import InvalidInput
from mixsense.methods.paper.exact_values import EQUAL, answers_to_see_all
from mixsense.methods.predecessors import triples, tuning
from mixsense.methods.predecessors.density import design_for
from mixsense.methods.predecessors.found import Found, Whole, smallest_share
from mixsense.methods.predecessors.rateless import layers_until_explained
from mixsense.methods.predecessors.robust import robust
from mixsense.problem import MOST_MODELS, Problem
from mixsense.recovery import Recovery
from mixsense.rounds import Method, Round


def coloring(
    problem: Problem,
    rng: np.random.Generator,
    step: float | None = None,
    bins: int | None = None,
    rateless: bool = True,
) -> Method[Recovery]:
    """Recover sparse vectors with sparse queries: any number without noise, two on a grid with noise.

    Parameters
    ----------
    problem : Problem
        n; k helps, as the most non-zero coefficients that a vector has. σ is 0 or None without noise. The models are as
        many as the different answers to one query, which is asked until all given ones have answered. Given shares
        decide how often a query is asked.
    rng : Generator
        Draws the bins and the queries.
    step : float, optional
        With noise: every coefficient is a multiple of it.
    bins : int, optional
        Number of bins in all layers of the design; K times a number that density evolution gives by default.
    rateless : bool
        Ask further layers until every answer is explained. False stops after those of the design.

    Returns
    -------
    Recovery
        "certified" if every answer is one of the vectors' (with noise: every bin that could be read). Coefficients that
        were found without their owner stand in ``diagnostics["unowned"]`` as [position, value], and nowhere else: a
        vector never has a coefficient that is not surely its own. ``diagnostics["shared"]`` are the positions
        at which two vectors have the same value, which this method cannot treat.

    Notes
    -----
    READ (abstract): any constant number of models without noise, Θ(K) answers and time for K non-zero coefficients in
    all; two models with Gaussian noise, Θ(K polylog n). REMEMBERED, not checked against the text: bins, the ratio and
    summation checks, the order of the decoder's steps, the grid. Differs from what is remembered: (1) real queries,
    w_j = (j + 1)/n in place of complex roots; (2) each position is in one bin of every layer, a random partition, in
    place of d bins drawn from all, so that layers can be added; (3) decoding is tried from 0.4 of the layers on, and
    layers are added one by one; (4) colours are peeled one after the other from the largest component that has no owner
    yet, so that two components of one vector are no harm; (5) the three queries of a bin are asked equally often, and
    more often if a share is small; (6) the certificate: every single answer, not only the consistent triples, is a
    value of one of the vectors. The formulas of density evolution are derived here.

    Examples
    --------
    >>> import mixsense as ms
    >>> pair = ms.random_pair(1000, 10, gap=3.0, seed=1)
    >>> r = ms.recover(ms.SimulatedOracle(pair, 0.0), 1000, k=10, sigma=0.0, method="coloring", seed=2)
    >>> r.status, ms.match_error(r.vectors, pair) < 1e-9
    ('certified', True)
    """
    if bins is not None:
        bins = as_int("bins", bins, tuning.FEWEST_BINS, "the number of bins of the design")
    if step is not None:
        step = as_size("step", step, "what all coefficients are multiples of")
    if problem.sigma:
        result = yield from robust(problem, rng, step, bins, rateless)
        return result
    if step is not None and problem.sigma is None:
        raise InvalidInput("step is for answers with noise: give sigma, the noise, or leave step out")
    return (yield from _without_noise(problem, rng, bins, rateless))


def _without_noise(problem: Problem, rng: np.random.Generator, bins: int | None, rateless: bool) -> Method[Recovery]:
    code = triples.Ratio(problem.n, rng)
    whole = yield from _whole(problem, code)
    L = code.models = len(whole.values)
    design = design_for(L, smallest_share(problem, L))
    return (yield from layers_until_explained(Found(problem, code, whole, design), bins, rateless, rng))


def _whole(problem: Problem, code: triples.Ratio) -> Method[Whole]:
    """Ask one query of all positions until as many different answers were seen as models are given."""
    from scipy.sparse import csr_array

    row = csr_array(code.signatures[:1])  # as all others, which are mostly 0
    told = problem.given_models
    share = 1 / MOST_MODELS if told is None else smallest_share(problem, told)
    most = answers_to_see_all(share, tuning.COUNT_RISK * problem.eta) if share < 1 else 1
    answers = values = np.empty(0)
    while len(values) < (told or math.inf) and len(answers) < most:
        times = most if told is None else min(told - len(values), most - len(answers))
        asked = yield Round(row, times, label="how many models: one query of all positions")
        answers = np.concatenate([answers, asked.answers])
        tolerance = EQUAL * float(np.abs(answers).max())
        values = triples.distinct(answers, tolerance)
    return Whole(code.signatures[0], values, tuning.ADDS_UP * float(np.abs(answers).max()))
