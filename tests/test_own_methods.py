"""Methods of the user's own: how they are found, what they are given, and what is said when they are wrong."""

from __future__ import annotations

import functools
import os
import subprocess
import sys

import numpy as np
import pytest

import mixsense as ms
from in_process import mixsense
from mixsense.methods.begin import begin
from mixsense.methods.registry import entry_of, name_of, stored_name
from mixsense.rounds import Steps, answered

PAIR = ms.random_pair(6, 2, gap=5.0, seed=1)


def oracle():
    return ms.SimulatedOracle(PAIR, sigma=1.0, seed=2)


def average(problem, rng, answers=30, width=1.0):
    """Fit one vector to all answers."""
    asked = yield ms.Round(width * rng.standard_normal((answers, problem.n)), label="all")
    vector = np.linalg.lstsq(asked.queries, asked.answers, rcond=None)[0]
    return ms.Recovery(np.stack([vector, vector]), status="uncertain")


# -- what works --------------------------------------------------------------------------------------------


def test_a_function_runs_with_its_options_by_the_seed():
    r = ms.recover(oracle(), 6, method=average, answers=50, seed=3)
    assert (r.status, r.queries, r.diagnostics["method"]) == ("uncertain", 50, "test_own_methods:average")
    assert np.linalg.norm(r.vectors[0] - PAIR.mean(axis=0)) < 2.5
    assert ms.recover(oracle(), 6, method="test_own_methods:average", answers=50, seed=3) == r
    assert ms.recover(oracle(), 6, method=functools.partial(average, answers=50), seed=3).vectors.tolist() == (
        r.vectors.tolist()
    )


def test_names_and_a_box_are_put_around_it():
    seen = []

    def watched(queries, repeats):
        seen.append(queries)
        return asked(queries, repeats)

    asked, names = oracle(), ["a", "b", "c", "d", "e", "f"]
    box = [(-1, 2)] * 5 + [(-12, 6)]
    r = ms.recover(watched, 6, method=average, answers=400, box=box, features=names, seed=3)
    X = np.concatenate(seen)
    assert r.names == tuple(names)
    # x = reach/6 · z with z ~ N(0, 1), the reach 1 but for the last: 400 draws know their deviation to 3.5 %.
    assert X.std(axis=0) == pytest.approx([1 / 6] * 5 + [1.0], rel=0.15)
    plain = ms.recover(asked, 6, method=average, answers=400, seed=3)
    assert np.abs(r.vectors - plain.vectors).max() < 3
    wide = ms.recover(watched, 6, method=average, answers=400, width=20.0, box=box, seed=3)
    X = np.concatenate(seen)
    assert (X.min(axis=0) >= [-1] * 5 + [-12]).all()  # cut off at the edges, and told so
    assert (X.max(axis=0) <= [2] * 5 + [6]).all()
    assert np.linalg.norm(wide.vectors[0] - PAIR.mean(axis=0)) < 2.5
    with pytest.raises(ms.InvalidInput, match="has no intercept"):
        ms.recover(asked, 6, method=average, box=box, intercept=True)


def test_a_method_with_a_parameter_box_is_given_the_coded_box():
    def in_corners(problem, rng, *, box=None):
        z = rng.choice([-1.0, 1.0], (60, problem.n))
        asked = yield ms.Round(z)
        coefficients = np.linalg.lstsq(box.rows(asked.queries), asked.answers, rcond=None)[0]
        vector = coefficients[1:] if box.level else coefficients
        return ms.Recovery(np.stack([vector, vector]), status="uncertain")

    assert entry_of(in_corners).options == ()
    r = ms.recover(lambda X, repeats: (X @ np.arange(1.0, 4.0))[:, None], 3, method=in_corners, box=[(2, 10)] * 3)
    assert r.vectors[0] == pytest.approx([1, 2, 3])


def test_any_options_and_positional_only_parameters():
    def anything(problem, rng, /, **options):
        yield from ()
        return ms.Recovery(np.full((2, problem.n), options["value"]), status="uncertain")

    entry = entry_of(anything)
    assert (entry.options, entry.any_options) == ((), True)
    assert ms.recover(oracle(), 6, method=anything, value=3.0).vectors[0, 0] == 3.0


