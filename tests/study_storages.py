"""A plugin with fixtures: a place for studies on each kind of storage, new or as mixsense 0.2.0 left it."""

from __future__ import annotations

import secrets
import shutil
import sys

import pytest

import mixsense as ms
import postgres_server
from mixsense import sqlite
from mixsense.cli import main as cli
from mixsense.studies.registry import delete_study, list_studies
from mixsense.studies.storage.tables import sa
from study_cases import SMALL, TINY, make_old_database


@pytest.fixture(scope="session")
def postgres():
    try:
        with postgres_server.running() as url:
            yield url
    except postgres_server.Unavailable as reason:
        pytest.skip(str(reason))


@pytest.fixture(params=["DELETE", "WAL", "postgres"])
def url(request, tmp_path, monkeypatch):
    """The URL of a place for studies, one for each kind of storage; that of PostgreSQL is one for all tests."""
    if request.param == "postgres":
        return request.getfixturevalue("postgres")
    monkeypatch.setattr(sqlite, "SQLITE_VERSION", sqlite.SAFE_WAL if request.param == "WAL" else (3, 0, 0))
    return f"sqlite:///{tmp_path}/study.db"


@pytest.fixture
def empty(url):
    """The URL of an empty database."""
    if not url.startswith("postgresql"):
        yield url
        return
    name = secrets.token_hex(4)
    server = sa.create_engine(url.replace("://", "+psycopg://"), isolation_level="AUTOCOMMIT")
    with server.connect() as connection:
        connection.execute(sa.text(f'CREATE DATABASE "{name}"'))
    yield f"{url.rpartition('/')[0]}/{name}"
    with server.connect() as connection:
        connection.execute(sa.text(f'DROP DATABASE "{name}" WITH (FORCE)'))
    server.dispose()


@pytest.fixture
def old(empty):
    """The URL of a database that mixsense 0.2.0 wrote."""
    make_old_database(empty)
    return empty


@pytest.fixture
def make(url, request):
    """Make studies that are removed afterwards; PostgreSQL's server is one for all tests."""
    made = []

    def create(name="tea", **settings):
        study = ms.create_study(url, f"{name} {request.node.name}", **{**SMALL, **settings})
        made.append(study)
        return study

    yield create
    for study in made:
        if study.name in list_studies(url):
            delete_study(url, study.name)
        study.close()


@pytest.fixture(scope="session")
def new(tmp_path_factory):
    """A file with a new study: copied for each test, which is quicker than to make it."""
    path = tmp_path_factory.mktemp("new") / "tea.db"
    ms.create_study(path, "tea", **TINY)
    return path


@pytest.fixture
def study(new, tmp_path):
    shutil.copy(new, tmp_path / "tea.db")
    return ms.load_study(tmp_path / "tea.db", "tea")


@pytest.fixture
def command(monkeypatch, capsys, tmp_path):
    """Run `mixsense study …` in this process; gives the exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)

    def run(*args):
        monkeypatch.setattr(sys, "argv", ["mixsense", "study", *args])
        try:
            cli.main()
            code = 0
        except SystemExit as stop:
            code = stop.code or 0
        out, err = capsys.readouterr()
        return code, out, err

    return run
