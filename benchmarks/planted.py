"""Secrets and identities planted wherever they may come in, and looked for wherever something comes out.

    python benchmarks/planted.py            # one line for each kind of place, and the sum

Each kind plants values that exist nowhere else, runs what a user would run, and gives back all that anybody can see or
find later: messages, exceptions with all that they carry, `repr`s, logs, results, every file, and what other hosts
were sent. A value counts as found if eight of its letters in a row are there, in any of the forms that `forms` lists:
that is what the docs promise, and what chance does not bring. Everything stays on 127.0.0.1.
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import html
import io
import json
import logging
import os
import random
import shlex
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

import numpy as np

import mixsense as ms

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from http_service import Service, two_models

PIECE = 8
"""This many letters in a row of a planted value must not be seen."""
LETTERS = "abcdefghjkmnpqrstuvwxyzACDEFGHJKLMNPQRTUVWXYZ"
X = np.eye(2, 4)
PAIR = np.eye(2, 4) * 4
SMALL = ["--n", "4", "--gamma", "0.5", "--seed", "1", "--sigma", "0.3"]
ESCAPES: dict[str, Callable[[str], str]] = {
    "plain": str,
    "json": lambda v: json.dumps({"detail": v}),
    "json in json": lambda v: json.dumps(json.dumps(v)),
    "json, each letter": lambda v: "".join(f"\\u{ord(c):04x}" for c in v),
    "quote": quote,
    "quote all": lambda v: quote(v, safe=""),
    "quote_plus": quote_plus,
    "quote twice": lambda v: quote(quote(v, safe=""), safe=""),
    "each byte quoted": lambda v: "".join(f"%{b:02X}" for b in v.encode()),
    "html": html.escape,
    "html, each letter": lambda v: "".join(f"&#{ord(c)};" for c in v),
    "html, hexadecimal": lambda v: "".join(f"&#x{ord(c):x};" for c in v),
    "repr": repr,
    "base64": lambda v: base64.b64encode(v.encode()).decode(),
    "base64 for addresses": lambda v: base64.urlsafe_b64encode(b"Bearer " + v.encode()).decode(),
    "hexadecimal": lambda v: v.encode().hex(),
    "capitals": str.upper,
    "at the cut": lambda v: "x" * 113 + v,
    "on two lines": lambda v: f"line\n{v}\nline",
    "a part": lambda v: v[2:14],
}
"""How a service or a program may repeat what it was sent."""


def forms(piece: str) -> set[str]:
    """Return how some letters in a row may look, in small letters; written apart from what mixsense hides."""
    raw = piece.encode()
    found = {piece, json.dumps(piece)[1:-1], quote(piece), quote(piece, safe=""), quote_plus(piece), html.escape(piece)}
    found |= {raw.hex(), repr(piece)[1:-1], "".join(f"%{b:02x}" for b in raw), quote(quote(piece, safe=""), safe="")}
    found |= {"".join(form.format(ord(c)) for c in piece) for form in ("\\u{:04x}", "&#{};", "&#x{:x};")}
    for before in range(3):  # the letters of base 64 that the piece alone decides, wherever it begins
        coded = base64.b64encode(bytes(before) + raw + bytes(2)).decode()
        coded = coded[-(-8 * before // 6) : 8 * (before + len(raw)) // 6]
        found |= {coded, coded.replace("+", "-").replace("/", "_")}
    return {form.lower() for form in found}


class Bag:
    """The values that one kind plants, and what can be seen afterwards."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self.values: list[str] = []
        self._seen: list[str] = []

    def secret(self) -> str:
        """Return a new secret, as one of the shapes that they come in."""
        rng = self._rng
        kinds = LETTERS, LETTERS + "23456789", LETTERS + "23456789"  # digits in a row come in answers, too
        letters = "".join(rng.choice(kinds[i % 3]) for i in range(24))
        shape = len(self.values) % 4
        value = [letters, f"{letters[:12]}+/{letters[12:]}=", f'{letters[:9]}&"<{letters[9:]}%', f"sk-{letters}"][shape]
        self.values.append(value)
        return value

    def person(self) -> str:
        """Return a new person, by an e-mail address."""
        name = "".join(self._rng.choices("abcdefghijklmnoprstuvwyz", k=20))
        self.values.append(f"{name[:9]}@{name[9:]}.org")
        return self.values[-1]

    @contextlib.contextmanager
    def variable(self, value: str | None = None) -> Iterator[str]:
        """Put a new secret into an environment variable, and return the variable's name."""
        name = f"PLANTED_{len(self.values)}"
        os.environ[name] = self.secret() if value is None else value
        try:
            yield name
        finally:
            del os.environ[name]

    def see(self, *things: Any) -> None:
        """Keep what can be seen: text, bytes, exceptions, objects."""
        for thing in things:
            if isinstance(thing, BaseException):
                self._seen += traceback.format_exception(thing)
                while thing is not None:
                    self._seen.append(f"{thing} {thing!r} {vars(thing)}")
                    thing = thing.__cause__ or thing.__context__
            else:
                self._seen.append(thing.decode("latin-1") if isinstance(thing, bytes) else str(thing))

    def see_folder(self, folder: Path) -> None:
        """Keep what all files hold, those of databases as well."""
        for file in folder.rglob("*"):
            if file.is_file():
                self.see(file.read_bytes())

    def found(self) -> list[str]:
        """Return the values of which something can be seen."""
        text = "\n".join(self._seen).lower()

        def is_seen(value: str) -> bool:
            pieces = (value[i : i + PIECE] for i in range(len(value) - PIECE + 1))
            return any(form in text for piece in pieces for form in forms(piece))

        return [value for value in self.values if is_seen(value)]


