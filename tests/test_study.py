"""Studies: asking and telling, leases, resuming, and the same result as in memory. Every storage, one contract."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import mixsense as ms
from mixsense.methods import begin as begin_module
from mixsense.studies import study as study_module
from mixsense.studies.registry import delete_study, list_studies
from mixsense.studies.storage.tables import METADATA, sa
from study_cases import SMALL

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))
from kill_study import TRUTH, answer, oracle  # noqa: E402

pytest_plugins = ["study_storages"]


def answer_some(study, count):
    study.tell_many([(q.id, answer(q.x)) for q in study.ask_many(count)])


def with_time(monkeypatch, minutes):
    monkeypatch.setattr(study_module, "_minutes", lambda: minutes)


class TestContract:
    """What every storage does."""

    def test_a_question_is_told_once(self, make):
        study = make(features=[f"f{j}" for j in range(8)], units=["g"] * 8)
        q = study.ask()
        assert (q.x.shape, q.names[:2], q.units[0]) == ((8,), ("f0", "f1"), "g")
        assert q.to_dict()["x"]["f1"] == q.x[1]
        assert str(q).startswith(f"{q.id}: f0 ")
        before = study.progress()
        assert (before.answered, before.out, before.open) == (0, 1, before.size - 1)
        assert [study.tell(q.id, 6.5), study.tell(q.id, 6.5), study.tell(q.id, np.float64(6.5))] == [
            "taken",
            "known",
            "known",
        ]
        with pytest.raises(
            ms.InvalidInput, match="has another answer already, and an answer is never changed"
        ) as caught:
            study.tell(q.id, 7)
        assert "6.5" not in str(caught.value) + repr(caught.value.data)  # a refusal tells nothing of what is stored
        after = study.progress()
        assert (after.answered, after.out, after.total, after.surplus) == (1, 0, 1, 0)

    def test_the_result_is_that_of_recover_to_the_last_bit(self, make, url):
        study = make(max_queries=140)
        first = study.ask_many(30)[::-1]
        study.tell_many([(q.id, answer(q.x)) for q in first])  # answers are arranged by question, not by arrival
        study = ms.load_study(url, study.name)
        seen = []
        result = ms.run_study(study, oracle, workers=4, batch=7, progress=seen.append)
        same = ms.recover(oracle, **SMALL, max_queries=140)
        assert result == same
        assert seen[-1].asked == result.queries
        assert ms.recover(ms.ReplayOracle(study.record()), **study.problem) == same
        assert study.progress().state == "ended"
        assert (study.ask(), study.progress().status) == (None, same.status)
        assert ms.load_study(url, study.name).result() == same

    def test_a_lease_runs_out_and_a_late_answer_is_taken_or_surplus(self, make, monkeypatch):
        study = make(lease=600)
        size = study.progress().size
        with_time(monkeypatch, 1000.3)
        first = study.ask_many(size, in_order=True)
        assert len(first) == size
        assert study.ask_many(1, patient=True) == []
        assert study.progress().state == "waiting"
        with_time(monkeypatch, 1010.9)  # 1010.3, rounded up to full minutes
        assert study.ask_many(1, patient=True) == []
        with_time(monkeypatch, 1011.0)
        assert (study.progress().state, study.progress().open, study.progress().expired) == ("asking", size, 0)
        (again,) = study.ask_many(1, in_order=True)
        assert np.array_equal(again.x, first[0].x)
        assert again.id != first[0].id
        assert study.progress().expired == 1
        assert study.tell(first[1].id, 1.0) == "taken"  # late, and still useful
        assert study.tell(again.id, 2.0) == "taken"
        assert study.tell(first[0].id, 3.0) == "surplus"
        assert study.tell(first[0].id, 3.0) == "known"
        with pytest.raises(ms.InvalidInput, match="has another answer already"):
            study.tell(first[0].id, 4.0)
        assert (study.progress().surplus, study.progress().answered) == (1, 2)
        (late,) = study.ask_many(1, in_order=True)  # the third question, for the second time
        assert np.array_equal(late.x, first[2].x)
        assert study.tell(first[2].id, 5.0) == "taken"
        assert study.tell(late.id, 6.0) == "surplus"

    def test_an_answer_after_the_end_is_surplus(self, make):
        study = make(max_queries=12)
        q = study.ask()
        study.release()
        assert ms.run_study(study, oracle, batch=50).queries == 12
        assert study.tell(q.id, 1.0) == "surplus"
        assert study.progress().state == "ended"

    def test_a_changed_random_stream_does_not_change_what_was_asked(self, make, url, monkeypatch):
        study = make(gamma=0.3)
        answer_some(study, study.progress().size)
        answer_some(study, 5)  # the next round has begun
        answer_some(study, study.progress().open)
        before, record = study.result(), study.record()
        monkeypatch.setattr(begin_module, "generator", lambda seed: np.random.default_rng(seed + 1))
        other = ms.load_study(url, study.name)
        after = other.result()
        assert before.status == after.status == "open"
        # Only the random starts differ: they lead to the same maximum of the likelihood, in either order.
        assert ms.match_error(after.vectors, before.vectors) < 1e-3
        for part, part2 in zip(record, other.record(), strict=True):
            assert part.vectors.tobytes() == part2.vectors.tobytes()
            assert part.answers.tobytes() == part2.answers.tobytes()
        assert ms.match_error(ms.run_study(other, oracle, batch=50).vectors, TRUTH) < 0.3

    def test_the_paper_s_methods_take_stored_queries_too(self, make, url, monkeypatch):
        for settings in (
            {"method": "paper", "k": 2, "m": 12, "batch": 30},
            {"method": "noiseless", "k": 2, "sigma": None},
        ):
            study = make(settings["method"], **settings)
            source = ms.SimulatedOracle(TRUTH, sigma=0.0 if settings["method"] == "noiseless" else 1.0, seed=3)
            same = ms.recover(source, **{**SMALL, **settings})
            again = ms.SimulatedOracle(TRUTH, sigma=source.sigma, seed=3)
            while study.progress().round < 2:
                qs = study.ask_many(10_000, in_order=True)
                study.tell_many(zip([q.id for q in qs], again(np.stack([q.x for q in qs]), 1)[:, 0], strict=True))
            monkeypatch.setattr(begin_module, "generator", lambda seed: np.random.default_rng(seed + 1))
            result = ms.run_study(ms.load_study(url, study.name), again, workers=1, batch=10_000)
            np.testing.assert_allclose(result.vectors, same.vectors, atol=1e-9)
            monkeypatch.undo()

    def test_estimates_come_with_what_is_missing(self, make):
        study = make()
        with pytest.raises(ms.StudyError, match=r"no estimate yet: round 1 .* has 0 of"):
            study.result()
        size = study.progress().size
        answer_some(study, size)
        assert study.progress().state == "ready"
        estimate = study.result()
        assert (estimate.status, estimate.queries) == ("open", size)
        assert estimate.diagnostics["warnings"][0].startswith("the study goes on: round 2 (stage 1) has 0 of ")
        assert estimate.summary().startswith("open: the study goes on")

    def test_the_noise_alone_is_no_estimate(self, make):
        study = make(sigma=None)
        answer_some(study, study.progress().size)
        with pytest.raises(ms.StudyError, match=r"no estimate yet: round 2 \(.*\) has 0 of"):
            study.result()

    def test_the_budget_is_kept_and_a_failure_is_told(self, make):
        study = make(sigma=None, max_queries=40)
        for q in study.ask_many(1000):
            study.tell(q.id, 3.0)  # x = 0, always the same answer: no model of ours does that
        assert study.ask() is None
        assert (study.progress().state, study.progress().status) == ("failed", "failed")
        with pytest.raises(ms.ModelError, match="subtract this offset"):
            study.result()
        with pytest.raises(ms.BudgetError, match="nothing was asked"):
            make("poor", method="paper", k=2, max_queries=5)

    def test_answers_at_the_ends_of_their_range_are_a_warning(self, make):
        study = make(answer_range=(1, 7), scale="real")
        ids = [q.id for q in study.ask_many(40)]
        for value in (0, 7.01, -1e9):
            with pytest.raises(ms.InvalidInput, match="give a number from 1 to 7"):
                study.tell(ids[0], value)
        study.tell_many([(id_, 7 if i < 2 else 4) for i, id_ in enumerate(ids)])
        assert study.progress().warnings == ()  # 5 % are not more than 5 %
        study.tell(study.ask().id, 7)
        (warning,) = study.progress().warnings
        assert warning.startswith("7% of the answers are 7, the upper end of their range")
        assert "7, the upper end" in str(study.progress())
        assert "7, the upper end" in study.progress()._repr_html_()
        rated = make("rated", answer_range=(1, 7))  # where it is no harm
        rated.tell_many([(q.id, 7) for q in rated.ask_many(40)])
        assert rated.progress().warnings == ()

    def test_ids_of_other_studies_are_refused(self, make):
        study, other = make(), make("coffee")
        q = other.ask()
        with pytest.raises(ms.InvalidInput, match="belongs to another study"):
            study.tell(q.id, 1.0)
        assert study.progress().total == 0

    def test_studies_are_listed_and_deleted(self, make, url):
        study, other = make(), make("coffee")
        answer_some(other, 3)
        assert {study.name, other.name} <= set(list_studies(url))
        with pytest.raises(ms.InvalidInput, match=r"has a study .* already"):
            ms.create_study(url, study.name, **SMALL)
        delete_study(url, study.name)
        assert study.name not in list_studies(url)
        for use in (study.ask, study.progress, lambda: study.tell(f"{study._row.key}-1", 1.0), study.answers):
            with pytest.raises(ms.StudyError, match="has been deleted"):
                use()
        with pytest.raises(ms.InvalidInput, match="has no study"):
            ms.load_study(url, study.name)
        assert other.progress().total == 3

    def test_no_identity_no_address_no_time_is_stored(self, make, url):
        study = make()
        answer_some(study, 2)
        columns = {f"{t.name}.{c.name}" for t in METADATA.tables.values() for c in t.columns}
        with study._database.reading() as connection:
            inspector = sa.inspect(connection)
            there = {
                f"{table}.{column['name']}": column["type"]
                for table in inspector.get_table_names()
                if table.startswith("mixsense_")
                for column in inspector.get_columns(table)
            }
            leases = connection.execute(sa.text("SELECT count(*) FROM mixsense_leases")).scalar_one()
        assert set(there) == columns
        assert not [name for name, kind in there.items() if isinstance(kind, (sa.DateTime, sa.Time, sa.Date))]
        # The one column about time is the end of a lease, in minutes, and goes with the answer; that of a turn to
        # compute goes with the next round.
        assert sorted(name for name in columns if name.endswith(("until", "time", "at", "user", "address"))) == [
            "mixsense_computing.until",
            "mixsense_leases.until",
        ]
        assert leases == 0


@pytest.mark.parametrize("part", ["kill", "send", "quota"])
def test_nothing_is_lost_doubled_or_locked(part, url, request):
    journal = ["--journal", request.node.callspec.params["url"]] if url.startswith("sqlite") else []
    small = ["--kills", "12", "--processes", "8", "--tells", "24", "--asks", "1000"]  # 800 questions: three windows
    done = subprocess.run(
        [sys.executable, ROOT / "benchmarks" / "kill_study.py", part, "--db", url, *small, *journal],
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    words = {"kill": "none lost", "send": "192 stored", "quota": "all counted as expired"}
    assert words[part] in done.stdout


def test_ten_processes_one_after_another_are_one_recover(tmp_path):
    url, study = str(tmp_path / "a.db"), ms.create_study(tmp_path / "a.db", "tea", **{**SMALL, "gamma": 0.25})
    code = (
        "import sys; from kill_study import answer; import mixsense as ms\n"
        "study, left = ms.load_study(*sys.argv[1:3]), int(sys.argv[3])\n"
        "while left and (questions := study.ask_many(min(left, 5))):\n"
        "    study.tell_many([(q.id, answer(q.x)) for q in questions])\n"
        "    left -= len(questions)\n"
    )
    same = ms.recover(oracle, **{**SMALL, "gamma": 0.25})
    for _ in range(10):
        subprocess.run(
            [sys.executable, "-c", code, url, study.name, str(same.queries // 10 + 1)],
            check=True,
            cwd=ROOT / "benchmarks",
        )
    assert study.result() == same


@pytest.mark.parametrize(
    "settings",
    [{"box": [(0, 3)] * 8, "intercept": True, "sigma": None}, {"box": [(-2, 3)] * 8, "design": "gaussian"}],
    ids=["corners", "gaussian"],
)
def test_a_boxed_study_resumes_to_the_last_bit(tmp_path, settings):
    path, rng = tmp_path / "a.db", np.random.default_rng(1)
    problem = {**SMALL, "gamma": None, "max_queries": 120, **settings}
    ms.create_study(path, "box", **problem)
    low, high = settings["box"][0]
    for _ in range(100):
        study = ms.load_study(path, "box")  # a fresh method each time: everything is played back
        if not (questions := study.ask_many(40)):
            break
        X = np.stack([q.x for q in questions])
        assert ((X >= low) & (X <= high)).all()
        y = (X[:, None] @ TRUTH[rng.integers(2, size=len(X))][:, :, None])[:, 0, 0] + rng.standard_normal(len(X))
        study.tell_many(zip([q.id for q in questions], y, strict=True))
    assert study.result() == ms.recover(ms.ReplayOracle(study.record()), **study.problem)
    assert study.result().queries == 120


def test_a_stored_float_comes_back_to_the_last_bit(url):
    study = ms.create_study(url, "bits", **SMALL)
    values = [1 / 3, 5e-324, -1.7e14, 1e15, 2**49 + 1, -0.0, 0.1 + 0.2, 7]
    qs = study.ask_many(len(values), in_order=True)
    study.tell_many([(q.id, v) for q, v in zip(qs, values, strict=True)])
    assert [row["answer"] for row in study.answers()] == [float(v) for v in values]
    stored, _ = study._storage.round(0)
    drawn = next(begin_module.begin(ms.Problem.from_dict(study.problem))).queries
    assert stored.queries.tobytes() == drawn.tobytes()
    assert np.array_equal(np.stack([q.x for q in qs]), drawn[: len(qs)])
    assert json.loads(study._row.problem)["seed"] == 4
    delete_study(url, "bits")
    study.close()
