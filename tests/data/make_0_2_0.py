"""Make the files of this folder. It needs version 0.2.0 of mixsense on the path, and PostgreSQL.

PYTHONPATH=<0.2.0>/src python tests/data/make_0_2_0.py
"""

from __future__ import annotations

import contextlib
import json
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import mixsense as ms

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import postgres_server  # noqa: E402
from study_0_2_0 import STUDIES, go_on  # noqa: E402

ANSWERED = {"tea": 165, "paper": 200, "ended": 10_000}
"""Answers that each study has: the first is in the middle of its stage 4, the second in that of its last round."""
SWEEP = {"n": 10, "k": 1, "gap": [3.0, 6.0], "gamma": 0.5, "max_queries": 80, "seeds": 2}


def fill(url: str) -> None:
    """Create the studies, and answer as much as the files are to hold."""
    for name, settings in STUDIES.items():
        study = ms.create_study(url, name, **settings)
        go_on(study, ANSWERED[name])
        study.close()


def finish(url: str) -> dict[str, object]:
    """Go on with all studies to their end; returns where they stood and what they found."""
    found: dict[str, object] = {}
    for name in STUDIES:
        study = ms.load_study(url, name)
        before = study.progress()
        go_on(study)
        found[name] = {
            "round": before.round,
            "answered": before.answered,
            "total": before.total,
            "recovery": json.loads(study.result().to_json()),
        }
        study.close()
    return found


def dump(url: str) -> str:
    """Return a PostgreSQL database as SQL: without comments and settings, which change with the version of pg_dump."""
    program = postgres_server._program("pg_dump")
    options = ["--no-owner", "--no-privileges", "--rows-per-insert=100"]
    text = subprocess.run([program, *options, url], check=True, capture_output=True, text=True).stdout
    left_out = ("--", "\\", "SET ", "SELECT pg_catalog.set_config")
    return "".join(f"{line}\n" for line in text.splitlines() if line and not line.startswith(left_out))


def main() -> None:
    if ms.__version__ != "0.2.0":
        raise SystemExit(f"this is mixsense {ms.__version__}: put 0.2.0 on the path")
    made, sweep = HERE / "study-0.2.0.sqlite", HERE / "sweep-0.2.0.sqlite"
    for path in (made, sweep):
        path.unlink(missing_ok=True)
    fill(f"sqlite:///{made}")
    with contextlib.closing(sqlite3.connect(made)) as connection:
        connection.execute("VACUUM")
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copy(made, folder)
        expected = finish(f"sqlite:///{copy}")
    with postgres_server.running() as url:
        fill(url)
        (HERE / "study-0.2.0-postgres.sql").write_text(dump(url), encoding="utf-8")
        again = finish(url)
    assert json.dumps(again) == json.dumps(expected), "SQLite and PostgreSQL differ"
    (HERE / "expected-0.2.0.json").write_text(
        json.dumps(expected, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )
    ms.sweep(SWEEP, out=sweep, jobs=1)


if __name__ == "__main__":
    main()
