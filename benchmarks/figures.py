"""Every picture of the docs: makes it again, and puts the numbers into the page. ``make figures`` runs this.

    python benchmarks/figures.py [--tables]

With --tables nothing is simulated: the tables are made from the data in docs/figures. A sample of the data is computed
again by tests/test_generated.py: a picture of another method than the present one fails there.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

import pandas as pd

from mixsense.datasets.tone import FILE
from mixsense.figures import FIGURES
from mixsense.figures.figure import markdown
from pages import put_table

DOCS = Path(__file__).parent.parent / "docs"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", action="store_true", help="only put the numbers of the data into the page")
    if not parser.parse_args().tables:
        package = [sys.executable, "-m", "mixsense"]
        for command in (
            [*package, "demo", "--out", DOCS / "demo.png"],
            [*package, "fit", FILE, *"--answer tuned --models 2 --intercept --plot".split(), DOCS / "tone.png"],
            [sys.executable, Path(__file__).parent / "ranks.py", "--runs", "150", "--out", DOCS / "ranks.png"],
            [sys.executable, Path(__file__).parent / "trust_picture.py", DOCS / "trust.png"],
            [*package, "figures", "--out", DOCS / "figures"],
        ):
            done = subprocess.run(command, check=False)
            if done.returncode:
                return done.returncode
    for figure in FIGURES:
        data = pd.read_csv(DOCS / "figures" / f"{figure.stem}.csv")
        put_table(DOCS / "figures.md", figure.stem, markdown(figure.summary(data)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