def test_a_budget_is_kept_and_the_estimate_so_far_is_returned():
    def steps(problem, rng):
        def best():
            return ms.Recovery(np.zeros((2, problem.n)), status="budget")

        while True:
            yield ms.Round(rng.standard_normal((10, problem.n)), estimate=best)

    asked = oracle()
    r = ms.recover(asked, 6, method=steps, max_queries=35)
    assert (r.status, r.queries, asked.count) == ("budget", 30, 30)


# -- what is wrong -----------------------------------------------------------------------------------------


def no_generator(problem, rng):
    return ms.Recovery(np.zeros((2, 6)), status="uncertain")


def one_argument(problem):
    yield ms.Round(np.eye(6))


def needs_size(problem, rng, size):
    yield ms.Round(np.eye(6))


async def asynchronous(problem, rng):
    yield ms.Round(np.eye(6))


def ask_then(what):
    def method(problem, rng):
        yield ms.Round(np.eye(6))
        return what

    return method


def ask_and_yield(what):
    def method(problem, rng):
        yield ms.Round(np.eye(6))
        yield what

    return method


def bad_estimate(problem, rng):
    yield ms.Round(np.eye(6))
    yield ms.Round(np.eye(6), 100, estimate=lambda: "soon")


WRONG = [
    (no_generator, 0, "test_own_methods:no_generator returned Recovery when it was called: it must be a generator"),
    (one_argument, 0, "takes too little: give a generator function of (problem, rng, …)"),
    (lambda: None, 0, "takes too little"),
    (print, 0, "the method builtins:print returned NoneType when it was called"),
    (needs_size, 0, "needs_size cannot be called: missing a required argument: 'size'; give it as an option"),
    (asynchronous, 0, "asynchronous returned async_generator when it was called: it must be a generator function"),
    (ask_then(None), 6, "returned NoneType: it must return a Recovery in the end"),
    (ask_then(np.zeros((2, 6))), 6, "returned ndarray: it must return a Recovery in the end"),
    (ask_then(ms.Recovery(np.zeros((2, 5)), status="budget")), 6, "returned vectors of shape (2, 5), but n is 6"),
    (ask_and_yield(np.eye(6)), 6, "yielded ndarray: it must yield a Round of queries"),
    (ask_and_yield(None), 6, "yielded NoneType: it must yield a Round of queries"),
    (ask_and_yield(ms.Round(np.eye(7))), 6, "asked queries of 7 numbers, but n is 6: give (q, 6)"),
    (bad_estimate, 6, "returned str: it must return a Recovery"),
    (average(None, None), 0, "method is <generator object average"),
    (3, 0, "method is 3: give one of 'frugal'"),
    ("magic", 0, "or a generator function of yours, or module:function"),
    ("no_such_module:search", 0, "the method's module 'no_such_module' cannot be imported (ModuleNotFoundError:"),
    ("test_own_methods:nothing", 0, "test_own_methods has no callable 'nothing'"),
    ("test_own_methods:", 0, "the method is 'test_own_methods:': give module:function, e.g. mylab:search"),
]


@pytest.mark.parametrize("box", [None, [(-1, 1)] * 6], ids=["plain", "box"])
@pytest.mark.parametrize(("method", "answers", "words"), WRONG, ids=[words for *_, words in WRONG])
def test_a_mistake_is_one_line_and_no_answer_is_lost(method, answers, words, box, capsys):
    asked = oracle()
    with pytest.raises(ms.InvalidInput) as caught:
        ms.recover(asked, 6, method=method, box=box, max_queries=50)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert asked.count == answers
    assert sum(map(len, caught.value.data.get("record", []))) == answers


def test_an_option_that_it_has_not_is_refused():
    with pytest.raises(
        ms.InvalidInput, match="has no option 'answer': it takes answers, width; did you mean 'answers'"
    ):
        ms.recover(oracle(), 6, method=average, answer=3)


