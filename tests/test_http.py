"""The HTTP oracle, against real services on loopback."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import socket
import threading
import time

import numpy as np
import pytest

import mixsense as ms
import mixsense.oracles.transport.connections as connections_module
from http_service import MODELS, Service, raw_server, two_models
from mixsense.oracles.abilities import Callers, Confirming, Stoppable
from mixsense.oracles.preflight import cost
from mixsense.oracles.retrying import backoff, retry_after
from oracle_contract import check_oracle

X = np.arange(12.0).reshape(4, 3)


def total(call):
    return call.x.sum()


def json_reply(text):
    return 200, {}, text if isinstance(text, bytes) else text.encode()


def test_contract():
    with contextlib.ExitStack() as stack:
        service = stack.enter_context(Service(total))
        check_oracle(lambda: stack.enter_context(ms.HTTPOracle(service.url)), X)


def test_contract_of_a_service_that_answers_at_random():
    with contextlib.ExitStack() as stack:

        def make():
            score = two_models(4, MODELS[:, :3], 1.0)
            service = stack.enter_context(Service(lambda call: score(call.x)))
            # One request at a time: repeats of one query must not overtake each other.
            return stack.enter_context(ms.HTTPOracle(service.url, concurrency=1))

        check_oracle(make, X)


def test_abilities_are_declared():
    with ms.HTTPOracle("http://127.0.0.1:9/") as oracle:
        assert isinstance(oracle, Callers)
        assert isinstance(oracle, Stoppable)
        with oracle.caller(fresh=False, cookies=False) as other:
            assert (oracle.fresh, other.fresh) == (True, False)
    simulated = ms.SimulatedOracle(MODELS)
    assert not any(isinstance(simulated, ability) for ability in (Callers, Stoppable))
    assert cost(oracle) - cost(simulated) == 144


def test_answers_come_in_order_whatever_is_slow():
    def slow(call):
        time.sleep(random.Random(call.number).uniform(0, 0.02))
        return total(call)

    with Service(slow) as service, ms.HTTPOracle(service.url) as oracle:
        answers = oracle(X, 5)
        assert answers.dtype == np.float64
        assert np.array_equal(answers, np.repeat(X.sum(axis=1)[:, None], 5, axis=1))
        assert (oracle.count, oracle.requests, len(service.calls)) == (20, 20, 20)
        for bad in [(X[0], 1), (X, 0), (X, 1.5), (X * np.nan, 1)]:
            with pytest.raises(ms.InvalidInput):
                oracle(*bad)
        assert oracle.count == 20
    with pytest.raises(ms.OracleError, match="closed"):
        oracle(X, 1)


def test_threads_share_few_connections():
    with Service(total) as service, ms.HTTPOracle(service.url, concurrency=3, fresh=False) as oracle:
        threads = [threading.Thread(target=lambda: [oracle(X[:1], 1) for _ in range(10)]) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(service.calls) == 60
        assert len({call.connection for call in service.calls}) <= 3
    with Service(total) as service, ms.HTTPOracle(service.url) as oracle:
        oracle(X, 3)
        assert len({call.connection for call in service.calls}) == 12


def test_no_more_at_a_time_than_allowed():
    now, most, lock = 0, 0, threading.Lock()

    def busy(call):
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        time.sleep(0.01)
        with lock:
            now -= 1
        return total(call)

    with Service(busy) as service, ms.HTTPOracle(service.url, concurrency=3) as oracle:
        oracle(X, 5)
    assert most <= 3


def test_rate_holds_requests_back():
    times = []

    def stamp(call):
        times.append(time.monotonic())
        return total(call)

    with Service(stamp) as service, ms.HTTPOracle(service.url, rate=100) as oracle:
        start = time.monotonic()
        oracle(X, 5)
    assert max(times) - start >= 19 / 100  # the 20th request leaves no sooner, however fast the machine is


def test_what_passes_is_tried_again():
    def moody(call):
        if call.number % 2:
            return (503, 429, 500, 408)[call.number // 2 % 4], {"Retry-After": "0"}, b"busy"
        return total(call)

    with Service(moody) as service, ms.HTTPOracle(service.url, concurrency=1) as oracle:
        assert np.array_equal(oracle(X, 1)[:, 0], X.sum(axis=1))
        assert (oracle.requests, oracle.count) == (8, 4)


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (400, "body that it expects"),
        (401, "env:TOKEN"),
        (404, "takes a POST"),
        (204, "status 200 is needed"),
        (999, "status 200 is needed"),
    ],
)
def test_what_does_not_pass_fails_at_once(status, words):
    with Service(lambda call: (status, {}, b"")) as service, ms.HTTPOracle(service.url) as oracle:
        with pytest.raises(ms.OracleError, match=words) as caught:
            oracle(X[:1], 1)
        assert (caught.value.status, len(service.calls)) == (status, 1)


def test_gives_up_after_the_retries_and_keeps_what_came():
    def fails_at_nine(call):
        return (500, {}, b"broken " * 100) if call.x[0] == 9 else total(call)

    with Service(fails_at_nine) as service, ms.HTTPOracle(service.url, retries=1, concurrency=1) as oracle:
        with pytest.raises(ms.OracleError, match=r"no answer after 2 tries \(status 500, broken") as caught:
            oracle(X, 1)
        assert len(str(caught.value)) < 500
        assert "body" not in str(caught.value)  # it has answered others
        assert np.array_equal(caught.value.received[:, 0], [3, 12, 21, np.nan], equal_nan=True)


UNUSABLE = {"no-y": '{"z": 1}', "no-json": "oops", "text": '{"y": "a"}', "status": None}


@pytest.mark.parametrize("bad", UNUSABLE.values(), ids=UNUSABLE)
def test_an_unusable_reply_costs_no_other_answer(bad, tmp_path):
    seen = []

    def tenth_is_bad(call):
        seen.append(call.x)
        return total(call) if len(seen) != 10 else (400, {}, b"no") if bad is None else json_reply(bad)

    def asked():
        seen.clear()
        return ms.HTTPOracle(service.url, retries=0, concurrency=1)

    with Service(tenth_is_bad) as service:
        with asked() as oracle, pytest.raises(ms.OracleError) as caught:
            oracle(np.arange(30.0)[:, None], 1)
        came = caught.value.received
        assert np.array_equal(came[:, 0], [*range(9), *[np.nan] * 21], equal_nan=True)
        assert isinstance(caught.value.data.get("reply"), str) == (bad is not None)  # each attribute is one thing
        study = ms.create_study(tmp_path / "a.db", "lab", n=3, sigma=1.0, seed=1)
        with asked() as oracle, pytest.raises(ms.OracleError, match="all other answers are stored"):
            ms.run_study(study, oracle, workers=1, batch=10)
        assert study.progress().total == 9
        study.close()
        options = {"n": 3, "k": 1, "method": "paper", "gamma": None, "sigma": 1.0, "batch": 100, "seed": 1}
        with asked() as oracle, pytest.raises(ms.OracleError, match="the 9 answers received before") as caught:
            ms.recover(oracle, **options)
        (record,) = caught.value.record
        assert np.allclose(record.answers, record.queries.sum(axis=1))
        assert len(record) == 9


def test_ctrl_c_carries_what_came_in_the_call():
    def third_is_interrupted(call):
        if call.x[0] == 6:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.2)
        return total(call)

    with Service(third_is_interrupted) as service, ms.HTTPOracle(service.url, concurrency=1) as oracle:
        with pytest.raises(KeyboardInterrupt) as caught:
            oracle(X, 1)
        assert np.array_equal(caught.value.received[:, 0], [3, 12, np.nan, np.nan], equal_nan=True)


@pytest.mark.parametrize(("status", "told"), [(400, "refused with status 400 (no inputs)"), (500, "500, no inputs)")])
def test_a_service_that_never_answers_may_want_another_body(status, told):
    with Service(lambda call: (status, {}, b"no inputs")) as service, ms.HTTPOracle(service.url, retries=1) as oracle:
        with pytest.raises(ms.OracleError) as caught:
            oracle(X, 1)
    assert told in str(caught.value)
    assert "give the body that it expects (--body; in Python body=)" in str(caught.value)


def test_a_wait_beyond_the_limit_is_not_waited_for():
    with (
        Service(lambda call: (429, {"Retry-After": "3600"}, b"")) as service,
        ms.HTTPOracle(service.url, limit=60) as oracle,
        ms.HTTPOracle(service.url, limit=60, retries=1) as once_more,
    ):
        for patient in (oracle, once_more):
            with pytest.raises(
                ms.OracleError, match=r"after 1 try.*next try would be in 3600 s, and the limit is 60 s"
            ):
                patient(X[:1], 1)
        assert len(service.calls) == 2


@pytest.mark.parametrize("text", ["9" * 400, "9" * 5000, "1e400", "inf", "nan", "Fri, 31 Dec 9999 23:59:59 GMT"])
def test_a_wait_without_end_is_later_than_the_limit(text):
    assert retry_after(text) == np.inf
    with Service(lambda call: (503, {"Retry-After": text}, b"")) as service:
        with ms.HTTPOracle(service.url, limit=1e300, timeout=1e300) as oracle:
            with pytest.raises(ms.OracleError, match="would have to wait without end, and the limit is 1e"):
                oracle(X[:1], 1)
        assert len(service.calls) == 1


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("120", 120.0),
        ("1.5", 1.5),
        ("-5", 0.0),
        ("-" + "9" * 400, 0.0),
        ("", 0.0),
        ("soon", 0.0),
        ("1_000", 0.0),
        ("٣", 0.0),
        ("Fri, 31 Dec 1999 23:59:59 GMT", 0.0),
        ("Fri, 31 Dec 99999 23:59:59 GMT", np.inf),
        ("Fri, 99 Dec 2030 99:99:99 GMT", 0.0),
        ("Fri, 31 Dec 2030 23:59:59 +9999999999", np.inf),
    ],
)
def test_retry_after_of_every_kind(text, seconds):
    found = retry_after(text)
    assert found == seconds or (text.endswith("9999999999") and found in (0.0, np.inf))


def test_a_thousand_retries_do_not_overflow():
    assert 15 <= backoff(5000) <= 30


@pytest.mark.parametrize("head", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n"])
def test_a_service_that_drips_is_not_waited_for(head):
    def drip(client):
        try:
            client.recv(65536)
            client.sendall(head)
            while True:
                client.sendall(b"H")  # a header, or an answer, without end
                time.sleep(0.02)
        except OSError:
            client.close()

    server, url = raw_server(drip)
    with server, ms.HTTPOracle(url, timeout=0.2, retries=0) as oracle:
        with pytest.raises(ms.OracleError, match=r"after 1 try"):
            oracle(X[:1], 1)


def test_torn_answers_and_dead_services_are_tried_again():
    seen = []

    def torn_once(client):
        client.recv(65536)
        seen.append(1)
        whole = b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n" + b'{"y": 4.5}'
        client.sendall(whole if len(seen) > 1 else whole[:-3])
        client.close()

    server, url = raw_server(torn_once)
    with server, ms.HTTPOracle(url) as oracle:
        assert oracle(X[:1], 1) == 4.5
        assert oracle.requests == 2
    with Service(total) as gone:
        pass
    with ms.HTTPOracle(gone.url, retries=1) as oracle:
        with pytest.raises(ms.OracleError, match=r"after 2 tries.*no connection"):
            oracle(X[:1], 1)


def reply_of(text, head=b""):
    return b"HTTP/1.1 200 OK\r\n" + head + b"Content-Length: %d\r\n\r\n" % len(text) + text


def requests(client):
    """Yield the first number of each request of a connection; a next one may come right behind it."""
    data = b""
    while True:
        while b"}" not in data:
            part = client.recv(65536)
            if not part:
                return
            data += part
        body = data.partition(b"\r\n\r\n")[2].decode()
        found, end = json.JSONDecoder().raw_decode(body)
        data = body[end:].encode()
        yield found["x"][0]


def answering(answer):
    """A server that answers each request of a connection by answer(client, number of the request, its first number)."""

    def serve(client):
        with contextlib.suppress(OSError), client:
            for i, x in enumerate(requests(client)):
                answer(client, i, x)

    return raw_server(serve)


def y(number):
    return b'{"y": %g}' % number


def twice(client, i, x):
    client.sendall(reply_of(y(x)) + (reply_of(y(777)) if i == 5 else b""))


def twice_in_turn(client, i, x):
    client.sendall(reply_of(y(x)))
    if i == 5:
        client.sendall(reply_of(y(777)))


def twice_soon(client, i, x):
    client.sendall(reply_of(y(x)))
    if i == 5:
        time.sleep(0.0002)
        client.sendall(reply_of(y(777)))


def twice_late(client, i, x):
    time.sleep(0.003)
    client.sendall(reply_of(y(x)))
    if i == 5:
        time.sleep(0.002)
        client.sendall(reply_of(y(777)))


@pytest.mark.parametrize("answer", [twice, twice_in_turn, twice_soon, twice_late])
def test_a_reply_that_nobody_asked_for_is_never_an_answer(answer):
    server, url = answering(answer)
    with server:
        for _ in range(5):
            with pytest.raises(ms.OracleError, match=r"sent 'HTTP/1\.1 200 OK.*' without being asked"):
                with ms.HTTPOracle(url, concurrency=1, fresh=False) as oracle:
                    oracle(np.arange(40.0)[:, None], 1)


def test_a_reply_that_is_longer_than_it_says_is_refused():
    server, url = answering(lambda client, i, x: client.sendall(reply_of(b"12") + b".5"))
    with server, ms.HTTPOracle(url, answer="") as oracle:
        with pytest.raises(ms.OracleError, match=r"sent '\.5' without being asked"):
            oracle(X[:1], 1)


@pytest.mark.parametrize("more", [b"\r\n", b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n"])
def test_a_connection_that_is_given_up_politely_is_no_error(more):
    def answer(client, i, x):
        client.sendall(reply_of(y(x)))
        if i == 2:
            time.sleep(0.0003)
            client.sendall(more)

    server, url = answering(answer)
    with server, ms.HTTPOracle(url, concurrency=1) as oracle:
        assert oracle(X, 3)[:, 0].tolist() == [0, 3, 6, 9]


@pytest.mark.parametrize(
    ("head", "content", "words"),
    [
        (b"", b"12", "has no length, and may be torn"),
        (b"", b"1.5e", "has no length, and may be torn"),
        (b"Content-Encoding: gzip\r\nContent-Length: 2\r\n", b"12", r"is packed \(gzip\)"),
    ],
)
def test_a_number_that_may_be_torn_is_refused(head, content, words):
    def answer(client, i, x):
        client.sendall(b"HTTP/1.1 200 OK\r\n" + head + b"\r\n" + content)
        client.shutdown(socket.SHUT_RDWR)

    server, url = answering(answer)
    with server, ms.HTTPOracle(url, answer="") as oracle:
        with pytest.raises(ms.OracleError, match=words):
            oracle(X[:1], 1)
    server, url = answering(lambda client, i, x: (client.sendall(b"HTTP/1.1 200 OK\r\n\r\n12\n"), client.close()))
    with server, ms.HTTPOracle(url, answer="") as oracle:
        assert oracle(X[:1], 1) == 12


def test_stop_ends_a_request_that_is_out():
    server, url = answering(lambda client, i, x: time.sleep(30))
    with server, ms.HTTPOracle(url, timeout=500) as oracle:
        threading.Timer(0.3, oracle.stop).start()
        start = time.monotonic()
        with pytest.raises(ms.OracleError, match="stopped"):
            oracle(X, 1)
        assert time.monotonic() - start < 10


def test_a_huge_answer_is_refused():
    with Service(lambda call: json_reply(b" " * 2_000_000)) as service, ms.HTTPOracle(service.url) as oracle:
        with pytest.raises(ms.OracleError, match="more than 1,000,000 bytes"):
            oracle(X[:1], 1)


def test_stop_ends_the_waits():
    with Service(lambda call: (503, {"Retry-After": "100"}, b"")) as service, ms.HTTPOracle(service.url) as oracle:
        caught = []

        def ask():
            try:
                oracle(X, 2)
            except ms.OracleError as error:
                caught.append(error)

        thread = threading.Thread(target=ask)
        thread.start()
        while len(service.calls) < 8:
            time.sleep(0.01)
        oracle.stop()
        thread.join(30)
        assert not thread.is_alive()
        assert caught


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"", "it is empty"),
        (b"<html>busy</html>", "<html>busy</html>.*not JSON"),
        (b"\xff\xfe\x00", "not JSON"),
        (b'{"y": NaN}', "NaN is not a JSON number"),
        (b'{"y": Infinity}', "not a JSON number"),
        (b'{"y": 1e999}', "no number of usable size"),
        (b'{"y": 1' + b"0" * 200 + b"}", "no number of usable size"),
        (b'{"y": "3"}', "a JSON number is needed"),
        (b'{"y": true}', "holds true"),
        (b'{"y": null}', "holds null"),
        (b'{"z": 3}', "has no 'y'; it has z"),
        (b"[3]", r"has no 'y'; it is a list of 1 entry: give its path, such as \[0\] \(--answer\)"),
        (b'[{"y": 3}, 4]', r"it is a list of 2 entries: give its path, such as \[0\]\.y \("),
        (b"[]", r"it is a list of 0 entries: give its path \("),
        (b"3", "has no 'y'"),
        (b"[" * 100_000, "not JSON"),
    ],
)
def test_unusable_answers_say_what_came(raw, words):
    with Service(lambda call: json_reply(raw)) as service, ms.HTTPOracle(service.url) as oracle:
        with pytest.raises(ms.OracleError, match=words) as caught:
            oracle(X[:1], 1)
        assert len(str(caught.value)) < 500
        assert len(service.calls) == 1  # asking again would not help


@pytest.mark.parametrize(
    "option", [{"rate": 0}, {"concurrency": 0}, {"timeout": -1}, {"retries": -1}, {"limit": 0}, {"hosts": ["http://a"]}]
)
def test_wrong_options_are_refused(option):
    with pytest.raises(ms.InvalidInput):
        ms.HTTPOracle("http://127.0.0.1:9/", **option)


def test_recovers_both_models_over_http():
    pair = ms.random_pair(10, 2, gap=5.0, seed=1)
    score = two_models(2, pair, 0.5)
    with Service(lambda call: score(call.x)) as service, ms.HTTPOracle(service.url) as oracle:
        r = ms.recover(oracle, 10, gamma=0.3, seed=3)
        assert (r.status, oracle.count) == ("certified", r.queries)
        assert ms.match_error(r.vectors, pair) < 0.3


# -- a reply too many that comes late ------------------------------------------------------------------------


def shifting(seconds, when=0):
    """Serve right answers, each after some seconds, but one reply too many while a question is out: all are shifted."""

    def answer(client, i, x):
        time.sleep(seconds)
        client.sendall(reply_of(y(x)))
        if i == when:
            time.sleep(0.05)
            client.sendall(reply_of(y(777)))

    return answering(answer)


def test_a_reply_too_many_is_found_after_a_rest(monkeypatch):
    monkeypatch.setattr(connections_module, "IDLE", 0.2)
    server, url = shifting(0.02)
    with server, ms.HTTPOracle(url, concurrency=1, fresh=False) as oracle:
        assert oracle([[1.0], [2.0]], 1).ravel().tolist() == [1.0, 777.0]
        time.sleep(0.4)
        with pytest.raises(ms.OracleError, match="without being asked"):
            oracle([[3.0]], 1)
        assert "without being asked" in oracle.doubt


def test_a_reply_that_is_still_being_made_is_waited_for_at_the_end():
    server, url = shifting(0.3)
    with server:
        oracle = ms.HTTPOracle(url, concurrency=1, fresh=False)
        assert oracle([[1.0], [2.0], [3.0]], 1).ravel().tolist() == [1.0, 777.0, 2.0]
        assert not oracle.confirmed
        with pytest.raises(ms.OracleError, match="without being asked"):
            oracle.close()
        assert oracle.confirmed
        assert oracle.doubt is not None


def test_a_reply_too_many_is_found_behind_the_one_that_closes_the_connection():
    def answer(client, i, x):
        if i == 1:
            client.sendall(reply_of(y(777)))  # before the question is looked at
        client.sendall(reply_of(y(x), b"Connection: close\r\n" if i == 1 else b""))

    server, url = answering(answer)
    with server, ms.HTTPOracle(url, concurrency=1, fresh=False) as oracle:
        with pytest.raises(ms.OracleError, match="without being asked"):
            oracle(np.arange(4.0)[:, None], 1)


@pytest.mark.parametrize("shifted", [True, False])
def test_a_connection_that_is_stopped_on_its_way_is_looked_at(shifted):
    server, url = shifting(0.2, 0 if shifted else -1)
    with server:
        oracle = ms.HTTPOracle(url, concurrency=1, fresh=False)
        oracle([[1.0], [2.0]], 1)
        threading.Timer(0.05, oracle.stop).start()
        with pytest.raises(ms.OracleError, match="stopped"):
            oracle([[3.0], [4.0]], 1)
        assert not oracle.confirmed
        with pytest.raises(ms.OracleError, match="asked") if shifted else contextlib.nullcontext():
            oracle.close()
        assert (oracle.confirmed, oracle.doubt is not None) == (True, shifted)


def test_a_connection_that_was_stopped_does_not_stand_in_the_way_of_the_next_call():
    def serve_all(listener):  # one connection at a time
        with contextlib.suppress(OSError):
            while True:
                client, _ = listener.accept()
                with client:
                    for x in requests(client):
                        time.sleep(0.1)
                        client.sendall(reply_of(y(x)))

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=serve_all, args=(listener,), daemon=True).start()
        with ms.HTTPOracle(
            f"http://127.0.0.1:{listener.getsockname()[1]}/", concurrency=1, timeout=5, fresh=False
        ) as oracle:
            oracle([[1.0]], 1)
            threading.Timer(0.05, oracle.stop).start()
            with pytest.raises(ms.OracleError, match="stopped"):
                oracle([[2.0]], 1)
            start = time.monotonic()
            assert oracle([[3.0]], 1) == 3.0
            assert time.monotonic() - start < 4


def test_closing_goes_on_where_ctrl_c_interrupted_it(monkeypatch):
    def interrupted(_):
        raise KeyboardInterrupt

    server, url = shifting(0.1)
    with server:
        oracle = ms.HTTPOracle(url, concurrency=1, fresh=False)
        oracle([[1.0], [2.0]], 1)
        with monkeypatch.context() as patch:
            patch.setattr(connections_module.Connections, "_rest", interrupted)
            with pytest.raises(KeyboardInterrupt):
                oracle.close()
        assert not oracle.confirmed
        with pytest.raises(ms.OracleError, match="without being asked"):
            oracle.close()
        assert oracle.confirmed


def test_connections_that_a_service_closes_without_a_word_are_used_once():
    def serve(client):
        with contextlib.suppress(OSError), client:
            questions = requests(client)
            client.sendall(reply_of(y(next(questions, 0))))
            time.sleep(0.05)
            client.sendall(reply_of(y(-999)))  # taken for the answer to the next question, which is never answered
            next(questions, None)

    server, url = raw_server(serve)
    with server, ms.HTTPOracle(url, concurrency=1, fresh=False) as oracle:
        x = np.arange(20.0)
        try:
            answers = oracle(x[:, None], 1)[:, 0]
        except ms.OracleError as error:  # a busy machine asks again after the 0.05 s, and refuses the reply
            if "without being asked" not in str(error):
                raise
        else:
            assert (answers != x).sum() <= 1


def test_answers_are_confirmed_when_the_oracle_was_closed():
    with Service(total) as service:
        oracle = ms.HTTPOracle(service.url, fresh=False)
        assert isinstance(oracle, Confirming)
        assert oracle.confirmed
        oracle(X, 1)
        assert not oracle.confirmed
        oracle.close()
        assert oracle.confirmed
        with ms.HTTPOracle(service.url, fresh=True) as fresh:
            fresh(X, 1)
            assert fresh.confirmed
