"""The table of mistakes: what is given, which error it is, and what the message tells the user to do."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import mixsense as ms
from mixsense.methods.paper.constants import preset

PAIR = ms.random_pair(20, 2, gap=4.0, seed=0)
DATA = np.ones((50, 20))
GOOD = {"n": 20, "k": 2, "sigma": 1.0, "m": 30, "batch": 50, "seed": 1, "method": "paper"}


def oracle(seed: int = 0) -> ms.SimulatedOracle:
    return ms.SimulatedOracle(PAIR, sigma=1.0, seed=seed)


MISTAKES = [
    # argument of recover, its value, what the message says
    ({"n": 0}, "n is 0; it must be at least 1"),
    ({"n": -3}, "it must be at least 1"),
    ({"n": 2.5}, "it must be a whole number"),
    ({"n": "20"}, "it must be a whole number"),
    ({"n": None}, "it must be a whole number"),
    ({"n": True}, "n is True; it must be a whole number"),
    ({"n": -(10**5000)}, "n is <int>; it must be at least 1"),
    ({"n": 10**12}, "n is 1000000000000; it must be at most 1e+08"),
    ({"n": np.ones((30, 30))}, "n is array([[1., 1., 1., 1., 1.,"),
    ({"k": True}, "k is True; it must be a whole number"),
    ({"k": np.True_}, "it must be a whole number"),
    ({"k": 0}, "k is 0; it must be at least 1"),
    ({"k": 21}, "give k between 1 and 20"),
    ({"k": 1.5}, "it must be a whole number"),
    ({"k": None, "m": None}, "give k, or their number m"),
    ({"sigma": -1.0}, "sigma is -1; it must be at least 0"),
    ({"sigma": np.nan}, "sigma is nan; it must be finite"),
    ({"sigma": np.inf}, "sigma is inf; it must be finite"),
    ({"sigma": "one"}, "it must be a real number"),
    ({"sigma": 1j}, "it must be a real number"),
    ({"sigma": 0.0}, "use method='noiseless'"),
    ({"sigma": 0.0, "method": "single"}, "use method='noiseless'"),
    ({"sigma": 1.0, "method": "noiseless", "batch": ...}, "use method='frugal'"),
    ({"gamma": 0.0}, "gamma is 0; it must be above 0"),
    ({"gamma": 0.0, "sigma": None}, "gamma is 0; method='paper' is for noisy answers: give a gamma above 0"),
    ({"gamma": 0.0, "sigma": 0.0}, "use method='noiseless'"),
    ({"gamma": 0.0, "sigma": 0.0, "method": "single"}, "use method='noiseless'"),
    ({"gamma": -0.1, "sigma": 0.0}, "gamma is -0.1; it must be at least 0"),
    ({"gamma": -0.1}, "it must be above 0"),
    ({"gamma": True}, "gamma is True; it must be a real number"),
    ({"gamma": np.array(True)}, "it must be a real number"),
    ({"gamma": np.array([0.1])}, "it must be a real number"),
    ({"sigma": False}, "sigma is False; it must be a real number"),
    ({"eta": np.True_}, "it must be a real number"),
    ({"gamma": np.nan}, "it must be finite"),
    ({"gamma": None, "batch": None}, "needs one, such as gamma=0.1, or a fixed batch"),
    ({"eta": 0.0}, "eta is 0; it must be above 0"),
    ({"eta": 1.0}, "it must be below 1"),
    ({"eta": "low"}, "it must be a real number"),
    ({"weights": (0.7, 0.3)}, "assumes equal shares; leave weights out"),
    ({"weights": (0.7, 0.7)}, "weights sum to 1.4, not 1"),
    ({"weights": (1.0, 0.0)}, "it must be above 0"),
    ({"weights": (0.2, 0.3, 0.5)}, "assumes equal shares; leave weights out"),
    ({"weights": (0.2, 0.3, 0.5), "models": 2}, "weights has 3 entries, models is 2"),
    ({"weights": "even"}, "give shares such as (0.7, 0.3), or"),
    ({"weights": 0.5}, "give shares such as (0.7, 0.3), or"),
    ({"method": "papr"}, "give one of 'frugal', 'paper'"),
    ({"max_queries": 0}, "max_queries is 0; it must be at least 1"),
    ({"max_queries": 10.5}, "it must be a whole number"),
    ({"max_queries": True}, "max_queries is True; it must be a whole number"),
    ({"max_queries": 10**30}, "it must be at most 1e+18"),
    ({"weights": (True, False)}, "it must be a real number"),
    ({"weights": np.ones((30, 3))}, "weights has 30 entries"),
    ({"intercept": "no"}, "intercept is 'no': give True or False"),
    ({"intercept": np.ones(3)}, "give True or False"),
    ({"seed": True}, "seed is True: give a whole number"),
    ({"seed": -1}, "give a whole number of at least 0"),
    ({"seed": "abc"}, "give a whole number of at least 0"),
    ({"m": 1}, "m is 1; it must be at least 2"),
    ({"m": 2.5}, "it must be a whole number"),
    ({"batch": 1}, "batch is 1; it must be at least 4"),
    ({"batch": "big"}, "it must be a whole number"),
    ({"pairs": "some"}, "give 'pivot' or 'all'"),
    ({"constants": "loose"}, "give one of 'practical', 'theory'"),
    ({"batches": 3}, "has no option 'batches': it takes m, batch"),
]


@pytest.mark.parametrize(("change", "message"), MISTAKES, ids=lambda v: v if isinstance(v, str) else "".join(v))
def test_a_mistake_is_told_before_anything_is_asked(change, message):
    arguments = {name: value for name, value in (GOOD | change).items() if value is not ...}
    asked = oracle()
    with pytest.raises(ms.InvalidInput, match=r".") as caught:
        ms.recover(asked, **arguments)
    assert message in str(caught.value)
    assert str(caught.value).isprintable()  # one line
    assert len(str(caught.value)) < 300
    assert isinstance(caught.value, ValueError)
    assert asked.count == 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ms.random_pair(5, 2, gap=1.0, seed=-1), "give a whole number of at least 0"),
        (lambda: ms.SimulatedOracle(PAIR, seed="x"), "give a whole number of at least 0"),
        (lambda: ms.Recovery.from_json('{"mixsense": 1, "vectors": [[1], [1, 2]]}'), "not a mixsense result"),
        (lambda: ms.recover(oracle(), **(GOOD | {"sigma": None, "constants": "theory"})), "known sigma; give it"),
        (lambda: ms.recover(42, **GOOD), "give a callable oracle(queries, repeats)"),
        (lambda: ms.recover((DATA, DATA[:, 0]), 20), "data you already have: ms.fit(X, y)"),
        (lambda: ms.recover((DATA, DATA[:, 0]), 20), "oracle is a tuple of length 2: give a callable"),
        (lambda: ms.ReplayOracle((DATA, DATA[:, 0])), "give a list of pairs, [(queries, answers)]"),
        (
            lambda: ms.ReplayOracle((DATA, DATA[:, 0])),
            "a part of it is an array of shape (50, 20), which is not a pair",
        ),
        (lambda: ms.ReplayOracle((DATA[:2], DATA[:2])), "a part of it is an array of shape (2, 20), which is not"),
        (lambda: ms.ReplayOracle(DATA), "the record is an array of shape (50, 20): give a list of pairs"),
        (lambda: ms.ReplayOracle({"queries": DATA}), "the record is a dict of length 1: give a list of pairs"),
        (lambda: ms.ReplayOracle([(DATA, DATA[:, 0])]), "answers (50,) do not match"),
        (lambda: ms.ReplayOracle(None), "the record is None: give a list of pairs"),
        (lambda: ms.ReplayOracle("a.jsonl"), "give a list of pairs"),
        (lambda: ms.ReplayOracle([(DATA, DATA + np.nan)]), "answers[0, 0] is nan"),
        (lambda: ms.ReplayOracle([(DATA * np.inf, DATA)]), "queries[0, 0] is inf"),
        (lambda: ms.ReplayOracle([(DATA, 1e200 * DATA)]), "beyond 1e+15"),
        (lambda: ms.ReplayOracle([(DATA, DATA.astype(str))]), "answers must be real numbers"),
        (lambda: ms.ReplayOracle([(DATA, 1j * DATA)]), "answers must be real numbers"),
        (lambda: ms.ReplayOracle([([[1.0]], [[10**400]])]), "answers must be real numbers"),
        (lambda: ms.ReplayOracle([], then=5), "then is 5: give an oracle"),
        (lambda: ms.ReplayOracle([])("abc", 1), "queries must be real numbers"),
        (lambda: oracle()([[1.0], [1.0, 2.0]], 1), "queries must be real numbers: this oracle takes (q, 20)"),
        (lambda: oracle()([[None] * 20], 1), "queries must be real numbers"),
        (lambda: oracle()(np.full((1, 20), np.nan), 1), "queries[0, 0] is nan"),
        (lambda: oracle().skip(-1), "count is -1; it must be at least 0"),
        (lambda: ms.SimulatedOracle([1.0, 2.0]), "it must be (L, n)"),
        (lambda: ms.SimulatedOracle([[1.0], [np.nan]]), "vectors[1, 0] is nan"),
        (lambda: ms.SimulatedOracle([["a"], ["b"]]), "must be real numbers: give (L, n)"),
        (lambda: ms.SimulatedOracle([[1.0, 2.0], [1.0]]), "vectors of equal length"),
        (lambda: ms.SimulatedOracle([[True], [False]]), "must be real numbers: give (L, n)"),
        (lambda: ms.SimulatedOracle(PAIR, sigma=-1), "it must be at least 0"),
        (lambda: ms.SimulatedOracle(PAIR, weights="estimate"), "the shares have to be known here"),
        (lambda: oracle()(np.ones((2, 3)), 1), "this oracle takes (q, 20)"),
        (lambda: oracle()(np.ones((2, 20)), 0), "repeats is 0; it must be at least 1"),
        (lambda: ms.random_pair(5, 7, gap=1.0), "give k between 1 and 5"),
        (lambda: ms.random_pair(5, 2, gap=0.0), "gap is 0; it must be above 0"),
        (lambda: ms.random_pair(5, 3, gap=1.0, overlap=0), "give one between 1 and 3"),
        (lambda: ms.match_error(np.ones((2, 3)), np.ones((2, 4))), "they must be equal"),
        (lambda: ms.match_error(np.ones(3), np.ones(3)), "it must be (L, n)"),
        (lambda: ms.Recovery.from_json("{}"), "give the text that to_json() returned"),
        (lambda: ms.Recovery.from_json('{"mixsense": 1}'), "not a mixsense result ('vectors' is missing)"),
        (lambda: ms.Recovery.from_json("no"), "not a mixsense result"),
        (lambda: ms.Recovery.from_json('{"mixsense": 99}'), "this program reads format 1"),
        (lambda: ms.Recovery(PAIR, "fine"), "it must be one of certified"),
        (lambda: ms.Recovery(PAIR, "single").summary(["a"]), "1 names for 20 coefficients"),
        (lambda: preset("x"), "give one of"),
        (lambda: ms.mixture.em([[]], 1.0), ""),
        (lambda: ms.mixture.em([1.0], 1.0), ""),
        (lambda: ms.mixture.em([1.0, 2.0], -1.0), ""),
        (lambda: ms.decode.basis_pursuit(np.ones((2, 3)), np.ones(3)), ""),
    ],
)
def test_a_mistake_elsewhere_is_told_too(call, message):
    with pytest.raises(ms.InvalidInput, match=r".") as caught:
        call()
    assert message in str(caught.value)
    assert str(caught.value).isprintable()  # one line


def test_noisy_answers_to_the_noiseless_method_are_noticed_and_kept():
    asked = oracle()
    with pytest.raises(ms.ModelError, match="use method='frugal' if they are noisy") as caught:
        ms.recover(asked, 20, k=2, method="noiseless", seed=1)
    assert isinstance(caught.value, RuntimeError)
    assert sum(len(part) for part in caught.value.record) == asked.count > 0


def test_a_failed_run_goes_on_from_its_record():
    whole = ms.recover(oracle(), **GOOD)
    failing, answered = oracle(), 0

    def unreliable(queries, repeats):
        nonlocal answered
        answered += 1
        if answered == 50:
            raise ConnectionError("gone")
        return failing(queries, repeats)

    with pytest.raises(ms.OracleError, match="ConnectionError: gone") as caught:
        ms.recover(unreliable, **GOOD)
    spent = failing.count
    result = ms.recover(ms.ReplayOracle(caught.value.record, then=failing), **GOOD)
    assert result == whole
    assert failing.count == whole.queries > spent


def test_a_drawn_seed_travels_with_the_error():
    def failing(queries, repeats):
        raise OSError("down")

    with pytest.raises(ms.OracleError) as caught:
        ms.recover(failing, 20, gamma=0.5)
    assert isinstance(caught.value.seed, int)


def test_an_oracle_with_an_offset_and_no_noise_is_told():
    with pytest.raises(ms.ModelError, match="subtract this offset"):
        ms.recover(lambda queries, repeats: np.full((len(queries), repeats), 7.0), 20, gamma=0.5)


def test_shares_may_be_an_array():
    assert ms.Problem(n=3, weights=np.array([0.25, 0.75])).weights == (0.25, 0.75)


def test_errors_keep_their_data_across_processes():
    error = pickle.loads(pickle.dumps(ms.OracleError("query 3 failed", query=3, record=[])))
    assert (str(error), error.query, error.record) == ("query 3 failed", 3, [])
    with pytest.raises(AttributeError, match="has no attribute 'other'"):
        error.other
