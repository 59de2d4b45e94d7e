"""Puts what a benchmark measured into a page of the docs."""

from __future__ import annotations

from pathlib import Path


def put_table(page: Path, marker: str, text: str) -> None:
    """Replace what stands between ``<!-- marker -->`` and ``<!-- end -->``."""
    old = page.read_text(encoding="utf-8")
    before, found, rest = old.partition(f"<!-- {marker} -->")
    if not found:
        raise SystemExit(f"{page} has no line <!-- {marker} -->: add it where the table goes")
    after = rest.partition("<!-- end -->")[2]
    page.write_text(f"{before}<!-- {marker} -->\n{text}\n<!-- end -->{after}", encoding="utf-8")
