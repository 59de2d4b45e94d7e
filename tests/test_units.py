"""Queries stay in the user's box, and results come back in the user's units."""

import numpy as np
import pytest

import mixsense as ms
from mixsense.features.units import Units

N = 8
WIDE = [(0.0, 10.0), (-1.0, 1.0), (100.0, 300.0), (1.0, 7.0), (-5.0, 0.0), (0.0, 1.0), (-2.0, 6.0), (3.0, 4.0)]
SYMMETRIC = [(-h, h) for h in (1.0, 10.0, 0.1, 3.0, 5.0, 2.0, 1.0, 4.0)]


class Boxed:
    """Two linear models in the user's units, with constants; refuses queries outside of the box."""

    def __init__(self, box, intercept=(0.0, 0.0), sigma=0.5, seed=0):
        self.low, self.high = np.array(box).T
        rng = np.random.default_rng(seed)
        effects = np.zeros((2, N))
        for row in effects:
            row[rng.choice(N, 3, replace=False)] = rng.choice([-1, 1], 3) * rng.uniform(1, 3, 3)
        self.effects, self.half = effects, (self.high - self.low) / 2
        self.vectors = effects / self.half
        self.intercept, self.sigma, self.rng = np.array(intercept), sigma, rng

    def __call__(self, X, repeats):
        assert (X >= self.low).all()
        assert (X <= self.high).all()
        means = X @ self.vectors.T + self.intercept
        model = self.rng.integers(0, 2, (len(X), repeats))
        return np.take_along_axis(means, model, axis=1) + self.sigma * self.rng.standard_normal(model.shape)


def in_order(r, oracle):
    first = np.linalg.norm((r.vectors - oracle.vectors) * oracle.half)
    swapped = np.linalg.norm((r.vectors[::-1] - oracle.vectors) * oracle.half)
    return [0, 1] if first <= swapped else [1, 0]


@pytest.mark.parametrize("design", ["corners", "gaussian"])
@pytest.mark.parametrize("box", [WIDE, SYMMETRIC], ids=["wide", "symmetric"])
def test_frugal_in_a_box(box, design):
    oracle = Boxed(box)
    r = ms.recover(oracle, N, gamma=0.5, box=box, design=design, seed=1, max_queries=8000)
    assert r.status == "certified"
    assert ms.match_error(r.vectors * oracle.half, oracle.effects) <= 0.5
    # Six coefficients that were found: none is off by five standard errors (probability below 1e-5).
    off = np.abs(r.vectors[in_order(r, oracle)] - oracle.vectors) / r.stderr[in_order(r, oracle)]
    assert off[oracle.vectors != 0].max() < 5


def test_intercepts_are_found_with_their_errors():
    z = []
    for seed in range(10):
        oracle = Boxed(WIDE, intercept=(40.0, 30.0), seed=seed)
        r = ms.recover(oracle, N, gamma=0.5, box=WIDE, intercept=True, seed=seed, max_queries=4000)
        z.append((r.intercept[in_order(r, oracle)] - oracle.intercept) / r.intercept_stderr[in_order(r, oracle)])
        assert ms.match_error(r.vectors * oracle.half, oracle.effects) <= 1.0
    # Twenty z-values: their mean square is 1 with standard error √(2/20) = 0.32; five of them.
    assert 0.1 < np.mean(np.square(z)) < 2.6


def test_a_missing_intercept_is_noticed():
    r = ms.recover(Boxed(WIDE, intercept=(40.0, 30.0)), N, gamma=0.5, box=WIDE, seed=1, max_queries=2000)
    assert r.status == "uncertain"
    assert "give intercept=True" in r.diagnostics["warnings"][0]


@pytest.mark.parametrize("sigma", [0.0, None])
def test_answers_without_noise(sigma):
    oracle = Boxed(WIDE, sigma=0.0)
    r = ms.recover(oracle, N, gamma=0.1, sigma=sigma, box=WIDE, seed=2, max_queries=2000)
    assert r.status == "certified"
    assert ms.match_error(r.vectors * oracle.half, oracle.effects) < 0.1


