"""TOML files, as editors write them and as people break them."""

from __future__ import annotations

import pytest

import mixsense as ms
from mixsense.toml_file import read_toml

TEXT = 'name = "tea"\ntext = """a\nb"""\n[endpoint]\nrate = 2\n'
SAID = {"name": "tea", "text": "a\nb", "endpoint": {"rate": 2}}


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["plain", "byte order mark"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
def test_what_editors_write(tmp_path, mark, end):
    (tmp_path / "a.toml").write_bytes(mark + TEXT.replace("\n", end).encode())
    assert read_toml(tmp_path / "a.toml", "docs/studies.md") == SAID


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"a = = 1", "a.toml is not a TOML file (Invalid value"),
        (b"a = 1\na = 1", "a.toml is not a TOML file (Cannot overwrite"),
        (b"a = '\xff'", "a.toml is not a TOML file ('utf-8' codec"),
        (b"\0", "a.toml is not a TOML file (Invalid"),
        (b"a = " + 3_000 * b"[" + 3_000 * b"]", "a.toml is not a TOML file (it is nested too deeply)"),
        (b"a" + 3_000 * b".a" + b" = 1", "a.toml is not a TOML file (it is nested too deeply): see docs/studies.md"),
        (b"[a" + 3_000 * b".a" + b"]", "a.toml is not a TOML file (it is nested too deeply): see docs/studies.md"),
        (b"a = " + 5_000 * b"9", "a.toml is not a TOML file (Exceeds the limit"),
        (b"a = " + 10_000 * b"[", "a.toml is not a TOML file (it is nested too deeply): see docs/studies.md"),
    ],
)
def test_mistakes_are_one_line(tmp_path, content, words):
    (tmp_path / "a.toml").write_bytes(content)
    with pytest.raises(ms.InvalidInput) as caught:
        read_toml(tmp_path / "a.toml", "docs/studies.md")
    assert words in str(caught.value)
    assert str(caught.value).isprintable()


def test_a_file_without_end_is_refused(tmp_path):
    with (tmp_path / "long.toml").open("wb") as file:
        file.truncate(10**10)
    for path in (tmp_path / "long.toml", "/dev/zero"):
        with pytest.raises(ms.InvalidInput, match="has more than 10,000,000 bytes: give a TOML file"):
            read_toml(path, "docs/studies.md")


def test_a_folder_cannot_be_read(tmp_path):
    with pytest.raises(ms.InvalidInput, match="cannot be read"):
        read_toml(tmp_path, "docs/studies.md")