def failing(bag: Bag, ask: Callable[[], Any]) -> None:
    """See how something fails; that it does not fail is a fault of this program."""
    try:
        ask()
    except ms.MixsenseError as error:
        bag.see(error)
    else:
        raise AssertionError("it was to fail")


def run_cli(bag: Bag, folder: Path, *args: str) -> int:
    """Run a command, and see what it prints."""
    env = os.environ | {"PYTHONPATH": str(Path(ms.__file__).parents[1])}
    command = [sys.executable, "-m", "mixsense", *args]
    done = subprocess.run(command, cwd=folder, capture_output=True, timeout=120, env=env)
    bag.see(done.stdout, done.stderr)
    return done.returncode


def echoing(bag: Bag, where: str) -> None:
    """Let a service repeat a secret of the header, body, path, query or cookie, in every escape."""
    for number, escape in enumerate(ESCAPES.values()):
        status = (400, 401, 500, 200)[number % 4]
        with bag.variable() as name:
            value = os.environ[name]

            def reply(call: Any, status: int = status, text: str = escape(value)) -> Any:
                return status, {"Set-Cookie": f"a={quote(text)}"}, text.encode()

            with Service(reply) as service:
                url, options = service.url, {"body": {"x": "$x"}, "headers": {}}
                if where in ("header", "cookie"):
                    plain = value.isascii() and ";" not in value
                    options["headers"] = {
                        "Cookie" if where == "cookie" else "X-Auth": f"s=env:{name}" if plain else "$id"
                    }
                elif where == "body":
                    options["body"] = {"x": "$x", "api_key": f"env:{name}"}
                elif where == "path":
                    url += f"/env:{name}/score"
                else:
                    url += f"?v=2&key=env:{name}" if number % 2 else f"?v=2&key={quote(value, safe='')}"
                with ms.HTTPOracle(url, retries=0, **options) as oracle:
                    bag.see(repr(oracle), oracle)
                    failing(bag, lambda oracle=oracle: oracle(X[:1], 1))
                    bag.see(repr(oracle._connections.headers), repr(oracle._connections.target))