def test_opposite_models_in_a_box():
    oracle = Boxed(SYMMETRIC)
    oracle.effects[1] = -oracle.effects[0]
    oracle.vectors = oracle.effects / oracle.half
    r = ms.recover(oracle, N, gamma=0.4, box=SYMMETRIC, seed=3, max_queries=3000)
    assert ms.match_error(r.vectors * oracle.half, oracle.effects) < 0.4


def test_the_papers_method_in_a_box():
    oracle = Boxed(SYMMETRIC, sigma=0.1)
    r = ms.recover(oracle, N, gamma=0.5, k=3, method="paper", batch=60, m=60, box=SYMMETRIC, seed=4)
    assert ms.match_error(r.vectors * oracle.half, oracle.effects) < 1.0
    single = ms.recover(oracle, N, gamma=20.0, k=3, method="single", box=SYMMETRIC, seed=4)
    assert single.status == "single"


def test_noiseless_in_a_box():
    oracle = Boxed(SYMMETRIC, sigma=0.0)
    r = ms.recover(oracle, N, k=3, method="noiseless", box=SYMMETRIC, seed=4)
    assert ms.match_error(r.vectors * oracle.half, oracle.effects) < 1e-9


def test_names_and_round_trip():
    names = [f"feature {j}" for j in range(N)]
    oracle = Boxed(WIDE, intercept=(40.0, 30.0))
    r = ms.recover(oracle, N, gamma=0.8, box=WIDE, intercept=True, features=names, seed=1, max_queries=2000)
    assert r.names == tuple(names)
    assert "feature " in r.summary()
    assert "(intercept)" in r.summary()
    assert ms.Recovery.from_json(r.to_json()) == r


BAD = [
    ({"box": [(0, 1)]}, "box has 1 ranges for 3 features"),
    ({"box": [(0, 1), (1, 0), (0, 1)]}, "'b' is \\(1, 0\\): low must be below high"),
    ({"box": [(0, 1), (0, "x"), (0, 1)]}, "range of feature 'b'"),
    ({"box": [(0, 1), (0, float("inf")), (0, 1)]}, "range of feature 'b'"),
    ({"box": [(0, 1), (0, 1, 2), (0, 1)]}, "'b' has 3 numbers"),
    ({"box": [(0, 1), (False, True), (0, 1)]}, "box is False; it must be a real number: the range of feature 'b'"),
    ({"box": [(0, 1), (-1e308, 1e308), (0, 1)]}, "'b' is \\(-1e\\+308, 1e\\+308\\): .*up to 1e\\+100"),
    ({"box": [(0, 1), (0, 5e-324), (0, 1)]}, "'b' is \\(0, 4.94066e-324\\): .*further apart"),
    ({"box": [(0, 1), (1e17, 1e17 + 16), (0, 1)]}, "'b' is .*further apart"),
    ({"box": "0,1"}, "give \\(low, high\\) for each feature"),
    ({"box": 3}, "give \\(low, high\\) for each feature"),
    ({"box": [(0, 1)] * 3, "intercept": "yes"}, "give True or False"),
    ({"intercept": True}, "intercept=True needs the range"),
    ({"design": "corners"}, "design is for queries in a box"),
    ({"box": [(0, 1)] * 3, "design": "round"}, "give 'corners' or 'gaussian'"),
    ({"box": [(-1, 1), (0, 1), (-1, 1)], "method": "paper", "k": 1}, "feature 'b' is \\(0, 1\\).*0 inside"),
    ({"box": [(-1, 1)] * 3, "method": "paper", "k": 1, "intercept": True}, "no intercept"),
    ({"gama": 0.1}, "did you mean 'gamma'"),
    ({"eta": 1e-17}, "eta is 1e-17; it must be at least 1e-12"),
    ({"steer": "no"}, "steer is 'no': give True or False"),
    ({"features": ["a", "b"]}, "2 features for n = 3"),
    ({"features": ["a", "b", "b"]}, "two features are called 'b'"),
    ({"features": ["a", "b", ""]}, "give printable text"),
    ({"features": ["a", "b", "\x1b[2J"]}, r"name is '\\x1b\[2J': give printable text"),
    ({"features": "abc"}, "a list of 3 names"),
    ({"features": np.array([["a", "b", "c"]] * 9)}, "a list of 3 names"),
]


