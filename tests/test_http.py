"""The HTTP oracle and the preflight, against real services on loopback."""

from __future__ import annotations

import contextlib
import json
import random
import shutil
import socket
import ssl
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import mixsense as ms
from http_service import MODELS, Service, two_models
from mixsense.oracles.abilities import Callers, Closing, Stoppable
from mixsense.oracles.preflight import Preflight, cost, preflight
from mixsense.oracles.template import Answer, Body
from oracle_contract import check_oracle

X = np.arange(12.0).reshape(4, 3)


def total(call):
    return call.x.sum()


def json_reply(text):
    return 200, {}, text if isinstance(text, bytes) else text.encode()


# --- the body and the path


@pytest.mark.parametrize(
    ("template", "features", "sent"),
    [
        ('{"x": "$x"}', None, {"x": [1.5, 2.0]}),
        ('"$x"', None, [1.5, 2.0]),
        ({"a": ["$x[1]", {"b": "$x[0]"}], "c": None}, None, {"a": [2.0, {"b": 1.5}], "c": None}),
        ({"in": "$features", "price": "$$5"}, ["milk", "sugar"], {"in": {"milk": 1.5, "sugar": 2.0}, "price": "$5"}),
        ({"m": "$features.milk", "s": "$features.sugar %"}, ["milk", "sugar %"], {"m": 1.5, "s": 2.0}),
    ],
)
def test_body_holds_the_query(template, features, sent):
    assert json.loads(Body(template, features).fill(np.array([1.5, 2.0]))) == sent


def test_negative_zero_and_exact_numbers():
    assert Body('["$x"]').fill(np.array([-0.0, 0.1 + 0.2])) == b"[[0.0, 0.30000000000000004]]"
    first, second = (json.loads(Body('["$x", "$id"]').fill(np.ones(1)))[1] for _ in range(2))
    assert first != second


@pytest.mark.parametrize(
    ("template", "features", "words"),
    [
        ("{'x': 1}", None, "is not JSON"),
        ('{"x": NaN}', None, "is not JSON"),
        ('{"x": 1}', None, "no place for the query"),
        ('{"x": "$y"}', None, "is not a placeholder"),
        ('{"x": "$features"}', None, "no feature names"),
        ('{"x": "$features.tea"}', ["milk"], "no feature is named 'tea'"),
        ('{"x": "$x[0]"}', ["milk", "sugar"], "never sends 'sugar'"),
        ({"x": object()}, None, "cannot be written as JSON"),
        ("[" * 100_000, None, "is not JSON"),
    ],
)
def test_wrong_bodies_are_refused(template, features, words):
    with pytest.raises(ms.InvalidInput, match=words):
        Body(template, features)


def test_body_must_fit_the_query():
    for template, words in (('["$x[5]", "$x[0]"]', "count from 0"), ('["$x[0]"]', r"never sends 'x\[1\]'")):
        with pytest.raises(ms.InvalidInput, match=words):
            Body(template).check(2)
    with pytest.raises(ms.InvalidInput, match="there are 1 features"):
        Body('["$features"]', ["milk"]).check(2)


@pytest.mark.parametrize(
    ("path", "raw"),
    [("", "3"), ("a.b", '{"a": {"b": 3.0}}'), ("[1][0].z", '[0, [{"z": 3}]]'), ('["a.b"]', '{"a.b": 3e0}')],
)
def test_path_finds_the_number(path, raw):
    assert Answer(path).read(raw.encode()) == 3.0


@pytest.mark.parametrize("path", [".a", "a..b", "a[", "a[-1]", "[x]", 'a["b]', None])
def test_wrong_paths_are_refused(path):
    with pytest.raises(ms.InvalidInput, match="path of the answer"):
        Answer(path)


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
        (b"[3]", "has no 'y'; it has 1 entries"),
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


