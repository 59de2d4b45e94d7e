"""Studies of methods whose queries are mostly 0: only the other entries are stored and shown."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing

import numpy as np
import pytest

pytest.importorskip("sqlalchemy")

from scipy.sparse import csr_array

import mixsense as ms
from mixsense.rounds import dense, is_sparse
from mixsense.studies.storage.access import Misshapen
from mixsense.studies.storage.packing import SPARSE, as_queries, as_vector, packed

N = 3000
GIVEN = {"n": N, "gamma": 0.0, "sigma": 0.0, "k": 20, "method": "coloring", "models": 2, "seed": 3}


@pytest.fixture
def study(tmp_path):
    with closing(ms.create_study(tmp_path / "s.db", "s", **GIVEN)) as study:
        yield study


def pair():
    return ms.random_pair(N, 20, gap=3.0, seed=1)


class Dense:
    """An oracle that takes arrays only."""

    def __init__(self):
        self.oracle = ms.SimulatedOracle(pair(), 0.0, seed=2)

    def __call__(self, queries, repeats):
        assert isinstance(queries, np.ndarray)
        return self.oracle(queries, repeats)


def stored_bytes(study):
    with sqlite3.connect(study._database.url.database) as db:
        return db.execute("select count(*), sum(length(x)) from mixsense_queries").fetchone()


@pytest.mark.parametrize("oracle", [lambda: ms.SimulatedOracle(pair(), 0.0, seed=2), Dense])
def test_a_study_stores_only_what_is_not_0_and_finds_what_recover_finds(study, oracle):
    r = ms.run_study(study, oracle(), workers=1, batch=40)
    same = ms.recover(oracle(), **GIVEN)
    assert r.status == "certified"
    assert ms.match_error(r.vectors, same.vectors) <= 1e-12  # a row alone is summed in another order than among many
    assert ms.match_error(r.vectors, pair()) <= 1e-8
    rows, size = stored_bytes(study)
    entries = sum(asked.vectors.nnz for asked in study.record())
    assert size == 16 * entries + 4 * rows < 0.4 * rows * 8 * N  # a bin holds a tenth of the positions, a new query all
    assert all(is_sparse(asked.vectors) for asked in study.record())
    assert study.answers()[0]["x"].shape == (N,)


def test_a_sparse_question_is_a_whole_vector_and_shows_only_what_is_not_0(study):
    oracle, question = ms.SimulatedOracle(pair(), 0.0, seed=2), study.ask()
    while np.count_nonzero(question.x) == N:  # how many models: one query is of all positions
        study.tell(question.id, oracle(question.x[None], 1).item())
        question = study.ask()
    assert question.sparse
    assert question.x.shape == (N,)
    shown = json.loads(json.dumps(question.to_dict()))["x"]
    places = np.flatnonzero(question.x)
    assert len(shown) == len(places) < N / 2
    assert shown == {study.names[j]: question.x[j] for j in places}
    assert str(question).count(", ") == len(places) - 1


def test_rows_that_were_stored_whole_are_read_beside_the_others(tmp_path):
    path = tmp_path / "old.db"
    with closing(ms.create_study(path, "s", **GIVEN)) as study:
        study.ask_many(1)
        before = study._storage.round(0)[0].queries
    with sqlite3.connect(path) as db:  # as an older mixsense wrote them
        for query, row in enumerate(dense(before).astype("<f8")):
            db.execute("update mixsense_queries set x = ? where query = ?", (row.tobytes(), query))
    with closing(ms.load_study(path, "s")) as study:
        assert not study.ask().sparse
        assert np.array_equal(study._storage.round(0)[0].queries, dense(before))
        r = ms.run_study(study, ms.SimulatedOracle(pair(), 0.0, seed=2), workers=1, batch=40)
    assert r.status == "certified"


def test_packed_rows_come_back_as_they_were():
    rows = csr_array(np.array([[0.0, -1.5, 0.0, 2.0], [0.0] * 4, [1e-300, 0.0, 0.0, 0.0]]))
    assert (as_queries(packed(rows), 4) != rows).nnz == 0
    assert np.array_equal(as_vector(packed(rows)[0], 4), [0.0, -1.5, 0.0, 2.0])
    whole = np.frombuffer(SPARSE * 2 + bytes(8), dtype="<f8")  # begins as a sparse one does
    assert np.array_equal(as_queries(packed(whole[None]), 2)[0], whole)


@pytest.mark.parametrize(
    "bad",
    [
        packed(csr_array([[0.0, 1.0, 2.0]]))[0][:-8],
        packed(csr_array([[0.0, 1.0, 2.0, 0.0, 5.0]]))[0],
        SPARSE + np.array([1, 1]).tobytes() + np.ones(2).tobytes(),
        SPARSE + np.array([-1]).tobytes() + np.ones(1).tobytes(),
        SPARSE + np.array([1]).tobytes() + np.array([np.nan]).tobytes(),
        bytes(8),
        17,
    ],
)
def test_damaged_rows_are_refused(bad):
    with pytest.raises(Misshapen, match="query"):
        as_vector(bad, 3)
