"""Studies of methods of the user's own, what they store of a round, and the groups that come back."""

from __future__ import annotations

import importlib
import subprocess
import sys

import numpy as np
import pytest

import mixsense as ms
from mixsense.studies.storage.storage import Told

pytest_plugins = ["study_storages"]

MYLAB = '''
import numpy as np
import mixsense as ms


def search(problem, rng, rounds=2, deep=0):
    """Ask the unit vectors in blocks of two, and take the mean answers for the vectors."""
    means = []
    for number in range(rounds):
        asked = yield ms.Round(np.eye(problem.n), 2, block=2, label=f"part {number}", least=3)
        means.append(asked.table().mean(axis=1).tolist())
    story = {"groups": asked.group.tolist(), "deep": deep, "drawn": float(rng.random())}
    return ms.Recovery(np.array(means[-2:]), status="uncertain", diagnostics=story)


def refusing(problem, rng):
    yield ms.Round(np.eye(problem.n))
    raise ms.InvalidInput("refusing cannot do more")


def unstorable(problem, rng):
    yield ms.Round(np.eye(problem.n))
    return ms.Recovery(np.zeros((2, problem.n)), status="uncertain", diagnostics={"set": {1, 2}})


def nothing(problem, rng):
    return ms.Recovery(np.zeros((2, problem.n)), status="uncertain")
    yield


def answer(x):
    return float(x @ np.arange(1, 1 + len(x)))


hidden = [lambda problem, rng: search(problem, rng)]


def enclosing():
    def inner(problem, rng):
        yield from search(problem, rng)

    return inner
'''
PROBLEM = {"n": 4, "gamma": 0.1, "sigma": None, "seed": 5}


@pytest.fixture
def mylab(tmp_path, monkeypatch):
    """A module of the user's, in the folder where the programs are started."""
    (tmp_path / "mylab.py").write_text(MYLAB)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    sys.modules.pop("mylab", None)  # another test's
    yield importlib.import_module("mylab")
    sys.modules.pop("mylab", None)