# --- asking


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
        assert isinstance(oracle, Closing)
        with oracle.caller(fresh=True, cookies=False) as other:
            assert (oracle.fresh, other.fresh) == (False, True)
    simulated = ms.SimulatedOracle(MODELS)
    assert not any(isinstance(simulated, ability) for ability in (Callers, Stoppable, Closing))
    assert cost(oracle) - cost(simulated) == 72


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
    with Service(total) as service, ms.HTTPOracle(service.url, concurrency=3) as oracle:
        threads = [threading.Thread(target=lambda: [oracle(X[:1], 1) for _ in range(10)]) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(service.calls) == 60
        assert len({call.connection for call in service.calls}) <= 3
    with Service(total) as service, ms.HTTPOracle(service.url, fresh=True) as oracle:
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
    [(400, "body that the service expects"), (401, "env:TOKEN"), (404, "takes a POST"), (204, "status 200 is needed")],
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
        assert np.array_equal(caught.value.received[:, 0], [3, 12, 21, np.nan], equal_nan=True)


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


def raw_server(serve):
    """Accept connections and give each to `serve` in a thread; returns (socket, address)."""
    server = socket.create_server(("127.0.0.1", 0))

    def loop():
        while True:
            try:
                client, _ = server.accept()
            except OSError:
                return
            threading.Thread(target=serve, args=(client,), daemon=True).start()

    threading.Thread(target=loop, daemon=True).start()
    return server, f"http://127.0.0.1:{server.getsockname()[1]}/"


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


# --- who is contacted, and what is told to whom


def test_secrets_come_from_the_environment_and_stay_there(monkeypatch):
    monkeypatch.setenv("SCORE_TOKEN", "s3cret-value")

    def echo(call):
        if call.path == "/ok?key=abc":
            return 1.0 if call.headers["Authorization"] == "Bearer s3cret-value" else 0.0
        return 403, {}, f"bad token {call.headers['Authorization']} key=abc".encode()

    with Service(echo) as service:
        headers = {"Authorization": "Bearer env:SCORE_TOKEN", "X-Client": "audit"}
        with ms.HTTPOracle(service.url.replace("score", "ok?key=abc"), headers=headers) as oracle:
            assert oracle(X[:1], 1) == 1.0
            assert service.calls[-1].headers["X-Client"] == "audit"
            assert "s3cret" not in repr(oracle) + repr(vars(oracle)["_connections"].headers)
        with ms.HTTPOracle(service.url + "?key=abc", headers=headers) as oracle:
            with pytest.raises(ms.OracleError, match=r"bad token Bearer \[SCORE_TOKEN\] \[query\]") as caught:
                oracle(X[:1], 1)
            assert "s3cret" not in repr(caught.value) + repr(caught.value.data)


@pytest.mark.parametrize(
    ("headers", "words"),
    [
        ({"Authorization": "Bearer abc"}, "looks like a secret"),
        ({"X-Api-Key": "abc"}, "looks like a secret"),
        ({"Authorization": "env:NOT_THERE"}, "NOT_THERE is not set"),
        ({"X-A": "a\r\nX-B: b"}, "no header may hold"),
        ({"Host": "elsewhere"}, "cannot be set"),
        ({"a b": "c"}, "cannot be set"),
        ({"X-A": 3}, "give text"),
    ],
)
def test_wrong_headers_are_refused(headers, words):
    with pytest.raises(ms.InvalidInput, match=words) as caught:
        ms.HTTPOracle("http://127.0.0.1:9/", headers=headers)
    assert "abc" not in str(caught.value)


@pytest.mark.parametrize(
    "url", ["127.0.0.1:80", "ftp://127.0.0.1/", "http://", "http://h:x/", "http://u:pw@127.0.0.1/", "http://a b/", None]
)
def test_wrong_addresses_are_refused(url):
    with pytest.raises(ms.InvalidInput, match="address") as caught:
        ms.HTTPOracle(url)
    assert "pw" not in str(caught.value)


@pytest.mark.parametrize(
    "option", [{"rate": 0}, {"concurrency": 0}, {"timeout": -1}, {"retries": -1}, {"limit": 0}, {"hosts": ["http://a"]}]
)
def test_wrong_options_are_refused(option):
    with pytest.raises(ms.InvalidInput):
        ms.HTTPOracle("http://127.0.0.1:9/", **option)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_elsewhere_are_refused(status):
    with Service(total) as other, Service(lambda call: (status, {"Location": other.url}, b"")) as service:
        with ms.HTTPOracle(service.url) as oracle, pytest.raises(ms.OracleError, match="redirected"):
            oracle(X[:1], 1)
        assert not other.calls
        assert len(service.calls) == 1


def test_redirects_within_the_service_and_to_allowed_hosts(monkeypatch):
    monkeypatch.setenv("SCORE_TOKEN", "s3cret-value")

    def moved(call):
        return total(call) if call.path == "/new" else (307, {"Location": "/new"}, b"")

    with Service(moved) as service, ms.HTTPOracle(service.url) as oracle:
        assert oracle(X[:1], 1) == 3.0
    with Service(lambda call: (308, {"Location": call.path}, b"")) as loop, ms.HTTPOracle(loop.url) as oracle:
        with pytest.raises(ms.OracleError, match="more than 3 times"):
            oracle(X[:1], 1)
    with Service(total) as other, Service(lambda call: (307, {"Location": other.url}, b"")) as service:
        headers = {"Authorization": "env:SCORE_TOKEN"}
        with ms.HTTPOracle(service.url, headers=headers, hosts=[f"127.0.0.1:{other.port}"]) as oracle:
            assert oracle(X[:1], 1) == 3.0
        assert service.calls[0].headers["Authorization"] == "s3cret-value"
        assert other.calls[0].headers["Authorization"] is None


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        ((400, {}, b"no"), "refused with status 400"),
        ((500, {}, b""), "no answer after 1 try"),
        ((200, {}, b"{}"), "y"),
        ((200, {}, b" " * 2_000_000), "more than 1,000,000 bytes"),
    ],
)
def test_an_error_names_who_was_asked_after_a_redirect(reply, words):
    with Service(lambda call: reply) as other, Service(lambda call: (307, {"Location": other.url}, b"")) as service:
        with ms.HTTPOracle(service.url, hosts=[f"127.0.0.1:{other.port}"], retries=0) as oracle:
            with pytest.raises(ms.OracleError, match=words) as caught:
                oracle(X[:1], 1)
        assert f"POST {other.url}" in str(caught.value)
        assert str(service.port) not in str(caught.value)


