"""Does the wheel work for a newcomer? Installs it into clean environments, and runs what README tells to run.

    python benchmarks/wheel.py [PYTHON ...] [--constraint constraints.txt]

Without arguments every Python from 3.11 on that is found on the PATH, or that pyenv or uv keeps, is tried: one line
each. For each, in an empty folder and with nothing of this repository on the path:

- the wheel alone: the command line's examples and the first Python example;
- a figure, which needs an extra: it has to end with the one line that says what to install, and to work after that;
- the wheel with all extras that README lists: its Python examples.

The exit code is 1 if one of them fails.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OLDEST = (3, 11)
FIGURE = "figures --only 1 --quick --jobs 1 --out figs"


class Broken(Exception):
    """A command that does not do what README says."""


def run(command: list[str], folder: Path, code: int = 0) -> str:
    """Run a command as somebody without the repository; return what it printed. It has to end with this exit code."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV", "PYENV"))}
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=1800, check=False)
    if done.returncode != code:
        last = (done.stderr.strip() or done.stdout.strip() or "no output").splitlines()[-1]
        raise Broken(f"`{shlex.join(command[-6:])[:100]}` ended with {done.returncode}: {last}")
    return done.stdout + done.stderr


def pythons() -> list[str]:
    """Return one interpreter for each version from 3.11 on."""
    names = [name for minor in range(OLDEST[1], 30) if (name := shutil.which(f"python3.{minor}"))]
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    uv = Path(os.environ.get("UV_PYTHON_INSTALL_DIR", Path.home() / ".local" / "share" / "uv" / "python"))
    kept = [*pyenv.glob("versions/3.*/bin/python"), *uv.glob("cpython-3.*/bin/python3")]
    found: dict[str, str] = {}
    for name in [*map(str, sorted(kept)), *names, sys.executable]:
        code = "import sys; print('%d.%d' % sys.version_info[:2])"
        done = subprocess.run([name, "-c", code], capture_output=True, text=True, check=False)
        version = done.stdout.strip()
        if done.returncode == 0 and tuple(map(int, version.split("."))) >= OLDEST:
            found.setdefault(version, name)
    return [found[version] for version in sorted(found, key=lambda text: int(text.split(".")[1]))]


def check(python: str, wheel: Path, extras: str, constraint: list[str]) -> str:
    """Install the wheel for one interpreter and run the examples; return the line to print."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = re.findall(r"^\$ mixsense (.*)$", readme, re.M)
    examples = re.findall(r"```python\n(.*?)```", readme, re.S)
    start = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="mixsense-wheel-") as name:
        place, folder = Path(name) / "env", Path(name) / "empty"
        folder.mkdir()
        run([python, "-m", "venv", str(place)], folder)
        here, program = str(place / "bin" / "python"), str(place / "bin" / "mixsense")
        run([here, "-m", "pip", "install", "--quiet", *constraint, str(wheel)], folder)
        for command in commands:
            run([program, *shlex.split(command)], folder)
        run([here, "-W", "error", "-c", examples[0]], folder)
        needs = run([program, *FIGURE.split()], folder, code=2).strip()
        told = re.search(r"pip install '(mixsense\[\w+\])'$", needs)
        if told is None or "\n" in needs:
            raise Broken(f"without its extra, `mixsense figures` says: {needs[-200:]}")
        run([here, "-m", "pip", "install", "--quiet", *constraint, told[1]], folder)
        run([program, *FIGURE.split()], folder)
        run([here, "-m", "pip", "install", "--quiet", *constraint, f"{wheel}[{extras}]"], folder)
        run([here, "-W", "error", "-c", "\n".join(examples)], folder)
        version = run([here, "-c", "import sys; print(sys.version.split()[0])"], folder).strip()
    done = len(commands) + len(examples) + 2
    return f"{version:8} ok: {done} examples, {time.perf_counter() - start:.0f} s"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "pythons", nargs="*", metavar="PYTHON", help="interpreters to try; all that are found by default"
    )
    parser.add_argument("--constraint", type=Path, help="a file of pinned versions; the newest ones by default")
    arguments = parser.parse_args()
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    extras = re.search(r"pip install '[^'\[]*\[([\w,]+)\]'", readme)[1]
    constraint = ["--constraint", str(arguments.constraint.resolve())] if arguments.constraint else []
    failed = 0
    with tempfile.TemporaryDirectory(prefix="mixsense-wheel-") as name:
        source = Path(name) / "source"  # a copy, so that nothing is built in the working tree
        kept = shutil.ignore_patterns(".*", "build", "*.egg-info", "__pycache__")
        shutil.copytree(ROOT, source, ignore=kept)
        run([sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", name, str(source)], source)
        (wheel,) = Path(name).glob("*.whl")
        print(f"{wheel.name}, {wheel.stat().st_size / 1024:.0f} kB, extras: {extras}", flush=True)
        for python in arguments.pythons or pythons():
            try:
                print(check(python, wheel, extras, constraint), flush=True)
            except (Broken, OSError, subprocess.TimeoutExpired) as error:
                failed += 1
                print(f"{python} BROKEN: {error}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