def programs(bag: Bag, where: str) -> None:
    """Let a program repeat a secret of its line, arguments or environment, on its output or as its last words."""
    for number, escape in enumerate(ESCAPES.values()):
        with bag.variable(None if where == "body" else "nothing") as name, tempfile.TemporaryDirectory() as folder:
            value = os.environ[name] if where == "body" else bag.secret()
            text = escape(value)
            Path(folder, "said").write_text(text, encoding="utf-8")
            say = ["sys.exit(said)", "print(said, flush=True)", "print(1, said, sep=chr(10), flush=True)"][number % 3]
            file = Path(folder, "program.py")
            file.write_text(
                f"import sys; said = open({str(Path(folder, 'said'))!r}, encoding='utf-8').read(); input(); {say}\n"
            )
            arguments = ["--api-key", value] if where == "arguments" else []
            body = {"x": "$x", "token": f"env:{name}"} if where == "body" else {"x": "$x"}
            if where == "environment":
                os.environ["PLANTED_API_KEY"] = value
            try:
                oracle = ms.CommandOracle([sys.executable, str(file), *arguments], body=body, timeout=20)
                bag.see(repr(oracle))
                with contextlib.suppress(ms.OracleError), oracle:
                    failing(bag, lambda oracle=oracle: oracle(X[:1], 1))
            finally:
                os.environ.pop("PLANTED_API_KEY", None)


def refused(bag: Bag) -> None:
    """Give secrets in plain at every wrong place: they are refused, and the refusal does not show them."""
    url = "http://127.0.0.1:9/score"
    for header in ("Authorization", "X-Auth", "Auth", "jwt", "Bearer", "X-Access", "Cookie", "X-Tenant", "X-Client"):
        value = f"Bearer {bag.secret()}"
        failing(bag, lambda header=header, value=value: ms.HTTPOracle(url, headers={header: value}))
    for body in (
        {"x": "$x", "password": bag.secret()},
        {"x": "$x", "auth": {"user": {"api-key": bag.secret()}}},
        {"x": "$x", "notes": ["a", "Bearer " + bag.secret()]},
        '{"x": "$x", "key": ' + bag.secret(),
        {"q": bag.secret() + "9f8e7d6c5b4a"},
    ):
        failing(bag, lambda body=body: ms.HTTPOracle(url, body=body))
    value = bag.secret().replace("/", "").replace("%", "").replace('"', "").replace("<", "")
    failing(bag, lambda: ms.HTTPOracle(f"{url}/sk-{value}a1b2c3d4/x"))
    failing(bag, lambda: ms.HTTPOracle(f"http://user:{quote(bag.secret(), safe='')}@127.0.0.1:9/score"))
    failing(bag, lambda: ms.CommandOracle(f"program --key '{bag.secret()}"))
    failing(bag, lambda: ms.HTTPOracle(url, headers={f"Bearer {bag.secret()}": "x"}))
    with bag.variable("é" + bag.secret()) as name:
        failing(bag, lambda: ms.HTTPOracle(url, headers={"X-Auth": f"env:{name}"}))
    with tempfile.TemporaryDirectory() as folder:
        assert run_cli(bag, Path(folder), "audit", url, "--n", "4", "--header", f"Authorization: {bag.secret()}") == 2
        assert run_cli(bag, Path(folder), "audit", url, "--n", "4", "--header", f"Authorization={bag.secret()}") == 2
        args = ["--body", json.dumps({"x": "$x", "token": bag.secret()})]
        assert run_cli(bag, Path(folder), "audit", url, "--n", "4", *args) == 2
        bag.see_folder(Path(folder))


def databases(bag: Bag) -> None:
    """Give databases with passwords: nobody listens there, and the password is not shown."""
    for number in range(8):
        password = bag.secret()
        url = f"postgresql://lab:{quote(password, safe='')}@127.0.0.1:9/tea" + (
            "?sslmode=disable" if number % 2 else ""
        )
        if number < 4:
            failing(bag, lambda url=url: ms.load_study(url, "tea"))
        elif number < 6:
            failing(bag, lambda url=url: ms.create_study(url, "tea", n=3, sigma=1.0))
        else:
            with tempfile.TemporaryDirectory() as folder:
                assert run_cli(bag, Path(folder), "study", "list", "--db", url) != 0


