"""The driver: budget, record, progress, and what it refuses."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mixsense as ms
from mixsense.rounds import CALLS_PER_ROUND, LARGEST_ROUND, block_groups


@dataclasses.dataclass
class Result:
    story: str
    queries: int = 0


def ask_in_steps(sizes):
    """A method with one round of (q, repeats) for each size; its estimate tells how far it got."""
    for step, (q, repeats) in enumerate(sizes):
        estimate = None if step == 0 else lambda step=step: Result(f"stopped before {step}")
        sent = np.full((q, 3), float(step))
        asked = yield ms.Round(sent, repeats, label=f"step {step}", estimate=estimate)
        assert asked.table().shape == (q, repeats)
        assert np.array_equal(asked.vectors, sent)
    return Result("finished")


def ones(queries, repeats):
    return np.ones((len(queries), repeats))


def test_run_returns_the_result_with_its_count():
    assert ms.run(ask_in_steps([(2, 3), (200, 1)]), ones) == Result("finished", 206)


@given(st.lists(st.tuples(st.integers(1, 90), st.integers(1, 5)), min_size=1, max_size=5), st.integers(1, 900))
def test_the_budget_is_never_exceeded(sizes, budget):
    given_out = 0

    def oracle(queries, repeats):
        nonlocal given_out
        given_out += len(queries) * repeats
        return np.ones((len(queries), repeats))

    if sizes[0][0] * sizes[0][1] > budget:
        with pytest.raises(ms.BudgetError, match="nothing was asked"):
            ms.run(ask_in_steps(sizes), oracle, max_queries=budget)
        assert given_out == 0
    else:
        result = ms.run(ask_in_steps(sizes), oracle, max_queries=budget)
        assert result.queries == given_out <= budget
        assert (result.story == "finished") == (sum(q * t for q, t in sizes) <= budget)


def test_progress_is_reported_after_each_call():
    seen = []
    ms.run(ask_in_steps([(130, 2), (3, 1)]), ones, max_queries=1000, progress=seen.append)
    assert [p.asked for p in seen] == sorted({p.asked for p in seen})
    assert len([p for p in seen if p.label == "step 0"]) <= CALLS_PER_ROUND
    assert (seen[-1].label, seen[-1].done, seen[-1].total, seen[-1].asked) == ("step 1", 3, 3, 263)
    assert seen[-1].max_queries == 1000


def failing_after(calls, failure):
    count = 0

    def oracle(queries, repeats):
        nonlocal count
        count += 1
        return np.ones((len(queries), repeats)) if count <= calls else failure(queries, repeats)

    return oracle


def raise_timeout(queries, repeats):
    raise TimeoutError("no answer")


@pytest.mark.parametrize(
    ("failure", "message"),
    [
        (raise_timeout, r"the oracle raised TimeoutError: no answer \(test_rounds\.py, line \d+; "),
        (lambda q, t: np.ma.masked_all((len(q), t)), "answered nan to query 3 "),
        (lambda q, t: np.full((len(q), t), np.nan), "answered nan to query 3 "),
        (lambda q, t: np.full((len(q), t), np.inf), "answered inf to query 3 "),
        (lambda q, t: np.ones((len(q), t + 1)), "return shape \\(1, 2\\)"),
        (lambda q, t: np.ones(t), "return shape \\(1, 2\\)"),
        (lambda q, t: np.ones((len(q), t - 1)), "return shape \\(1, 2\\)"),
        (lambda q, t: [["a", "b"]], "return real numbers, as float"),
        (lambda q, t: np.ones((len(q), t), dtype=complex), "return real numbers"),
        (lambda q, t: None, "return real numbers"),
        (lambda q, t: [[1.0], [1.0, 2.0]], "rows of unequal length"),
        (lambda q, t: [[None, 1.0]], "return real numbers"),
    ],
)
def test_a_bad_answer_is_named_and_nothing_paid_for_is_lost(failure, message):
    with pytest.raises(ms.OracleError, match=message) as caught:
        ms.run(ask_in_steps([(5, 2)]), failing_after(3, failure))
    assert sum(len(part) for part in caught.value.record) == 6
    assert "the 6 answers received before" in str(caught.value)


def test_an_oracle_of_one_query_is_told_what_it_has_to_take():
    with pytest.raises(ms.OracleError, match=r"it is called as oracle\(queries, repeats\): give a function that takes"):
        ms.run(ask_in_steps([(5, 2)]), lambda x: 1.0)


def test_ctrl_c_carries_the_record_too():
    def stop(queries, repeats):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        ms.run(ask_in_steps([(5, 2)]), failing_after(2, stop))
    assert sum(len(part) for part in caught.value.record) == 4


def test_a_stop_iteration_of_the_oracle_is_not_taken_for_the_end():
    def stop(queries, repeats):
        raise StopIteration

    with pytest.raises(ms.OracleError, match="StopIteration"):
        ms.run(ask_in_steps([(5, 2)]), failing_after(2, stop))


def test_a_round_beyond_all_means_is_refused():
    with pytest.raises(ms.BudgetError, match="larger gamma"):
        ms.run(ask_in_steps([(1, LARGEST_ROUND + 1)]), ones)


def test_rounds_are_read_only_and_checked():
    current = ms.Round(np.ones((2, 3)), 4)
    assert current.size == 8
    with pytest.raises(ValueError, match="read-only"):
        current.queries[0, 0] = 2.0
    for queries, repeats in [(np.ones(3), 1), (np.ones((0, 3)), 1), (np.full((1, 2), np.nan), 1), (np.ones((1, 2)), 0)]:
        with pytest.raises(ms.InvalidInput):
            ms.Round(queries, repeats)


def test_a_budget_that_ends_before_any_estimate_says_what_was_used():
    def two_blind_rounds():
        for label in ("first", "second"):
            yield ms.Round(np.ones((5, 3)), 2, label=label)

    with pytest.raises(ms.BudgetError, match=r"'second' needs 10 answers .* and 10 answers were used before") as caught:
        ms.run(two_blind_rounds(), ones, max_queries=15)
    assert sum(len(part) for part in caught.value.record) == 10


def test_a_failure_of_the_method_or_the_hook_carries_the_record():
    def broken():
        yield ms.Round(np.ones((5, 3)), 2, label="first")
        raise ZeroDivisionError

    def hook(now):
        raise RuntimeError("the display is gone")

    for method, progress, kind in [(broken(), None, ZeroDivisionError), (ask_in_steps([(5, 2)]), hook, RuntimeError)]:
        with pytest.raises(kind) as caught:
            ms.run(method, ones, progress=progress)
        assert sum(len(part) for part in caught.value.record) > 0


def test_a_bad_answer_behind_a_replay_carries_the_whole_record():
    first = [(np.zeros((1, 3)), np.ones((1, 2)))]
    replay = ms.ReplayOracle(first, then=lambda q, t: np.full((len(q), t), np.nan))
    with pytest.raises(ms.OracleError, match="the 2 answers received before") as caught:
        ms.run(ask_in_steps([(1, 2), (1, 2)]), replay)
    assert len(caught.value.record) == 1


def test_what_was_asked_is_one_row_an_answer():
    X, y = np.arange(6.0).reshape(3, 2), np.arange(12.0).reshape(3, 4)
    asked = ms.Asked.of_round(X, y)
    assert len(asked) == 12
    assert np.array_equal(asked.queries, np.repeat(X, 4, axis=0))
    assert np.array_equal(asked.answers, y.ravel())
    assert len(set(asked.group.tolist())) == 12  # nobody is linked
    assert [batch.tolist() for batch in asked.batches()] == y.tolist()
    assert np.array_equal(ms.Asked(X, y[:, 0]).queries, X)
    whole = ms.Asked.join([ms.Asked.of_round(X[:1], y[:1]), ms.Asked.of_round(X[1:], y[1:])])
    assert np.array_equal(whole.queries, asked.queries)
    assert np.array_equal(whole.table(), y)
    assert np.array_equal(asked.moved(lambda x: 2 * x).queries, 2 * asked.queries)


@pytest.mark.parametrize(
    "arguments",
    [
        (np.ones((3, 2)), np.ones(2)),
        (np.ones(3), np.ones(3)),
        (np.ones((3, 2)), np.ones((3, 1))),
        (np.ones((3, 2)), np.ones(3), [1, 2]),
    ],
)
def test_crooked_rows_are_refused(arguments):
    with pytest.raises(ms.InvalidInput):
        ms.Asked(*arguments)


def blocks_of_three(q):
    """Two rounds in blocks of three; the result tells which answers share a group."""
    parts = []
    for label in ("first", "second"):
        parts.append((yield ms.Round(np.ones((q, 2)), 2, block=3, label=label)))
    return Result(parts)


class Blocks:
    """Answers 1, and knows that a block of queries goes to one respondent."""

    def __init__(self):
        self.sizes, self.given = [], 0

    def __call__(self, queries, repeats):
        return self.asked(queries, repeats, 1).table()

    def asked(self, queries, repeats, block):
        self.sizes.append(len(queries))
        group = block_groups(len(queries), repeats, block, self.given)
        self.given += group.size
        return ms.Asked.of_round(queries, np.ones(group.shape), group)


def test_a_block_of_queries_is_a_group_and_is_never_parted():
    oracle = Blocks()
    first, second = ms.run(blocks_of_three(300), oracle).story
    assert all(size % 3 == 0 for size in oracle.sizes)
    group = first.group.reshape(300, 2)
    for column in group.T:
        assert (column.reshape(100, 3) == column[::3, None]).all()  # three rows, one respondent
    assert len(np.unique(group)) == 200
    assert not set(first.group.tolist()) & set(second.group.tolist())


def test_an_oracle_that_knows_no_blocks_links_nobody():
    first, second = ms.run(blocks_of_three(300), ones).story
    assert len({*first.group.tolist(), *second.group.tolist()}) == 1200


def test_an_oracle_that_says_what_was_asked_and_no_groups_links_nobody():
    oracle = Blocks()
    oracle.asked = lambda queries, repeats, block: ms.Asked.of_round(queries, np.ones((len(queries), repeats)))
    first, second = ms.run(blocks_of_three(300), oracle).story
    assert len({*first.group.tolist(), *second.group.tolist()}) == 1200


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (None, "an Asked of these queries is needed"),
        (ms.Asked(np.ones((2, 2)), np.ones(2)), "an Asked of these queries is needed"),
        (ms.Asked.of_round(np.ones((3, 2)), np.full((3, 2), np.nan)), "answered nan"),
    ],
)
def test_what_an_oracle_says_of_its_groups_is_checked(answer, words):
    oracle = Blocks()
    oracle.asked = lambda queries, repeats, block: answer
    with pytest.raises(ms.OracleError, match=words):
        ms.run(blocks_of_three(3), oracle)


def test_a_counter_called_asked_is_no_ability():
    class Counting:
        asked = 0

        def __call__(self, queries, repeats):
            return np.ones((len(queries), repeats))

    assert ms.run(ask_in_steps([(2, 1)]), Counting()).queries == 2


def test_a_round_keeps_its_queries_and_its_numbers():
    X = np.zeros((6, 3))
    current = ms.Round(X, repeats=np.int8(43))
    X[:] = 1
    assert (current.queries == 0).all()
    assert (current.size, type(current.repeats)) == (258, int)  # int8 would have overflowed to 2
    for crooked in ({"repeats": True}, {"block": 10**30}, {"label": "\ud800"}, {"estimate": 5}):
        with pytest.raises(ms.InvalidInput):
            ms.Round(np.ones((2, 3)), **crooked)
    with pytest.raises(ms.InvalidInput, match="not numbers"):
        ms.Round([["a"]])


def test_a_record_keeps_its_groups(tmp_path):
    asked = ms.run(blocks_of_three(6), Blocks()).story
    replayed = ms.run(blocks_of_three(6), ms.ReplayOracle(asked)).story
    file = tmp_path / "record.jsonl"
    kept = [ms.run(blocks_of_three(6), ms.RecordedOracle(Blocks(), file, {})).story for _ in range(2)]
    for found in (replayed, *kept):
        for part, before in zip(found, asked, strict=True):
            # The numbers themselves are arbitrary: which rows share one is what counts.
            assert np.array_equal(part.group[:, None] == part.group, before.group[:, None] == before.group)


def test_what_a_record_lacks_is_linked_to_nothing_in_it():
    (first, _) = ms.run(blocks_of_three(3), Blocks()).story
    half = ms.Asked.of_round(first.vectors[:1], first.table()[:1], first.group.reshape(3, 2)[:1])
    X = np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])
    found = ms.ReplayOracle([half], then=ones).asked(X, 2, block=3)
    groups = found.group.reshape(3, 2)
    assert set(groups[0].tolist()) == set(half.group.tolist())
    assert not set(groups[0].tolist()) & set(groups[1:].ravel().tolist())


@pytest.mark.parametrize(
    ("given", "words"), [({"block": 0}, "block of a round is 0"), ({"least": 7}, "at most"), ({"block": "a"}, "whole")]
)
def test_rounds_refuse_crooked_blocks(given, words):
    with pytest.raises(ms.InvalidInput, match=words):
        ms.Round(np.ones((3, 2)), 2, **given)
