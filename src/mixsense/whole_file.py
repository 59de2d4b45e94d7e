"""Files that are written whole: a stop or a full disk leaves the old file or the new one, never a part."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat

FilePath = str | os.PathLike[str]


def write_whole(path: FilePath, content: bytes, private: bool = False) -> None:
    """Write a file beside the one that is meant, and put it in its place when all of it is on the disk.

    What is no regular file, as /dev/stdout, is written as it is; so is a file in a folder that takes no other.

    Parameters
    ----------
    path : path
        The file; a link is followed. One that is there keeps its rights.
    content : bytes
        All of it.
    private : bool
        A new file can be read by its owner only.

    Raises
    ------
    OSError
        It cannot be written; the old file is as it was, and nothing is left beside it.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_whole(f"{folder}/a.txt", b"tea")
    ...     [(path.name, path.read_bytes()) for path in pathlib.Path(folder).iterdir()]
    [('a.txt', b'tea')]
    """
    path = os.path.realpath(path)
    folder = os.path.dirname(path)
    old = os.stat(path) if os.path.lexists(path) else None
    if old and (not stat.S_ISREG(old.st_mode) or not os.access(folder, os.W_OK | os.X_OK)):
        with open(path, "wb") as file:
            file.write(content)
        return
    part = os.path.join(folder, f".{secrets.token_hex(8)}.part")
    try:
        with open(part, "xb", opener=lambda name, flags: os.open(name, flags, 0o600 if private else 0o666)) as file:
            if old:
                with contextlib.suppress(OSError):  # a group that we are not in
                    os.chown(part, -1, old.st_gid)
                os.chmod(part, stat.S_IMODE(old.st_mode))
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(part)
        raise