@pytest.mark.parametrize(
    ("name", "instead"), [("gamma", "use problem.gamma, or"), ("k", "use problem.k, or"), ("progress", "give")]
)
def test_a_parameter_that_is_an_argument_of_recover_is_refused(name, instead):
    method = eval(f"lambda problem, rng, {name}=3: (yield)")
    with pytest.raises(
        ms.InvalidInput, match=f"has a parameter '{name}', which is an argument of recover.*: {instead}"
    ):
        ms.recover(oracle(), 6, method=method)


def test_an_error_of_its_own_carries_the_answers():
    def failing(problem, rng):
        yield ms.Round(np.eye(6), 2)
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine") as caught:
        ms.recover(oracle(), 6, method=failing)
    assert sum(map(len, caught.value.record)) == 12


def test_only_what_another_process_finds_has_a_name_to_store(monkeypatch):
    with pytest.raises(ms.InvalidInput, match=r"method is \{'a': 1\}: give one of 'frugal'"):
        stored_name({"a": 1})
    assert stored_name(average) == stored_name("test_own_methods:average") == "test_own_methods:average"
    assert stored_name("frugal") == "frugal"

    def local(problem, rng):
        yield

    for method in (local, lambda problem, rng: None, functools.partial(average)):
        with pytest.raises(ms.InvalidInput, match="cannot be found by its name: define it at the top of a module"):
            stored_name(method)
    monkeypatch.setattr(average, "__module__", "__main__")
    assert name_of(average) == "__main__:average"
    with pytest.raises(ms.InvalidInput, match="the method __main__:average is in the program that runs"):
        stored_name(average)


# -- from a file, in other processes -----------------------------------------------------------------------

LAB = """
import numpy as np, mixsense as ms
def search(problem, rng, answers=40):
    asked = yield ms.Round(rng.standard_normal((answers, problem.n)))
    vector = np.linalg.lstsq(asked.queries, asked.answers, rcond=None)[0]
    return ms.Recovery(np.stack([vector, vector]), status="uncertain")
def ask(queries, repeats):
    return np.ones((len(queries), repeats))
def picky(problem, rng):
    yield ms.Round(np.eye(problem.n))
    yield 3
"""
GRID = 'n = 6\nk = 2\ngap = 5.0\nseeds = 4\nmethod = "mylab:search"\n[options."mylab:search"]\nanswers = [20, 40]\n'


@pytest.fixture
def lab(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])  # what is imported here is forgotten afterwards
    monkeypatch.delitem(sys.modules, "mylab", raising=False)
    (tmp_path / "mylab.py").write_text(LAB)
    (tmp_path / "grid.toml").write_text(GRID)
    return tmp_path


def console(folder, *args):
    """Run the installed command, which does not have the current folder among those that it imports from."""
    return mixsense(*args, cwd=folder, installed=True)


def program(folder, *args):
    """Do so in a process of its own."""
    code = "import sys; sys.path[0] = '/nowhere'; from mixsense.cli.main import main; main()"
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, args)], cwd=folder, capture_output=True, text=True, timeout=120
    )


def test_the_command_line_finds_it_in_the_current_folder(lab):
    usual = ["recover", "mylab:ask", "--n", 6, "--sigma", 1, "--quiet", "--method"]
    done = program(lab, *usual, "mylab:search")
    assert (done.returncode, "40 answers" in done.stdout) == (8, True), done.stderr  # 8: uncertain
    for method, code, words in (
        ("mylab:picky", 1, "the method mylab:picky yielded int: it must yield a Round of queries"),  # after answers
        ("mylab:nothing", 2, "mylab has no callable 'nothing'"),
        ("mylib:search", 2, "the method's module 'mylib' cannot be imported"),
    ):
        done = console(lab, *usual, method)
        assert (done.returncode, words in done.stderr) == (code, True), done.stderr
        assert len(done.stderr.splitlines()) == 1