@pytest.mark.parametrize(("given", "message"), BAD, ids=[str(i) for i in range(len(BAD))])
def test_mistakes_are_named(given, message):
    given = {"features": ["a", "b", "c"], **given}
    with pytest.raises(ms.InvalidInput, match=message) as caught:
        ms.recover(lambda X, repeats: np.zeros((len(X), repeats)), 3, **given)
    assert str(caught.value).isprintable()  # one line


@pytest.mark.parametrize("rating", ["always 4", "3 or 4", "mostly 4"])
def test_ratings_that_do_not_depend_on_x_prove_nothing_about_it(rating):
    rng = np.random.default_rng(0)
    draw = {"always 4": [4.0], "3 or 4": [3.0, 4.0], "mostly 4": [4.0] * 30 + [7.0]}[rating]
    r = ms.recover(lambda X, repeats: rng.choice(draw, (len(X), repeats)), 4, gamma=0.5, box=[(0, 1)] * 4,
                   intercept=True, seed=1, max_queries=150)  # fmt: skip
    assert np.abs(r.vectors).max() < 0.1


def test_rounded_answers_are_not_taken_for_exact_ones():
    oracle = Boxed(WIDE, intercept=(40.0, 30.0), sigma=0.01)
    r = ms.recover(lambda X, repeats: np.round(oracle(X, repeats)), N, gamma=0.9, box=WIDE, intercept=True, seed=2,
                   max_queries=2000)  # fmt: skip
    # Rounding is no noise that averages out: the bound is of the right size, not exact.
    assert ms.match_error(r.vectors * oracle.half, oracle.effects) <= 2 * r.error_bound
    assert 0.05 < r.error_bound <= 0.9


def test_decode_stays_inside_whatever_the_rounding():
    units = Units.of(2, None, [(0.1, 0.3), (-1e9, 1e-9)])
    corners = units.decode(np.array([[1.0, 1.0], [-1.0, -1.0]]))
    assert (corners <= units.high).all()
    assert (corners >= units.low).all()
    np.testing.assert_allclose(corners, [[0.3, 0.0], [0.1, -1e9]], atol=1e-6)


def test_the_bound_in_a_box_is_about_half_of_each_range_also_where_0_is_not_its_middle():
    pair = ms.random_pair(8, 2, gap=5.0, seed=1)
    for seed in range(3):
        oracle = ms.SimulatedOracle(pair, sigma=0.05, seed=5 + seed)
        given = {"k": 2, "sigma": 0.05, "box": [(-1, 20)] * 8, "seed": seed}
        r = ms.recover(oracle, 8, gamma=1.0, method="paper", max_queries=400_000, **given)
        # The effect of half of a range is 10.5 times the coefficient; the bound has a failure probability of 0.05.
        assert 10.5 * ms.match_error(r.vectors, pair) <= r.error_bound


@pytest.mark.parametrize("level", [1e6, -1e8])
def test_a_large_level_that_all_answers_share_costs_nothing(level):
    # Without the level taken off, 1e6 was never certified, and at 1e8 two models were called one.
    near, far = (
        ms.recover(Boxed(WIDE, (at, at + 1.0)), N, gamma=0.5, box=WIDE, intercept=True, seed=1) for at in (0.0, level)
    )
    assert (far.status, far.queries) == (near.status, near.queries) == ("certified", near.queries)
    # The same answers but for what is left of the level: far less than a standard error apart.
    assert (np.abs(far.vectors - near.vectors) < 0.2 * near.stderr).all()
    assert (np.abs(far.intercept - level - near.intercept) < 0.2 * near.intercept_stderr).all()
