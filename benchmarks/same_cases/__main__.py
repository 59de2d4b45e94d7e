"""Run cases with whichever mixsense can be imported, and print each as one line of JSON.

    python -m same_cases [--list] [NAME ...]      # all cases by default; files are written to the current folder

The first line says which mixsense ran. Only public names are used, since modules move; the precision and the shares are
always given, since their defaults may change. Floats are printed so that they can be read back to the last bit.
"""

from __future__ import annotations

import json
import sys

import numpy as np
import scipy

import mixsense as ms
from same_cases.case import CASES, outcome, plain


def main() -> None:
    about = {"mixsense": ms.__version__, "file": ms.__file__, "numpy": np.__version__, "scipy": scipy.__version__}
    print(json.dumps({**about, "cases": list(CASES)}), flush=True)
    if sys.argv[1:] == ["--list"]:
        return
    for name in sys.argv[1:] or CASES:
        print(json.dumps({"case": name, "result": plain(outcome(CASES[name]))}), flush=True)


if __name__ == "__main__":
    main()
