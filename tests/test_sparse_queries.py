"""Queries of which only the non-zero entries are held, and queries that are exact fractions."""

from __future__ import annotations

from dataclasses import make_dataclass
from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import coo_array, csc_array, csr_array

import mixsense as ms
from mixsense.rounds import is_sparse, unlike
from mixsense.rounds import vectors as vectors_module

Result = make_dataclass("Result", ["asked", "queries"])
PAIR = ms.random_pair(30, 3, gap=2.0, seed=1)
ROWS = csr_array(np.round(np.random.default_rng(2).standard_normal((8, 30))))


def ask(queries, repeats=2):
    asked = yield ms.Round(queries, repeats)
    return Result(asked, 0)


def test_a_round_keeps_sparse_rows_sparse_and_nobody_can_change_them():
    round_ = ms.Round(ROWS, 3)
    assert is_sparse(round_.queries)
    assert round_.size == 24
    assert round_.queries is not ROWS
    with pytest.raises(ValueError, match="read-only"):
        round_.queries.data[0] = 1


@pytest.mark.parametrize("bad", [csr_array((0, 30)), csr_array([[np.nan]]), np.array([[object()]], dtype=object)])
def test_rows_that_are_no_queries_are_refused(bad):
    with pytest.raises(ms.InvalidInput, match="a round's queries"):
        ms.Round(bad)


def _with_index(kind, index):
    rows = kind(np.eye(3))
    (rows.coords[1] if kind is coo_array else rows.indices)[0] = index
    return rows


@pytest.mark.parametrize("kind", [csr_array, csc_array, coo_array])
@pytest.mark.parametrize("index", [7, -1])
def test_an_index_out_of_range_reads_no_foreign_memory(kind, index):
    rows = _with_index(kind, index)
    oracle = ms.SimulatedOracle(np.eye(3)[:2], sigma=0.0, seed=1)
    for use in (ms.Round, lambda rows: oracle(rows, 1), lambda rows: ms.Asked(rows, [1.0, 2.0, 3.0])):
        with pytest.raises(ms.InvalidInput, match=r"sparse queries cannot be used \(.*ind"):
            use(rows)


@pytest.mark.parametrize("kind", [np.array, csr_array])
def test_complex_queries_are_refused(kind):
    with pytest.raises(ms.InvalidInput, match="not numbers"):
        ms.Round(kind(np.eye(2) * 1j))


def test_a_simulation_answers_sparse_rows_as_it_answers_dense_ones():
    sparse, written_out = (ms.SimulatedOracle(PAIR, seed=3)(rows, 4) for rows in (ROWS, ROWS.toarray()))
    assert np.allclose(sparse, written_out, rtol=1e-14, atol=1e-14)  # sums of 30 products in another order


def test_only_an_oracle_that_says_so_is_sent_sparse_rows():
    class Plain:
        takes_sparse = False

        def __call__(self, queries, repeats):
            assert is_sparse(queries) == self.takes_sparse
            return np.zeros((queries.shape[0], repeats))

    class Sparse(Plain):
        takes_sparse = True

    for oracle in (Plain(), Sparse()):
        asked = ms.run(ask(ROWS), oracle).asked
        assert is_sparse(asked.vectors)
        assert asked.table().shape == (8, 2)
        assert asked.queries.shape == (16, 30)


def test_rows_are_written_out_in_small_pieces(monkeypatch):
    monkeypatch.setattr(vectors_module, "MOST_DENSE", 60)
    seen = []
    ms.run(ask(ROWS), lambda queries, repeats: (seen.append(len(queries)), np.zeros((len(queries), repeats)))[1])
    assert max(seen) <= 2
    assert sum(seen) == 8


def test_a_record_of_sparse_rows_answers_dense_ones_and_the_other_way_round(tmp_path):
    first = ms.RecordedOracle(ms.SimulatedOracle(PAIR, seed=3), tmp_path / "a.jsonl", {"seed": 1})
    answers = ms.run(ask(ROWS), first).asked.answers
    assert len((tmp_path / "a.jsonl").read_text()) < 30 * 8 * 20  # the entries that are not 0 only

    def never(queries, repeats):
        raise AssertionError("all of it is in the record")

    for rows in (ROWS, ROWS.toarray()):
        again = ms.RecordedOracle(never, tmp_path / "a.jsonl", {"seed": 1})
        assert np.array_equal(ms.run(ask(rows), again).asked.answers, answers)


def test_changed_rows_are_noticed_sparse_or_not():
    changed = ROWS.copy()
    changed.data[0] *= 1 + 1e-6
    for other in (changed, changed.toarray()):
        assert unlike(other, ROWS, 1e-9).tolist() == [True] + 7 * [False]
        assert not unlike(other, ROWS, 1e-3).any()


def test_an_exact_oracle_answers_exact_queries_with_fractions():
    oracle = ms.SimulatedOracle([[0.5, 0.0, 3.0]], sigma=0.0, exact=True)
    third = np.array([[Fraction(1, 3), Fraction(2), Fraction(1, 7)]])
    assert ms.run(ask(third, 1), oracle).asked.answers.tolist() == [Fraction(1, 6) + Fraction(3, 7)]
    assert ms.run(ask(np.eye(3), 1), oracle).asked.answers.tolist() == [0.5, 0.0, 3.0]
    assert ms.run(ask(csr_array(np.eye(3)), 1), oracle).asked.answers.dtype == np.float64


def test_an_oracle_that_is_not_exact_is_sent_floats_in_place_of_fractions():
    answers = ms.run(ask(np.array([[Fraction(1, 3), 2]]), 1), lambda queries, repeats: queries[:, :1]).asked.answers
    assert answers.tolist() == [1 / 3]


def test_noise_is_not_exact():
    with pytest.raises(ms.InvalidInput, match="sigma is 1: exact answers are without noise"):
        ms.SimulatedOracle(PAIR, sigma=1.0, exact=True)
