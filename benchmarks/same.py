"""Did a restructuring change anything: the same cases with an older version and with the working tree, bit by bit.

    python benchmarks/same.py                              # against 0.2.0, installed into an environment of its own
    python benchmarks/same.py --reuse /tmp/same            # ... which is kept for the next time
    python benchmarks/same.py --source ../mixsense-0.2.0   # against a checkout, with this interpreter: the fastest
    python benchmarks/same.py --only 'frugal-*' plans --expected frugal-eta

Each version runs all cases of the folder `same_cases` in one process of its own, with one BLAS thread: another number
of threads would change last bits. A case that differs is shown with its fields, and the exit code is 1 unless the case
is among those expected. Diagnostics, columns and other things by name are compared where both versions have them.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
BASE = "7c37228"
EXTRAS = "study,sweep"
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
ABSENT = object()


@dataclass(frozen=True)
class Version:
    """A version that can run cases: an interpreter, and the folder to import mixsense from (None: it is installed)."""

    python: Path
    source: Path | None

    def run(self, *arguments: str) -> tuple[dict[str, Any], dict[str, Any]]:
        """Run cases; returns what ran, and the results by name."""
        paths = [ROOT / "benchmarks", *([self.source] if self.source else [])]
        environment = {**os.environ, **ONE_THREAD, "PYTHONPATH": os.pathsep.join(map(str, paths))}
        with tempfile.TemporaryDirectory(prefix="mixsense-same-") as folder:
            done = subprocess.run(
                [self.python, "-W", "ignore", "-m", "same_cases", *arguments],
                cwd=folder,
                env=environment,
                stdout=subprocess.PIPE,
                text=True,
            )
        if done.returncode:
            raise SystemExit(f"the cases stopped with exit code {done.returncode}")
        # LAPACK writes its complaints to the standard output, too.
        about, *rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        if self.source and not Path(about["file"]).is_relative_to(self.source):
            raise SystemExit(f"mixsense was imported from {about['file']}, not from {self.source}")
        return about, {row["case"]: row["result"] for row in rows}


def installed(commit: str, folder: Path) -> Version:
    """Install a commit of this repository, with its pinned packages, into a virtual environment in the folder."""
    git = ["git", "-C", str(ROOT)]
    name = subprocess.run([*git, "rev-parse", f"{commit}^{{commit}}"], capture_output=True, text=True)
    if name.returncode:
        raise SystemExit(f"there is no commit {commit} in {ROOT}: give another one with --base")
    home = folder / name.stdout.strip()
    python = home / "venv" / "bin" / "python"
    if (home / "ready").exists():
        return Version(python, None)
    archive = subprocess.run([*git, "archive", name.stdout.strip()], capture_output=True, check=True).stdout
    tree = home / "tree"
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        tar.extractall(tree, filter="data")
    print(f"installing {commit} into {home}", flush=True)
    subprocess.run([sys.executable, "-m", "venv", home / "venv"], check=True)
    options = ["--quiet", "--disable-pip-version-check", "--constraint", tree / "constraints.txt"]
    subprocess.run([python, "-m", "pip", "install", *options, f"{tree}[{EXTRAS}]"], check=True)
    (home / "ready").touch()
    return Version(python, None)


def checkout(folder: Path) -> Version:
    """Return the version in a folder with a `src`, to be run by this interpreter."""
    source = folder.resolve() / "src"
    if not (source / "mixsense").is_dir():
        raise SystemExit(f"there is no src/mixsense in {folder}: give a checkout")
    return Version(Path(sys.executable), source)


def differences(old: Any, new: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any, Any]]:
    """Yield the path, the old and the new value of all that differs. Of dictionaries, what both have is compared.

    Fields of a case itself must be there in both.
    """
    if isinstance(old, dict) and isinstance(new, dict):
        for key in old.keys() & new.keys() if path else {**old, **new}:
            yield from differences(old.get(key, ABSENT), new.get(key, ABSENT), (*path, key))
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for i, pair in enumerate(zip(old, new, strict=True)):
            yield from differences(*pair, (*path, str(i)))
    elif repr(old) != repr(new):  # repr: nan equals nan, and -0.0 is not 0.0
        yield path, old, new


def relative(old: Any, new: Any) -> float:
    """Return the relative difference of two numbers; infinite for anything else."""
    numbers = all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in (old, new))
    if not numbers:
        return float("inf")
    size = max(abs(old), abs(new))
    return abs(old - new) / size if 0 < size < float("inf") else float(repr(old) != repr(new))


def brief(value: Any) -> str:
    """Return a value for the table: numbers to 6 digits, text and lists cut."""
    if value is ABSENT:
        return "absent"
    if isinstance(value, float):
        return f"{value:.6g}"
    text = f"a list of {len(value)}" if isinstance(value, list) else str(value)
    return text if len(text) <= 100 else f"{text[:99]}…"


def field(path: tuple[str, ...]) -> str:
    """Return the name under which a difference is shown: one for each field, and for each entry of the diagnostics."""
    return ".".join(path[:2] if path[0] == "diagnostics" else path[:1])


def explained(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """Return a line for each field that differs, with its largest difference; none if nothing does."""
    if crashes := [f"crash: {found['crash']}" for found in (old, new) if "crash" in found]:
        return crashes
    worst: dict[str, tuple[float, int, str]] = {}
    for path, before, now in differences(old, new):
        size, count, text = worst.get(field(path), (-1.0, 0, ""))
        if relative(before, now) > size:
            size, text = relative(before, now), f"{'.'.join(path)}: {brief(before)} -> {brief(now)}"
        worst[field(path)] = size, count + 1, text
    return [f"{text}  (relative {size:.1e}, {count} values)" for size, count, text in worst.values()]


def report(old: dict[str, Any], new: dict[str, Any], expected: list[str]) -> int:
    """Print which cases differ and how; returns the number of those that were not expected to."""
    bad = equal = 0
    for name in old:
        lines = explained(old[name], new[name])
        if not lines:
            equal += 1
            continue
        foreseen = any(fnmatchcase(name, pattern) for pattern in expected)
        bad += not foreseen
        print(f"{name}: differs{', as expected' if foreseen else ''}")
        print("\n".join(f"    {line}" for line in lines))
    print(f"{equal} of {len(old)} cases equal to the last bit, {len(old) - equal} differ, {bad} of them unexpectedly")
    return bad


def chosen(names: list[str], patterns: list[str] | None) -> list[str]:
    """Return the cases that are named, by name or by pattern."""
    if patterns is None:
        return names
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in names):
            raise SystemExit(f"there is no case {pattern!r}: --list shows all")
    return [name for name in names if any(fnmatchcase(name, pattern) for pattern in patterns)]


def timed(title: str, version: Version, names: list[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    start = time.monotonic()
    about, results = version.run(*names)
    packages = f"numpy {about['numpy']}, scipy {about['scipy']}"
    print(f"{title}: mixsense {about['mixsense']}, {packages}; {len(names)} cases in {time.monotonic() - start:.0f} s")
    return about, results


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", default=BASE, help="the commit to compare with")
    parser.add_argument("--source", type=Path, help="a checkout to compare with instead; nothing is installed")
    parser.add_argument("--reuse", type=Path, help="a folder that keeps the base's environment")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="cases to run, such as 'frugal-*'")
    parser.add_argument("--expected", nargs="+", metavar="NAME", default=[], help="cases that may differ")
    parser.add_argument("--list", action="store_true", help="print the names of all cases")
    args = parser.parse_args()
    tree = checkout(ROOT)
    names = chosen(tree.run("--list")[0]["cases"], args.only)
    if args.list:
        print("\n".join(names))
        return 0
    with ExitStack() as stack:
        if args.source:
            base = checkout(args.source)
        else:
            folder = args.reuse or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="mixsense-base-")))
            base = installed(args.base, folder.resolve())
        about, old = timed("base", base, names)
    now, new = timed("tree", tree, names)
    if any(about[package] != now[package] for package in ("numpy", "scipy")):
        print("the packages differ: so may last bits")
    return 1 if report(old, new, args.expected) else 0


if __name__ == "__main__":
    sys.exit(main())