def redirects(bag: Bag) -> None:
    """Let a service lead to another host that is allowed: it is not sent any secret."""
    for number in range(12):
        with bag.variable() as name:
            taken: list[Any] = []

            def other(call: Any, taken: list[Any] = taken) -> Any:
                taken.append((str(call.headers), call.body, call.path))
                return 1.0

            with Service(other) as host:

                def lead(call: Any, url: str = host.url) -> Any:
                    return 307, {"Location": url}, b""

                with Service(lead) as service:
                    url, options = service.url, {}
                    kind = number % 4
                    if kind == 0:
                        options["headers"] = {"X-Auth": f"env:{name}", "Authorization": f"Bearer env:{name}"}
                    elif kind == 1:
                        options["body"] = {"x": "$x", "token": f"env:{name}"}
                    elif kind == 2:
                        options["headers"] = {
                            "Cookie": f"s=env:{name}",
                            "jwt": f"env:{name}",
                            "X-Access": f"env:{name}",
                        }
                    else:
                        url += f"?key=env:{name}"
                    with ms.HTTPOracle(url, hosts=[f"127.0.0.1:{host.port}"], retries=0, **options) as oracle:
                        try:
                            bag.see(oracle(X[:1], 1))
                        except ms.OracleError as error:
                            bag.see(error)
            bag.see(taken)


def audits(bag: Bag) -> None:
    """Audit a service that is sent secrets everywhere and tells of people: study, exports, results, HTML, logs."""
    score = two_models(3, PAIR, 0.3)
    log = io.StringIO()
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        folder = Path(name)
        header, body, path, query = (stack.enter_context(bag.variable()) for _ in range(4))
        people = [bag.person() for _ in range(6)]

        def answer(call: Any) -> Any:
            person = people[call.number % len(people)]
            content = {"y": score(call.x), "user": person, "auth": call.headers["Authorization"], "path": call.path}
            return 200, {"Set-Cookie": f"session={quote(person)}", "X-User": person}, json.dumps(content).encode()

        service = stack.enter_context(Service(answer))
        url = f"{service.url}/env:{path}?key=env:{query}&user={quote(bag.person())}"
        args = ["--header", f"Authorization=Bearer env:{header}", "--header", f"Cookie=s=env:{header}"]
        args += ["--body", json.dumps({"x": "$x", "token": f"env:{body}", "tenant": (tenant := bag.person())})]
        assert run_cli(bag, folder, "audit", url, *SMALL, *args, "--out", "r.json", "--json") == 0
        assert run_cli(bag, folder, "audit", url, *SMALL, *args) == 0
        args[-1] = args[-1].replace(tenant, bag.person())
        assert run_cli(bag, folder, "audit", url, *SMALL, *args) == 2  # another body
        for words in (["list"], ["status", "audit"], ["result", "audit"], ["answers", "export", "audit", "a.csv"]):
            assert run_cli(bag, folder, "study", *words) == 0
        assert run_cli(bag, folder, "study", "answers", "export", "audit", "a.parquet") == 0
        assert run_cli(bag, folder, "recover", url, *SMALL, "--record", "r.jsonl", "--out", "s.json") in (0, 1)
        bag.see_folder(folder)
        handler = logging.StreamHandler(log)
        logging.getLogger().addHandler(handler)
        logging.getLogger().setLevel(logging.DEBUG)
        try:
            headers = {"Authorization": f"Bearer env:{header}"}
            study = ms.create_study(folder / "more.db", "more", n=4, gamma=0.5, sigma=0.3, seed=1)
            with ms.HTTPOracle(url, headers=headers, body={"x": "$x", "token": f"env:{body}"}) as oracle:
                r = ms.run_study(study, oracle, workers=2)
            bag.see(repr(study), study.notes, study.progress(), repr(r), r, r.summary(), r._repr_html_(), r.to_json())
            bag.see(study.record(), study.answers(), r.diagnostics)
            study.close()
        finally:
            logging.getLogger().removeHandler(handler)
            logging.getLogger().setLevel(logging.WARNING)
        bag.see(log.getvalue())
        bag.see_folder(folder)


