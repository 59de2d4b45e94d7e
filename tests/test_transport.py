"""Who is contacted, and what is told to whom: secrets, redirects, proxies, cookies and certificates."""

from __future__ import annotations

import base64
import contextlib
import html
import json
import quopri
import shutil
import ssl
import subprocess
import sys
import unicodedata
from urllib.parse import quote, quote_plus

import numpy as np
import pytest

import mixsense as ms
from http_service import Service, raw_server
from mixsense.oracles.preflight import preflight
from mixsense.oracles.secrets import Secrets
from mixsense.oracles.transport import Target

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


JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhYmMifQ.Zk3vQ9xLmT2pR7wYb4Nd"


@pytest.mark.parametrize(
    "name", ["X-Auth", "Auth", "jwt", "Bearer", "X-Access", "X-Api", "X-Whatever", "Cookie", "Sid"]
)
def test_a_header_that_is_not_known_to_be_harmless_comes_from_the_environment(name, monkeypatch):
    with pytest.raises(ms.InvalidInput, match="looks like a secret") as caught:
        ms.HTTPOracle("http://127.0.0.1:9/", headers={name: "abc"})
    assert "abc" not in str(caught.value)
    monkeypatch.setenv("SCORE_TOKEN", "abc")
    ms.HTTPOracle("http://127.0.0.1:9/", headers={name: "env:SCORE_TOKEN", "X-Request-Id": "$id"}).close()


@pytest.mark.parametrize(
    "value", ["Bearer abc", "Basic YWJj", JWT, "f3a9c1d27b604e58a1b2c3d4e5f60718", "sk-abcdefghijkl", "env:T " + JWT]
)
@pytest.mark.parametrize("name", ["User-Agent", "X-Client", "Accept"])
def test_a_harmless_header_with_a_secret_in_it_is_refused(name, value, monkeypatch):
    monkeypatch.setenv("T", "t")
    with pytest.raises(ms.InvalidInput, match="looks like a secret") as caught:
        ms.HTTPOracle("http://127.0.0.1:9/", headers={name: value})
    assert value not in str(caught.value)


@pytest.mark.parametrize(
    "path", ["hooks/f3a9c1d27b604e58a1b2c3d4e5f60718", f"{JWT}/score", "x/sk-abcdefghijkl", "x/password=hunter2"]
)
def test_a_secret_in_the_path_comes_from_the_environment(path, monkeypatch):
    with pytest.raises(ms.InvalidInput, match=r"path looks like a secret.*env:NAME") as caught:
        ms.HTTPOracle(f"http://127.0.0.1:9/{path}")
    assert path.split("/")[-1] not in str(caught.value)
    for harmless in ("v1/models/churn-2024-01-v2-final:predict", "m/123e4567-e89b-12d3-a456-426614174000", "a/b.c~d"):
        ms.HTTPOracle(f"http://127.0.0.1:9/{harmless}").close()


SECRET = 'p/ä"+ s3cret <&> Qx9%'