def program(text):
    """Run a program in the present folder; gives what it prints."""
    done = subprocess.run([sys.executable, "-c", f"import mixsense as ms\n{text}"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("given", ["text", "function"])
def test_a_method_of_one_s_own_goes_on_in_another_process(mylab, given):
    method = "mylab:search" if given == "text" else mylab.search
    study = ms.create_study("a.db", "own", **PROBLEM, method=method, deep=3)
    assert (study.problem["method"], study.problem["deep"]) == ("mylab:search", 3)
    assert (study.progress().size, study.progress().label) == (8, "part 0")
    told = program(
        "import mylab; study = ms.load_study('a.db', 'own')\n"
        "for _ in range(11):\n"
        "    question = study.ask()\n"
        "    study.tell(question.id, mylab.answer(question.x))\n"
        "print(study.progress().label, study.progress().answered)\n"
    )
    assert told == "part 1 3"
    study.tell_many([(q.id, mylab.answer(q.x)) for q in study.ask_many(5)])
    result = study.result()
    assert result.vectors.tolist() == [[1, 2, 3, 4]] * 2
    assert (result.queries, result.diagnostics["deep"], result.diagnostics["seed"]) == (16, 3, 5)
    assert program("print(ms.load_study('a.db', 'own').result().to_json())") == result.to_json()
    assert ms.recover(ms.ReplayOracle(study.record()), **study.problem) == result


def test_a_method_that_other_processes_cannot_find_is_refused(mylab):
    for method in (mylab.hidden[0], mylab.enclosing(), lambda problem, rng: None):
        with pytest.raises(ms.InvalidInput, match="cannot be found by its name: define it at the top of a module"):
            ms.create_study("a.db", "own", **PROBLEM, method=method)
    script = (
        "def mine(problem, rng): yield\n"
        "try: ms.create_study('a.db', 'own', 3, method=mine)\n"
        "except ms.InvalidInput as error: print(error)\n"
    )
    assert program(script).startswith("the method __main__:mine is in the program that runs, where no other one")
    for method, words in (
        ("mylab:nobody", "mylab has no callable 'nobody'"),
        ("no_such_lab:search", "'no_such_lab' cannot be imported"),
        ("mylab:answer", "takes too little"),
        ("mylab:nothing", "needs no questions"),
    ):
        with pytest.raises(ms.InvalidInput, match=words):
            ms.create_study("a.db", "own", **PROBLEM, method=method)
    with pytest.raises(ms.InvalidInput, match=r"has no option 'depth'.*did you mean 'deep'"):
        ms.create_study("a.db", "own", **PROBLEM, method="mylab:search", depth=3)


def test_a_method_that_is_gone_or_wrong_loses_no_answer(mylab, tmp_path):
    for name in ("search", "refusing", "unstorable"):
        study = ms.create_study("a.db", name, **PROBLEM, method=f"mylab:{name}")
        study.tell_many([(q.id, mylab.answer(q.x)) for q in study.ask_many(8)])
    for name, kind, words in (
        ("refusing", ms.InvalidInput, "refusing cannot do more"),
        ("unstorable", ms.StudyError, "cannot be stored.* no answer is lost"),
    ):
        study = ms.load_study("a.db", name)
        for use in (study.ask, study.result, study.ask):
            with pytest.raises(kind, match=words):
                use()
        assert (study.progress().state, study.progress().total) == ("ready", 4)  # to be mended, not at its end
    (tmp_path / "mylab.py").rename(tmp_path / "elsewhere.py")
    sys.modules.pop("mylab", None)
    importlib.invalidate_caches()
    study = ms.load_study("a.db", "search")
    assert (study.progress().state, len(study.answers()), len(study.record())) == ("ready", 8, 1)
    with pytest.raises(ms.InvalidInput, match="the method's module 'mylab' cannot be imported"):
        study.ask()
    (tmp_path / "elsewhere.py").rename(tmp_path / "mylab.py")
    importlib.invalidate_caches()
    assert study.ask() is not None
    assert study.progress().round == 2


def test_a_seed_of_none_is_drawn_and_stored(tmp_path):
    study = ms.create_study(tmp_path / "a.db", "tea", 3, sigma=1.0, seed=None)
    assert isinstance(study.problem["seed"], int)
    assert ms.load_study(tmp_path / "a.db", "tea").problem == study.problem


def test_the_problem_is_plain_and_complete(tmp_path):
    given = {"n": np.int64(3), "box": ((0, 1), (0.5, 2), (1, 7)), "features": ("a", "b", "c"), "weights": (0.3, 0.7)}
    study = ms.create_study(tmp_path / "a.db", "tea", **given, sigma=np.float64(1), seed=np.uint32(7), steer=False)
    assert study.problem == {
        **ms.Problem(3).to_dict(),
        "box": [[0.0, 1.0], [0.5, 2.0], [1.0, 7.0]],
        "features": ["a", "b", "c"],
        "models": 2,  # as many as shares
        "weights": [0.3, 0.7],
        "sigma": 1.0,
        "seed": 7,
        "steer": False,
    }
    assert ms.load_study(tmp_path / "a.db", "tea").ask().names == ("a", "b", "c")


def test_a_round_is_stored_as_the_method_asks_it(mylab, make):
    study = make(**PROBLEM, method="mylab:search")
    stored, asked = study._storage.round(0)
    assert (stored.repeats, stored.block, stored.least, stored.label) == (2, 2, 3, "part 0")
    assert np.array_equal(stored.queries, np.eye(4))
    assert asked is None
    assert study._storage.round(1) is None


def test_answers_come_back_in_their_groups(mylab, make, url):
    study = make(**PROBLEM, method="mylab:search")
    first = [study.ticket_of(q.id) for q in study.ask_many(8, in_order=True)]
    group = [None, 70, 70, None, 8, 0, 0, 70]
    told = [Told(ticket, float(i), number) for i, (ticket, number) in enumerate(zip(first, group, strict=True))]
    assert study._storage.take(told[::-1], study.id_of) == ["taken"] * 8
    assert study._storage.take(told, study.id_of) == ["known"] * 8
    (early,) = study.ask_many(1, in_order=True)
    study.release()
    second = [study.ticket_of(q.id) for q in study.ask_many(9, in_order=True)]  # the first one again, at the end
    group = [None, 0, 8, 70, 5, 5, None, 3]
    told = [Told(ticket, 1.0, number) for ticket, number in zip(second, group, strict=True)]
    assert study._storage.take(told, study.id_of) == ["taken"] * 8
    late = Told(study.ticket_of(early.id), 4.0, 5)  # what is not used links nothing
    assert study._storage.take([late], study.id_of) == ["surplus"]
    # A group is called by the place of its first answer in the study, an answer by itself by its own place.
    groups = [[0, 1, 1, 3, 4, 5, 5, 1], [8, 9, 5, 4, 1, 13, 13, 15]]
    assert [row["round"] for row in study.answers() if not row["surplus"]] == [1] * 8 + [2] * 8
    for seen in (study, ms.load_study(url, study.name)):
        assert [part.group.tolist() for part in seen.record()] == groups
        assert seen.result().diagnostics["groups"] == groups[1]