def records(bag: Bag) -> None:
    """Recover from a program with keys among its arguments, and keep a record."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "model.py").write_text(
            "import json, random, sys\nrng = random.Random(1)\nfor line in sys.stdin:\n"
            "    x = json.loads(line)['x']\n"
            "    print(rng.choice([4 * x[0], 4 * x[1]]) + rng.gauss(0, 0.3), flush=True)\n"
        )
        for number in range(6):
            key, person = bag.secret(), bag.person()
            command = shlex.join([sys.executable, "model.py", "--key", key, f"--user={person}"])
            where = ["--record", f"{number}.jsonl"] if number % 2 else ["--db", f"{number}.db", "--skip-preflight"]
            verb = "recover" if number % 2 else "audit"
            for _ in range(2):
                assert run_cli(bag, folder, verb, "--command", command, *SMALL, *where, "--out", f"{number}.json") == 0
        (folder / "model.py").unlink()
        bag.see_folder(folder)


def tables(bag: Bag) -> None:
    """Import answers from tables that tell who gave them: the study and its exports do not."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        study = ms.create_study(folder / "tea.db", "tea", n=4, sigma=1.0, seed=1)
        for number in range(4):
            taken = study.ask_many(3)
            rows = [f"{q.id},{i},{bag.person()},10.0.{number}.{i},{bag.secret()[:20]!r}" for i, q in enumerate(taken)]
            table = Path(name).parent / f"planted-{os.getpid()}-{number}.csv"
            table.write_text("id,answer,respondent,ip,password\n" + "\n".join(rows).replace('"', "") + "\n")
            try:
                run_cli(bag, folder, "study", "answers", "import", "tea", str(table), "--db", "tea.db")
            finally:
                table.unlink()
        assert study.progress().total > 0
        bag.see(study.answers(), repr(study))
        study.close()
        assert run_cli(bag, folder, "study", "answers", "export", "tea", "a.csv", "--db", "tea.db") == 0
        bag.see_folder(folder)


KINDS: dict[str, Callable[[Bag], None]] = {
    **{f"echo of the {w}": (lambda bag, w=w: echoing(bag, w)) for w in ("header", "cookie", "body", "path", "query")},
    **{f"a program's {w}": (lambda bag, w=w: programs(bag, w)) for w in ("body", "arguments", "environment")},
    "in plain, refused": refused,
    "passwords of databases": databases,
    "redirects to another host": redirects,
    "an audit's files and logs": audits,
    "records and commands": records,
    "tables with people": tables,
}


def run(seed: int = 1, say: Callable[[str], Any] = lambda line: None) -> tuple[int, int]:
    """Plant everything, and look for it.

    Parameters
    ----------
    seed : int
        Draws the values.
    say : callable
        Receives a line for each kind.

    Returns
    -------
    (int, int)
        How many values were planted, and of how many something was found.
    """
    planted = found = 0
    for name, plant in KINDS.items():
        bag = Bag(random.Random(f"{seed} {name}"))
        plant(bag)
        seen = bag.found()
        planted, found = planted + len(bag.values), found + len(seen)
        say(f"{'FAILED' if seen else 'ok':<6} {name:<28} {len(bag.values):4} planted, {len(seen)} found {seen or ''}")
    return planted, found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    planted, found = run(parser.parse_args().seed, lambda line: print(line, flush=True))
    print(f"{planted} planted, {found} found")
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main())
