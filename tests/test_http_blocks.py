"""One caller for several questions: over one connection, with its cookies, with one id."""

from __future__ import annotations

import json
import random
import sys
import threading
import time

import numpy as np
import pytest

import mixsense as ms
from http_service import Service, raw_server
from mixsense.cli.main import main
from mixsense.oracles.preflight import preflight
from mixsense.oracles.preflight.tuning import AUTO_BLOCK


@pytest.fixture
def command(monkeypatch, capsys, tmp_path):
    """Run `mixsense audit …` in this process; gives the exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)

    def run(*args):
        monkeypatch.setattr(sys, "argv", ["mixsense", "audit", *args])
        with pytest.raises(SystemExit) as caught:
            main()
        return caught.value.code or 0, *capsys.readouterr()

    return run


def sticky(kind, seed=5):
    """Route each caller to one model for good: by connection, by cookie, or by the id in the body."""
    rng, models, lock = random.Random(seed), {}, threading.Lock()

    def behave(call):
        with lock:
            cookie = (call.headers["Cookie"] or "who=").partition("=")[2]
            caller = {"connection": call.connection, "cookie": cookie or f"c{call.number}", "id": call.body.get("id")}[
                kind
            ]
            model = models.setdefault(caller, rng.randrange(2))
            y = float(PAIR[model] @ call.x + 0.3 * rng.gauss(0.0, 1.0))
        headers = {"Set-Cookie": f"who={caller}"} if kind == "cookie" else {}
        return 200, headers, json.dumps({"y": y}).encode()

    return behave


BODY = {"x": "$x", "id": "$id"}
PAIR = np.array([[6.0, 0.0, -3.0], [-3.0, 1.0, 0.0]])


@pytest.mark.parametrize("kind", ["connection", "cookie", "id"])
def test_a_block_has_one_caller(kind):
    X = np.random.default_rng(1).standard_normal((12, 3))
    with Service(sticky(kind)) as service, ms.HTTPOracle(service.url, body=BODY) as oracle:
        asked = oracle.asked(X, 2, 4)
        more = oracle.asked(X[:4], 1, 4)
        assert oracle.count == oracle.requests == 28
    assert np.unique(asked.group, return_counts=True)[1].tolist() == [4] * 6
    assert not set(asked.group) & set(more.group)
    residuals = np.abs(asked.answers[:, None] - asked.queries @ PAIR.T)
    for number in np.unique(asked.group):
        # All four answers are one model's: its noise is 0.3, and 4 standard deviations are rarely left.
        assert residuals[asked.group == number].max(axis=0).min() < 1.2
    callers = {(call.connection, call.headers["Cookie"], call.body["id"]) for call in service.calls}
    assert len({connection for connection, _, _ in callers}) == len({name for _, _, name in callers}) == 7


def test_answers_without_a_block_are_by_themselves():
    with Service(sticky("id")) as service, ms.HTTPOracle(service.url, body=BODY) as oracle:
        first, second = (oracle.asked(np.eye(3), 2) for _ in range(2))
    assert len({*first.group, *second.group}) == 12
    assert len({call.body["id"] for call in service.calls}) == 12


def test_what_came_before_a_failure_in_a_block_is_kept():
    def behave(call):
        return (400, {}, b"no") if call.number == 3 else 1.0

    with Service(behave) as service, ms.HTTPOracle(service.url, concurrency=1) as oracle:
        with pytest.raises(ms.OracleError, match="status 400") as caught:
            oracle.asked(np.eye(3), 1, 3)
    assert np.isnan(caught.value.received[:, 0]).tolist() == [False, False, True]


def test_a_reply_too_many_to_one_caller_is_a_doubt():
    def serve(client):
        client.recv(10_000)
        reply = b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n" + b'{"y": 1}'
        client.sendall(reply)
        time.sleep(0.02)
        client.sendall(reply)
        time.sleep(0.2)

    server, url = raw_server(serve)
    with server:
        oracle = ms.HTTPOracle(url)
        with pytest.raises(ms.OracleError, match="without being asked"):
            oracle.asked(np.ones((1, 2)), 1, 2)
        assert "without being asked" in oracle.doubt
        oracle.close()


def test_a_study_of_a_sticky_service_asks_in_blocks(tmp_path):
    study = ms.create_study(tmp_path / "a.db", "sticky", n=3, gamma=None, max_queries=96, sigma=0.3, seed=1, block=8)
    with Service(sticky("connection")) as service, ms.HTTPOracle(service.url) as oracle:
        r = ms.run_study(study, oracle, workers=2)
    sizes = np.unique(np.concatenate([asked.group for asked in study.record()]), return_counts=True)[1]
    assert (sizes.max(), sizes.sum()) == (8, 96)
    assert len(sizes) <= 96 / 8 + 6  # a round need not end with a whole block
    assert ms.match_error(r.vectors, PAIR) < 0.3
    study.close()


@pytest.mark.parametrize("kind", ["connection", "cookie", "id"])
def test_the_preflight_recommends_a_block_and_says_when_there_is_none(kind):
    with Service(sticky(kind)) as service:
        with ms.HTTPOracle(service.url, body=BODY) as oracle:
            plain, auto, four = (preflight(oracle, 3, seed=1, block=block) for block in (1, "auto", 4))
        with ms.HTTPOracle(service.url, body=BODY, fresh=False) as oracle:
            kept = preflight(oracle, 3, seed=1)
    assert (plain["sticky"].level, kept["sticky"].level) == ("note", "problem")
    assert "--new-connections" in kept["sticky"].text
    assert "--block auto" in plain["sticky"].text
    assert (auto["sticky"].level, four["sticky"].level) == ("ok", "ok")
    assert (plain.block, auto.block, four.block) == (1, AUTO_BLOCK, 4)


def test_a_block_of_a_service_that_is_not_sticky_is_a_problem():
    rng, lock = random.Random(3), threading.Lock()

    def behave(call):
        with lock:
            return float(PAIR[rng.randrange(2)] @ call.x + 0.3 * rng.gauss(0.0, 1.0))

    with Service(behave) as service, ms.HTTPOracle(service.url) as oracle:
        auto, eight = (preflight(oracle, 3, seed=1, block=block) for block in ("auto", 8))
        with pytest.raises(ms.InvalidInput, match="block is"):
            preflight(oracle, 3, block=0)
    assert (auto["sticky"].level, auto.block) == ("ok", 1)
    assert eight["sticky"].level == "problem"
    assert "different models" in eight["sticky"].text


def test_a_program_has_no_callers():
    told = preflight(ms.SimulatedOracle(PAIR, sigma=0.3, seed=1), 3, seed=1, block=4)
    assert told["sticky"].level == "note"


def test_an_audit_finds_the_models_of_a_sticky_service(tmp_path, command):
    with Service(sticky("connection")) as service:
        options = ["--n", "3", "--sigma", "0.3", "--gamma", "none", "--max-queries", "120", "--seed", "1"]
        code, _, err = command(service.url, *options, "--keep-connections")
        assert (code, "see above" in err) == (4, True)
        code, out, err = command(service.url, *options, "--block", "auto", "--out", "r.json")
        assert code in (0, 3), err
        assert "each is asked 8 questions" in out
        again = command(service.url, *options, "--block", "auto")  # it has ended, and goes on with what it found
        assert again[0] == code
    study = ms.load_study(tmp_path / "mixsense.db", "audit")
    assert study.problem["block"] == 8
    r = study.result()
    assert ms.match_error(r.vectors, PAIR) < 0.3
    study.close()
    for more, words in (
        (["--block", "many"], "--block is 'many': give a number from 1 on, or auto"),
        (["--block", "auto", "--skip-preflight"], "needs the preflight"),
        (["--block", "0"], "block is 0"),
    ):
        code, _, err = command("http://127.0.0.1:9/", "--n", "3", *more)
        assert code == 2
        assert words in err