FAILING = """
import sys
from mylab import search, ask
def leaving(problem, rng):
    yield from search(problem, rng)
    sys.exit(0)
def closed(queries, repeats):
    sys.exit(0)
def crash(problem, rng):
    yield from search(problem, rng)
    problem = 1 / 0
def at_once(problem, rng):
    raise OSError(2, "no \\x1b[2J such thing")
def solve(A, b, radius):
    return [][3]
def late(problem, rng):
    import mixsense as ms
    for i in range(9):
        yield ms.Round([[1.0] * problem.n], 10, estimate=lambda: {}["best"])
"""


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (
            ["mylab:ask", "--method", "badlab:leaving"],
            "the method badlab:leaving raised SystemExit: 0 (badlab.py, line 6)",
        ),
        (["badlab:closed"], "the oracle badlab:closed raised SystemExit: 0 (badlab.py, line 8)"),
        (
            ["mylab:ask", "--method", "badlab:crash"],
            "the method badlab:crash raised ZeroDivisionError: division by zero",
        ),
        (
            ["mylab:ask", "--method", "badlab:at_once"],
            "the method badlab:at_once raised FileNotFoundError: [Errno 2] no",
        ),
        (
            ["mylab:ask", "--method", "badlab:late", "--max-queries", "50"],
            "the method badlab:late.<locals>.<lambda> raised KeyError: 'best' (badlab.py, line 19)",
        ),
        (
            ["--simulate", "--method", "single", "--k", "2", "--decoder", "badlab:solve"],
            "the decoder badlab:solve raised IndexError: list index out of range (badlab.py, line 15)",
        ),
    ],
    ids=lambda value: value[-1] if isinstance(value, list) else "",
)
def test_what_the_users_functions_raise_is_one_line(lab, args, words):
    (lab / "badlab.py").write_text(FAILING)
    done = console(lab, "recover", *args, "--n", 6, "--sigma", 1, "--quiet")
    assert (done.returncode, done.stdout) == (1, ""), done.stderr
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.strip().isprintable()


def test_a_module_that_is_hidden_by_another_is_named(lab):
    (lab / "queue.py").write_text("def search(problem, rng):\n    yield 3\n")
    done = console(lab, "recover", "--simulate", "--method", "queue:search")
    assert done.returncode == 2
    assert "queue.py, not queue.py of the current folder, which needs another name" in done.stderr


def test_a_sweep_finds_it_in_its_processes(lab):
    done = program(lab, "sweep", "grid.toml", "--jobs", 2)
    assert done.returncode == 0, done.stderr
    assert "8 cells, 0 failed" in done.stdout
    frame = ms.read_sweep(lab / "grid.sqlite")
    assert sorted(set(zip(frame.method, frame.answers, frame.queries, strict=True))) == [
        ("mylab:search", 20, 20),
        ("mylab:search", 40, 40),
    ]


def test_a_method_that_leaves_is_a_failed_cell(lab):
    (lab / "badlab.py").write_text("import sys\ndef leave(problem, rng):\n    sys.exit(0)\n    yield\n")
    (lab / "bad.toml").write_text('n = 6\nk = 2\ngap = 5.0\nseeds = 2\nmethod = "badlab:leave"\n')
    done = console(lab, "sweep", "bad.toml", "--jobs", 1, "--quiet")
    assert "2 cells, 2 failed" in done.stdout, done.stderr
    assert "SystemExit: 0" in done.stdout


def test_a_sweep_in_python_takes_the_function(lab, monkeypatch):
    monkeypatch.syspath_prepend(lab)
    import mylab  # type: ignore[import-not-found]

    grid = {"n": 6, "k": 2, "gap": 5.0, "method": ["single", mylab.search], "seeds": 2}
    options = {mylab.search: {"answers": 30}, "single": {"m": 8, "batch": 10}}
    frame = ms.sweep({**grid, "options": options}, jobs=2)
    assert frame.loc[frame.method == "mylab:search", "queries"].tolist() == [30, 30]
    for wrong, words in (
        ({**grid, "options": {"mylab:search": {"answer": 3}}}, "unknown key in options.mylab:search: 'answer'"),
        ({**grid, "method": lambda problem, rng: None}, "cannot be found by its name"),
        ({**grid, "method": "mylab:nothing"}, "mylab has no callable 'nothing'"),
    ):
        with pytest.raises(ms.InvalidInput, match=words):
            ms.sweep(wrong)