def forms(secret=SECRET):
    """A secret as services repeat it."""
    raw = secret.encode()
    return {
        "plain": secret,
        "half": secret[: len(secret) // 2 + 2],
        "json": json.dumps(secret),
        "json in letters": json.dumps(secret, ensure_ascii=False),
        "json in php": json.dumps(secret).replace("/", "\\/"),
        "percent": quote(secret, safe=""),
        "small percent": quote(secret, safe="").lower(),
        "plus": quote_plus(secret),
        "html": html.escape(secret),
        "base64": base64.b64encode(raw).decode(),
        "base64 of more": base64.b64encode(b"k" + raw + b"!").decode(),
        "url base64": base64.urlsafe_b64encode(b"u:" + raw).decode().rstrip("="),
        "hex": raw.hex(),
        "each letter as in JSON": "".join(f"\\u{ord(c):04x}" for c in secret),
        "each byte as in an address": "".join(f"%{byte:02X}" for byte in raw),
        "each letter as in HTML": "".join(f"&#{ord(c)};" for c in secret),
        "quoted twice": quote(quote(secret, safe=""), safe=""),
        "JSON in JSON": json.dumps(json.dumps(secret)),
        "capitals": secret.upper(),
        "repr": repr(secret),
        "octal": "".join(f"\\{byte:03o}" for byte in raw),
        "eight digits": "".join(f"\\U{ord(c):08x}" for c in secret),
        "braces": "".join(f"\\u{{{ord(c):x}}}" for c in secret),
        "percent u": "".join(f"%u{ord(c):04x}" for c in secret),
        "quoted-printable": "".join(f"={byte:02X}" for byte in raw),
        "quoted-printable in lines": "=\n".join(quopri.encodestring(part).decode() for part in (raw[:7], raw[7:])),
        "HTML without ends": "".join(f"&#{ord(c)}" for c in secret),
        "long HTML": "".join(f"&#x{ord(c):08x};" for c in secret),
        "hex with colons": raw.hex(":"),
        "hex in a list": ", ".join(f"0x{byte:02x}" for byte in raw),
        "base32": base64.b32encode(b"k" + raw).decode(),
        "base64 twice": base64.b64encode(base64.b64encode(raw)).decode(),
        "base64 of UTF-16": base64.b64encode(secret.encode("utf-16-le")).decode(),
        "full-width": "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in secret),
        "accents apart": unicodedata.normalize("NFD", secret),
        "Latin-1": secret.encode("latin-1").decode("latin-1"),
    }


def test_every_form_of_a_secret_is_hidden():
    secrets = Secrets()
    secrets.add(SECRET, "[KEY]")
    for name, form in forms().items():
        for text in (f"you sent {form}!", f'{{"key":"{form}"}}', f"key={form}"):
            seen = secrets.show(text, 1000)
            assert "[KEY]" in seen, name
            assert not [part for part in parts(form) if part in seen.lower()], name
    assert "s" not in secrets.show(SECRET.encode("latin-1"), 100)


def parts(text):
    """Every eight letters in a row, blanks aside: what must not be seen."""
    text = text.lower()
    return {text[i : i + 8] for i in range(len(text) - 7)}


def assert_hidden(error, sent):
    seen = f"{error} {error!r} {error.data} {vars(error)}"
    context = error.__context__
    while context is not None:
        seen += f"{context!r} {vars(context)}"
        context = context.__context__
    seen = seen.lower()
    assert "s3cret" not in seen
    for form in sent.values():
        assert not [part for part in parts(form) if part in seen]


@pytest.mark.parametrize("status", [200, 400, 503])
@pytest.mark.parametrize("form", list(forms()))
def test_a_secret_that_a_service_repeats_is_hidden_in_every_form(form, status, monkeypatch):
    monkeypatch.setenv("KEY", SECRET)
    repeated = forms()[form]
    # At the place where a message is cut, and after blanks that a message leaves out.
    for before in ("", "x" * 100, "x" * 112, " " * 470 + "x" * 105, "\n" * 3):
        reply = status, {"Retry-After": "9999"}, f"{before}{repeated} y".encode()
        with Service(lambda call, reply=reply: reply) as service:
            with ms.HTTPOracle(service.url, body={"x": "$x", "auth": {"k": "env:KEY"}}, retries=0) as oracle:
                with pytest.raises(ms.OracleError) as caught:
                    oracle(X[:1], 1)
            assert service.calls[0].body["auth"] == {"k": SECRET}
        assert_hidden(caught.value, {form: repeated})
        if len(before) < 100:
            assert "[KEY]" in str(caught.value)


@pytest.mark.parametrize(
    "raw",
    [
        b"garbage %s\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n12%s",
        b"HTTP/1.1 200 OK\r\n%s\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: %s\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n\r\n%s 12",
        b"HTTP/1.1 307 x\r\nLocation: /%s\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 307 x\r\nLocation: http://%s/\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 302 x\r\nLocation: http://127.0.0.1:1/%s\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 %s x\r\n\r\n",
    ],
)
def test_a_secret_is_hidden_wherever_it_comes_back(raw, monkeypatch):
    token = "tok3n-with-9-parts"
    monkeypatch.setenv("KEY", token)
    server, url = raw_server(lambda client: (client.recv(65536), client.sendall(raw.replace(b"%s", token.encode()))))
    with server, ms.HTTPOracle(f"{url}hook/env:KEY?k=env:KEY", retries=0, timeout=0.3) as oracle:
        assert token not in repr(oracle)
        with pytest.raises(ms.OracleError) as caught:
            oracle(X[:1], 1)
        assert_hidden(caught.value, {"token": token})


def test_an_address_does_not_show_its_query():
    assert "s3cret" not in repr(Target.parse("http://127.0.0.1:9/?key=s3cret"))


def test_a_cookie_that_a_service_set_is_hidden():
    def gate(call):
        if "Cookie" not in call.headers:
            return 200, {"Set-Cookie": "session=8f3a-anna-b2c1; Path=/"}, b'{"y": 1}'
        return 403, {}, f"no more for {call.headers['Cookie']}".encode()

    with Service(gate) as service, ms.HTTPOracle(service.url) as oracle:
        with oracle.caller(fresh=False, cookies=True) as caller:
            caller(X[:1], 1)
            with pytest.raises(ms.OracleError, match=r"no more for session=\[cookie\]"):
                caller(X[:1], 1)


def test_the_environment_is_filled_into_path_query_and_body(monkeypatch):
    monkeypatch.setenv("KEY", "a/b c&d")
    with Service(lambda call: 4.5) as service:
        url = service.url.replace("score", "hook/env:KEY/s?key=env:KEY&v=2")
        with ms.HTTPOracle(url, body={"x": "$x", "note": "id env:KEY!", "plain": "$$env:KEY"}) as oracle:
            assert oracle(X[:1], 1) == 4.5
            assert repr(oracle) == f"HTTPOracle('http://127.0.0.1:{service.port}/hook/env:KEY/s')"
        assert service.calls[0].path == "/hook/a%2Fb%20c%26d/s?key=a%2Fb%20c%26d&v=2"
        assert service.calls[0].body["note"] == "id a/b c&d!"
        assert service.calls[0].body["plain"] == "$a/b c&d"


def test_each_value_of_the_query_is_hidden():
    values = ["hunter2", "abc", "a b/c+d", "alice"]
    for query in ("pw=hunter2&key=abc&q=a%20b%2Fc%2Bd&user=alice", "pw=hunter2&key=abc&q=a+b%2fc%2bd&user=alice"):
        with Service(lambda call: (403, {}, f"{' '.join(values)} | {call.path}".encode())) as service:
            with ms.HTTPOracle(f"{service.url}?{query}") as oracle, pytest.raises(ms.OracleError) as caught:
                oracle(X[:1], 1)
        for value in (*values, query):
            assert value not in str(caught.value).replace("hint", "")
    # A word of ours stays readable although it is a value of the query, too.
    with Service(lambda call: (200, {}, b"json")) as service:
        with ms.HTTPOracle(f"{service.url}?format=json") as oracle:
            with pytest.raises(ms.OracleError, match=r"the answer '\[query\]' is not JSON"):
                oracle(X[:1], 1)


def test_another_host_sees_harmless_headers_only(monkeypatch):
    monkeypatch.setenv("KEY", "tok3n-with-9-parts")
    headers = {"X-Auth": "env:KEY", "X-Client": "audit", "X-Version": "env:KEY", "X-Whatever": "$id"}
    with Service(total) as other, Service(lambda call: (307, {"Location": other.url}, b"")) as service:
        hosts = [f"127.0.0.1:{other.port}"]
        with ms.HTTPOracle(service.url, headers=headers, hosts=hosts) as oracle:
            assert oracle(X[:1], 1) == 3.0
        assert service.calls[0].headers["X-Auth"] == "tok3n-with-9-parts"
        seen = {name.lower() for name in other.calls[0].headers}
        assert seen == {"host", "content-type", "accept", "accept-encoding", "user-agent", "x-client", "content-length"}
        with ms.HTTPOracle(service.url, body={"x": "$x", "k": "env:KEY"}, hosts=hosts) as oracle:
            with pytest.raises(ms.OracleError, match="must not see the secret that is sent"):
                oracle(X[:1], 1)
        assert len(other.calls) == 1
    # Nor does a service get at another secret of the environment by a redirect, or give ours away.
    with Service(total) as other:
        for where in (f"{other.url}?k=tok3n-with-9-parts", f"{other.url}?k=env:HOME"):
            with Service(lambda call, where=where: (307, {"Location": where}, b"")) as service:
                with ms.HTTPOracle(service.url, headers=headers, hosts=[f"127.0.0.1:{other.port}"]) as oracle:
                    with contextlib.suppress(ms.OracleError):
                        oracle(X[:1], 1)
        assert [call.path for call in other.calls] == ["/score?k=env:HOME"]


def test_cookies_of_another_host_are_not_sent_to_ours():
    def here(call):
        return (307, {"Location": other.url}, b"") if call.number == 1 else float(call.headers["Cookie"] is None)

    with Service(lambda call: (200, {"Set-Cookie": "a=b"}, b'{"y": 3}')) as other, Service(here) as service:
        with ms.HTTPOracle(service.url, hosts=[f"127.0.0.1:{other.port}"]) as oracle:
            with oracle.caller(fresh=False, cookies=True) as caller:
                assert caller(X[:2], 1).tolist() == [[3.0], [1.0]]


def test_no_secret_in_the_preflight(monkeypatch):
    monkeypatch.setenv("KEY", SECRET)
    with Service(lambda call: (400, {}, json.dumps(call.body).encode())) as service:
        with ms.HTTPOracle(service.url, body={"token": "env:KEY", "x": "$x"}) as oracle:
            report = preflight(oracle, 3)
    assert "s3cret" not in json.dumps(report.to_dict()) + report.summary()
    assert "[KEY]" in report.summary()


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