def test_proxies_of_the_environment_are_not_used(monkeypatch):
    with Service(total) as proxy, Service(total) as service:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        with ms.HTTPOracle(service.url) as oracle:
            assert oracle(X[:1], 1) == 3.0
        assert not proxy.calls


def test_cookies_are_not_sent_back():
    def cookie(call):
        return (
            200,
            {"Set-Cookie": "who=me"},
            json.dumps({"y": call.headers["Cookie"] is None}).replace("true", "1").encode(),
        )

    with Service(cookie) as service, ms.HTTPOracle(service.url) as oracle:
        assert (oracle(X, 2) == 1).all()
        assert oracle.sets_cookies


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl to make a certificate")
def test_certificates_are_checked(tmp_path, monkeypatch):
    key, certificate = tmp_path / "key.pem", tmp_path / "cert.pem"
    made = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2"
    subprocess.run(
        [
            *made.split(),
            "-keyout",
            key,
            "-out",
            certificate,
            "-subj",
            "/CN=localhost",
            "-addext",
            "subjectAltName=IP:127.0.0.1",
        ],
        check=True,
        capture_output=True,
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with Service(total, context) as service:
        with ms.HTTPOracle(service.url) as oracle, pytest.raises(ms.OracleError, match="certificate is not trusted"):
            oracle(X[:1], 1)
        assert not service.calls
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        with ms.HTTPOracle(service.url) as oracle:
            assert oracle(X[:2], 1).tolist() == [[3.0], [12.0]]


def test_without_the_package_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "httpcore", None)
    with pytest.raises(ms.InvalidInput, match=r"pip install 'mixsense\[http\]'"):
        ms.HTTPOracle("http://127.0.0.1:9/")


def test_recovers_both_models_over_http():
    pair = ms.random_pair(10, 2, gap=5.0, seed=1)
    score = two_models(2, pair, 0.5)
    with Service(lambda call: score(call.x)) as service, ms.HTTPOracle(service.url) as oracle:
        r = ms.recover(oracle, 10, gamma=0.3, seed=3)
        assert (r.status, oracle.count) == ("certified", r.queries)
        assert ms.match_error(r.vectors, pair) < 0.3


# --- the preflight: one service for each behaviour


def look(behave, **options):
    # One request at a time: the order, and so each random number, is always the same.
    with Service(behave) as service, ms.HTTPOracle(service.url, concurrency=1, **options) as oracle:
        report = preflight(oracle, 12, [(-1, 1)] * 6 + [(0, 10)] * 6, seed=1)
        asked = len(service.calls)
        if report.verdicts[0].level == "ok":
            assert report.requests == asked <= cost(oracle)
    assert Preflight.from_dict(json.loads(json.dumps(report.to_dict()))) == report
    for verdict in report.verdicts:
        assert f"{verdict.level:<8} {verdict.name}" in report.summary()
    return {verdict.name: verdict.level for verdict in report.verdicts}, report


FAR = np.zeros((2, 12))
FAR[0, [0, 3]], FAR[1, [0, 7]] = (4.0, 2.0), (-3.0, 0.5)
GOOD = dict.fromkeys(("answers", "noise", "cached", "constant", "linear", "models", "sticky"), "ok")


@pytest.mark.parametrize("sigma", [0.3, 0.0])
def test_preflight_likes_a_mixture_of_linear_models(sigma):
    score = two_models(3, FAR, sigma)
    levels, report = look(lambda call: score(call.x))
    assert levels == GOOD, report.summary()
    assert ("two exact values" in report["noise"].text) == (sigma == 0)


