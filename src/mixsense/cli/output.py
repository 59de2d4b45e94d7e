"""What commands write: results, pictures, tables. A file that cannot be written is refused before anything is asked."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mixsense.checks import one_line
from mixsense.errors import InvalidInput, MixsenseError
from mixsense.whole_file import write_whole

if TYPE_CHECKING:
    from mixsense.recovery import Recovery


def check_file(file: Path | None) -> None:
    """Refuse a file that cannot be written."""
    if file is None:
        return
    if file.is_dir():
        raise InvalidInput(f"{file} is a folder: give a file")
    if not file.exists():
        check_folder(file)
    elif not os.access(file, os.W_OK):
        raise InvalidInput(f"{file} cannot be written: give another file")
    elif file.is_file() and _holds_answers(file):
        raise InvalidInput(f"{file} holds answers, which would be replaced: give another file")


def _holds_answers(file: Path) -> bool:
    """Return whether a file is a database, or a record of answers."""
    with file.open("rb") as opened:
        return opened.read(32).startswith((b"SQLite format 3", b'{"mixsense_record"'))


def check_folder(file: Path, what: str = "") -> None:
    """Refuse a file whose folder cannot take it."""
    folder = file.parent
    if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        reason = "cannot be written to" if folder.is_dir() else "does not exist"
        raise InvalidInput(f"{what}{file} cannot be written: the folder {folder} {reason}; give another file")


def check_outputs(**files: Path | None) -> None:
    """Refuse `out`, `html` and `plot` that cannot be written, and two purposes for one file: one would be replaced."""
    check_file(files.get("out"))
    check_file(files.get("html"))
    check_picture(files.get("plot"))
    seen: dict[Path, str] = {}
    for name, file in files.items():
        if file is not None and (other := seen.setdefault(file.resolve(), name)) != name:
            raise InvalidInput(f"--{name} and --{other} are both {file}: give each a file of its own")


def check_picture(file: Path | None) -> None:
    """Refuse a picture that cannot be written, or is of a kind that cannot be drawn."""
    if file is None:
        return
    check_file(file)
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    kinds = FigureCanvasAgg.get_supported_filetypes()
    if file.suffix and file.suffix[1:].lower() not in kinds:
        raise InvalidInput(f"{file} cannot be drawn: give a picture's file, such as {file.with_suffix('.png').name}")


def write_result(r: Recovery, out: Path) -> None:
    """Write a result as JSON, after it was shown: what was paid for is seen in any case."""
    if out.is_file() and _holds_answers(out):  # they may have gone into this very file since it was checked
        raise MixsenseError(f"{out} holds the answers; the result is shown above: give another file")
    _write(out, r.to_json() + "\n")


def write_page(
    r: Recovery, out: Path, title: str, draw: Callable[[], Any], units: Sequence[str] | None = None, **shown: Any
) -> None:
    """Write a result as a page of HTML, with the picture of the axes that `draw` returns; see `as_page`."""
    from mixsense.recovery.page import as_page

    _write(out, as_page(r, title, _drawn(draw, "svg"), units=units, **shown))


def write_outputs(r: Recovery, out: Path | None, plot: Path | None, draw: Callable[[], Any]) -> None:
    """Write a result as JSON, and its picture, as far as they are wanted."""
    if out is not None:
        write_result(r, out)
    if plot is not None:
        save_picture(draw, plot)


def _write(out: Path, text: str) -> None:
    try:
        write_whole(out, text.encode())
    except OSError as error:
        raise MixsenseError(
            f"{out} cannot be written ({error.strerror}); the result is shown above: give another file"
        ) from None


def _drawn(draw: Callable[[], Any], kind: str, **metadata: str) -> bytes:
    """Return the picture of the axes that `draw` returns, as the content of a file of this kind."""
    import matplotlib as mpl

    from mixsense.recovery.picture import drawn

    mpl.use("Agg")
    return drawn(draw(), kind, **metadata)


def save_picture(draw: Callable[[], Any], out: Path, description: str | None = None) -> None:
    """Save the picture of the axes that `draw` returns; a PNG keeps the description inside."""
    out = out if out.suffix else out.with_name(f"{out.name}.png")
    try:
        kind = out.suffix[1:].lower()
        told = {"Description": description} if description is not None and kind == "png" else {}
        write_whole(out, _drawn(draw, kind, **told))
    except (OSError, ValueError) as error:
        why = one_line((isinstance(error, OSError) and error.strerror) or error, 200)
        raise MixsenseError(f"the picture cannot be written to {out} ({why}): give another file") from None


def print_table(titles: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> None:
    """Print a table to the terminal."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(*titles)
    for row in rows:
        table.add_row(*map(Text, row))  # as it is: a name may look like markup
    Console().print(table)
