"""Who is contacted, and what is told to whom: secrets, redirects, proxies, cookies and certificates."""

from __future__ import annotations

import json
import shutil
import ssl
import subprocess
import sys

import numpy as np
import pytest

import mixsense as ms
from http_service import Service

X = np.arange(12.0).reshape(4, 3)


def total(call):
    return call.x.sum()


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


@pytest.mark.parametrize("port", ["0", "00", "65536", "99999999999", "-1", "٣"])
def test_ports_that_nobody_can_listen_at_are_refused(port):
    with pytest.raises(ms.InvalidInput, match="address"):
        ms.HTTPOracle(f"http://127.0.0.1:{port}/")
    with pytest.raises(ms.InvalidInput, match="host to allow"):
        ms.HTTPOracle("http://127.0.0.1:9/", hosts=[f"127.0.0.1:{port}"])


@pytest.mark.parametrize(
    "url", ["http://u:pw@h:99999/", "u:pw@host/", "ftp://u:pw@h/", "http://[u:pw@h/", "h?pw", "h#pw"]
)
def test_wrong_addresses_do_not_show_what_may_be_a_key(url):
    with pytest.raises(ms.InvalidInput, match="the address") as caught:
        ms.HTTPOracle(url)
    assert "pw" not in str(caught.value)


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
    monkeypatch.setitem(sys.modules, "h11", None)
    with pytest.raises(ms.InvalidInput, match=r"pip install 'mixsense\[http\]'"):
        ms.HTTPOracle("http://127.0.0.1:9/")
