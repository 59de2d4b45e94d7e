"""Files are written whole, or not at all."""

from __future__ import annotations

import os
import resource
import signal
from contextlib import contextmanager
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import mixsense as ms
from mixsense.cli.output import save_picture, write_page, write_result
from mixsense.studies.files import export_answers
from mixsense.sweeps.sweep import save_table
from mixsense.whole_file import write_whole
from study_cases import SMALL, one_line

ROOM = 1000
RESULT = ms.Recovery(np.arange(600.0).reshape(2, 300), "certified", 10, 0.1)


@contextmanager
def little_room():
    """No file may have more than 1,000 bytes: a disk that is full."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (ROOM, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, before)


@pytest.fixture
def study(tmp_path):
    folder = tmp_path / "database"
    folder.mkdir()
    study = ms.create_study(folder / "tea.db", "tea", **SMALL)
    study.tell_many([(q.id, 1.0) for q in study.ask_many(40)])
    yield study
    study.close()


def picture(path):
    figure, axes = plt.subplots()
    save_picture(lambda: axes, path)
    plt.close(figure)


WRITERS = {
    "a.csv": lambda study, path: export_answers(study, path, force=True),
    "a.parquet": lambda study, path: export_answers(study, path, force=True),
    "r.json": lambda study, path: write_result(RESULT, path),
    "r.html": lambda study, path: write_page(RESULT, path, "tea", RESULT.plot),
    "r.png": lambda study, path: picture(path),
    "t.csv": lambda study, path: save_table(pd.DataFrame({"a": range(1000)}), path),
    "t.parquet": lambda study, path: save_table(pd.DataFrame({"a": range(1000)}), path),
}


@pytest.mark.parametrize("name", WRITERS)
def test_a_full_disk_leaves_the_old_file_and_no_part_of_a_new_one(tmp_path, study, name):
    folder = tmp_path / "files"
    folder.mkdir()
    old, new = folder / f"old-{name}", folder / f"new-{name}"
    old.write_text("what was there")
    with little_room():
        for path in (old, new):
            with pytest.raises(ms.MixsenseError, match="File too large") as caught:
                WRITERS[name](study, path)
            one_line(caught.value)
    assert [path.read_text() for path in folder.iterdir()] == ["what was there"]
    for path in (old, new):
        WRITERS[name](study, path)
        assert path.stat().st_size > ROOM
    assert {*folder.iterdir()} == {old, new}


def test_rights_links_and_devices_stay(tmp_path):
    before = os.umask(0o022)
    try:
        (tmp_path / "shared").touch()
        os.chmod(tmp_path / "shared", 0o660)
        (tmp_path / "link").symlink_to("shared")
        (tmp_path / "dangling").symlink_to("behind")
        for name, private in (("new", False), ("secret", True), ("link", True), ("dangling", True)):
            write_whole(tmp_path / name, b"tea", private)
        rights = {p.name: oct(p.stat().st_mode & 0o777) for p in tmp_path.iterdir() if not p.is_symlink()}
        assert rights == {"shared": "0o660", "new": "0o644", "secret": "0o600", "behind": "0o600"}
        assert (tmp_path / "link").is_symlink()
        assert (tmp_path / "shared").read_bytes() == b"tea"
    finally:
        os.umask(before)
    write_whole("/dev/null", b"tea")
    with pytest.raises(OSError, match="No space left"):
        write_whole("/dev/full", b"tea")
    assert Path("/dev/null").is_char_device()