@pytest.mark.parametrize(("sigma", "curve", "words"), [(0.3, 12.0, "not two linear models"), (10.0, 30.0, "bend by")])
def test_preflight_sees_curvature(sigma, curve, words):
    score = two_models(3, FAR, sigma)
    levels, report = look(lambda call: score(call.x) + curve * call.x[3] ** 2)
    assert levels["linear"] == "problem"
    assert words in report["linear"].text


@pytest.mark.parametrize("sigma", [0.3, 0.0])
def test_preflight_sees_clipping(sigma):
    score = two_models(3, FAR, sigma)
    levels, report = look(lambda call: np.clip(score(call.x), -3, 3))
    assert levels["linear"] == "problem"
    assert "exactly" in report["linear"].text


def test_preflight_sees_saturation():
    score, noise = two_models(3, FAR, 0.0), random.Random(4)
    levels, report = look(lambda call: np.tanh(score(call.x) / 2) + noise.gauss(0.0, 0.01))
    assert levels["linear"] == "problem"
    assert "not two linear models" in report["linear"].text


def by_caller(caller_of, cookie=False):
    """Route each caller to one model for good."""
    models, rng, lock = {}, random.Random(5), threading.Lock()

    def behave(call):
        caller = caller_of(call)
        with lock:
            if caller is None:
                caller = f"c{call.number}"
            i = models.setdefault(caller, rng.randrange(2))
            y = float(FAR[i] @ call.x) + rng.gauss(0.0, 0.1)
        return 200, {"Set-Cookie": f"who={caller}"} if cookie else {}, json.dumps({"y": y}).encode()

    return behave


def test_preflight_sees_stickiness_by_connection_and_its_cure():
    levels, report = look(by_caller(lambda call: call.connection))
    assert levels["sticky"] == "problem"
    assert "--new-connections" in report["sticky"].text
    levels, report = look(by_caller(lambda call: call.connection), fresh=True)
    assert levels == GOOD | {"sticky": "note"}, report.summary()


def test_preflight_sees_stickiness_by_cookie():
    cookie = by_caller(lambda call: (call.headers["Cookie"] or "who=").partition("=")[2] or None, cookie=True)
    levels, report = look(cookie)
    assert levels == GOOD | {"sticky": "note"}, report.summary()
    assert "cookie" in report["sticky"].text


def test_preflight_says_that_one_model_is_all_it_sees():
    levels, report = look(by_caller(lambda call: "everybody"))
    assert levels == GOOD | {"models": "note"}, report.summary()
    levels, report = look(lambda call: FAR[0] @ call.x)
    assert levels == GOOD | {"models": "note", "noise": "note", "cached": "note"}, report.summary()


@pytest.mark.parametrize("sigma", [0.3, 0.0])
def test_preflight_sees_a_cache(sigma):
    score, known = two_models(3, FAR, sigma), {}
    levels, report = look(lambda call: known.setdefault(call.x.tobytes(), score(call.x)))
    assert levels == GOOD | {"cached": "problem", "noise": "note"}, report.summary()


def test_preflight_sees_a_constant():
    levels, _ = look(lambda call: 0.5)
    assert levels["constant"] == "problem"
    noise = random.Random(6)
    levels, report = look(lambda call: noise.gauss(0.5, 1.0))
    assert levels["constant"] == "problem"
    assert "linear" not in levels
    assert "beyond their noise" in report["constant"].text


def test_preflight_of_an_endpoint_that_fails():
    levels, report = look(lambda call: (500, {}, b"no model is loaded"), retries=1)
    assert levels == {"answers": "problem"}
    assert "no model is loaded" in report["answers"].text


def test_preflight_rarely_speaks_against_a_mixture():
    # Each verdict errs with probability 0.001; 40 oracles × 2 verdicts: two or more false alarms in 0.3 % of all seeds.
    alarms = 0
    for seed in range(40):
        gap, sigma, share = (1.0, 5.0, 20.0)[seed % 3], (0.0, 0.1, 1.0)[seed // 3 % 3], (0.5, 0.9)[seed % 2]
        pair = ms.random_pair(12, 3, gap=max(gap, 5 * sigma), seed=seed)
        oracle = ms.SimulatedOracle(pair, sigma, (share, 1 - share), seed=seed)
        report = preflight(oracle, 12, seed=seed)
        alarms += sum(verdict.name != "constant" for verdict in report.problems)
        assert report["constant"].level == "ok"
    assert alarms <= 1


def test_preflight_checks_its_box():
    with pytest.raises(ms.InvalidInput, match="low must be below high"):
        preflight(ms.SimulatedOracle(MODELS), 12, [(1, 0)] * 12)