def test_an_option_may_not_be_called_as_a_column(lab, monkeypatch):
    (lab / "otherlab.py").write_text("def search(problem, rng, gap=1):\n    yield 0\n")
    monkeypatch.syspath_prepend(lab)
    grid = {"n": 6, "k": 2, "gap": 5.0, "method": "otherlab:search", "options": {"otherlab:search": {"gap": 2}}}
    with pytest.raises(ms.InvalidInput, match="gap is called as a column of the table: give it another name"):
        ms.sweep(grid)
    with pytest.raises(ms.InvalidInput, match="the method otherlab:search yielded int"):  # before anything is run
        ms.sweep({**grid, "options": {}})


def test_a_study_finds_it_in_another_process(lab):
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(lab), os.getenv("PYTHONPATH", "")])}

    def python(code):
        done = subprocess.run([sys.executable, "-c", code], cwd=lab, env=env, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    python(
        "import mixsense as ms, mylab; ms.create_study('lab.db', 'lab', n=6, method=mylab.search, answers=9, seed=1)"
    )
    go_on = "study = ms.load_study('lab.db', 'lab'); ms.run_study(study, ms.SimulatedOracle([[1.0] * 6, [0.0] * 6]))"
    assert python(f"import mixsense as ms; {go_on}; r = study.result(); print(r.status, r.queries)") == "uncertain 9\n"


def test_dask_workers_that_do_not_find_it_are_refused(lab, monkeypatch):
    distributed = pytest.importorskip("distributed")
    given = {"threads_per_worker": 1, "processes": True, "dashboard_address": None, "host": "127.0.0.1"}
    with distributed.LocalCluster(1, **given) as cluster, distributed.Client(cluster, set_as_default=False) as client:
        monkeypatch.chdir(lab)
        with pytest.raises(ms.InvalidInput) as caught:
            ms.sweep("grid.toml", dask=cluster.scheduler_address)
        assert "does not find mylab:search (the method's module 'mylab' cannot be imported" in str(caught.value)
        assert "put the module into its folder or on its PYTHONPATH" in str(caught.value)
        client.run(os.chdir, str(lab))
        assert ms.sweep("grid.toml", dask=cluster.scheduler_address).queries.tolist() == [20] * 4 + [40] * 4


@pytest.mark.parametrize(("bound", "status"), [(np.inf, "uncertain"), (0.2, "uncertain"), (0.05, "certified")])
def test_a_method_that_says_certified_without_a_bound_is_not_believed(bound, status):
    def eager(problem, rng):
        yield ms.Round(np.eye(problem.n), label="basis")
        return ms.Recovery(np.zeros((2, problem.n)), "certified", error_bound=bound)

    r = ms.recover(ms.SimulatedOracle(np.ones((2, 4)), seed=1), 4, gamma=0.1, method=eager, seed=1)
    assert r.status == status
    assert bool(r.diagnostics.get("warnings")) == (status == "uncertain")


def test_a_precision_of_0_is_one_too():
    def eager(problem, rng):
        yield ms.Round(np.eye(problem.n), label="basis")
        return ms.Recovery(np.zeros((2, problem.n)), "certified", error_bound=0.2)

    exact = ms.SimulatedOracle(np.ones((2, 4)), sigma=0.0)
    assert ms.recover(exact, 4, gamma=0, sigma=0, method=eager).status == "uncertain"
    assert ms.recover(exact, 4, gamma=None, sigma=0, method=eager).status == "certified"


def test_an_estimate_on_the_way_has_the_names_of_the_features():
    steps = Steps(begin(ms.Problem(4, features=["a", "b", "c", "d"], gamma=None, max_queries=60, sigma=1.0, seed=1)))
    oracle = ms.SimulatedOracle(np.eye(4)[:2], seed=1)
    while steps.current.estimate is None:
        steps.send(answered(oracle, steps.current.queries, steps.current.repeats))
    assert steps.estimate().names == ("a", "b", "c", "d")
