"""How often does one run cross a border between packages: calls from one package of mixsense into another.

    python benchmarks/borders.py                               # the working tree, between packages
    python benchmarks/borders.py --between modules             # every file is a package of its own
    python benchmarks/borders.py --source ../mixsense-0.2.0    # a checkout

The run is `recover` with the frugal method: n = 20, k = 3, 240 answers, no γ, fixed seeds. One run goes before it, so
that nothing is imported while we count.

A crossing is a call (an event "call" of `sys.setprofile`) of a Python function in a file of mixsense, whose caller is
in a file of another package of mixsense. The caller is the nearest frame below that belongs to mixsense: what NumPy or
a dataclass's ``__init__`` calls counts for whoever called those. Resuming a generator is a call of it, and with
`yield from` each generator of the chain is resumed.

A package is the first folder below mixsense, for methods the first two (methods.frugal); a module in the root, such as
api, is one of its own. In version 0.2.0 nearly all modules lay in the root, and each was a package in this sense.

Two totals are printed: of everything; and of the method and whoever drives it, without the simulated oracle, which is
in the user's place, and without the inner loop of the fit, which calls a file of its own once for each update.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[name] = "1"

ROOT = Path(__file__).resolve().parent.parent
RUN: dict[str, Any] = {"n": 20, "k": 3, "gamma": None, "max_queries": 240, "seed": 3}
INNER_LOOP = {("refine", "sparsity"), ("regression.em", "regression.spike_slab")}
"""From and to, as modules: its name in 0.2.0, and since."""

Edge = tuple[str, str]


class Borders:
    """Counts the crossings while it is entered.

    Parameters
    ----------
    home : Path
        The folder of mixsense.
    modules : bool
        Whether every file is a package of its own.
    """

    def __init__(self, home: Path, modules: bool) -> None:
        self.crossings: Counter[Edge] = Counter()
        self._home, self._modules = f"{home}{os.sep}", modules
        self._known: dict[CodeType, str | None] = {}

    def __enter__(self) -> Borders:
        sys.setprofile(self._event)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)

    def _event(self, frame: FrameType, event: str, argument: Any) -> None:
        if event != "call" or (here := self._package(frame)) is None:
            return
        caller = frame.f_back
        while caller is not None and self._package(caller) is None:
            caller = caller.f_back
        if caller is not None and (there := self._package(caller)) != here:
            self.crossings[str(there), here] += 1

    def _package(self, frame: FrameType) -> str | None:
        """Return the package that a frame's function is in; None outside mixsense."""
        code = frame.f_code
        if code not in self._known:
            inside = code.co_filename.startswith(self._home)
            self._known[code] = self._name(code.co_filename.removeprefix(self._home)) if inside else None
        return self._known[code]

    def _name(self, path: str) -> str:
        *folders, module = Path(path).with_suffix("").parts
        parts = folders if module == "__init__" else [*folders, module]
        if self._modules or not folders:
            return ".".join(parts) or "mixsense"
        return ".".join(parts[: 2 if folders[0] == "methods" else 1])


def simulation(ms: Any) -> Any:
    return ms.SimulatedOracle(ms.random_pair(20, 3, gap=5.0, seed=1), sigma=1.0, seed=2)


def of_the_method(edge: Edge) -> bool:
    """Say whether a crossing has to do with neither the simulated oracle nor the inner loop of the fit."""
    oracle = any(end == "oracles" or end.startswith("oracles.") for end in edge)
    return not oracle and edge not in INNER_LOOP


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", type=Path, default=ROOT, help="a checkout; this one by default")
    parser.add_argument("--between", choices=["packages", "modules"], default="packages")
    args = parser.parse_args()
    source = args.source.resolve() / "src"
    sys.path.insert(0, str(source))
    import mixsense as ms

    home = Path(ms.__file__).parent
    if not home.is_relative_to(source):
        raise SystemExit(f"mixsense was imported from {home}, not from {source}")
    ms.recover(simulation(ms), **RUN)
    oracle = simulation(ms)
    with Borders(home, args.between == "modules") as borders:
        ms.recover(oracle, **RUN)
    assert oracle.count == RUN["max_queries"]
    width = max(len(start) for start, _ in borders.crossings)
    for (start, end), calls in borders.crossings.most_common():
        mark = "" if of_the_method((start, end)) else "  (oracle or inner loop)"
        print(f"{calls:7,}  {start:{width}} -> {end}{mark}")
    kept = {edge: calls for edge, calls in borders.crossings.items() if of_the_method(edge)}
    inside = sum(calls for (start, _), calls in kept.items() if start.startswith("methods."))
    print(f"{borders.crossings.total():7,}  calls between {args.between} in a run of {oracle.count} answers")
    rest = f"without the oracle and the inner loop of the fit; {inside:,} of them by the method"
    print(f"{sum(kept.values()):7,}  {rest}")


if __name__ == "__main__":
    main()
