"""One model or two: how often a run says so rightly, what it costs, and what another version said with the same seeds.

    python benchmarks/evidence.py [--seeds 100] [--jobs 2] [--markdown docs/frugal.md]
    python benchmarks/evidence.py --source ../mixsense-before      # side by side with a checkout: before -> now

n = 100, k = 5, σ = 1 unknown, equal shares, Gaussian coefficients. Truths: one model twice, and two models of distance
gap, with supports drawn by themselves or shared. Runs: a budget of 400 and of 1,000 answers, and γ = 0.2 with at most
5,000 answers. Medians over the seeds; an error is the worst ℓ2 error. "Called one" are runs that end as "single".
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np  # noqa: E402

import mixsense as ms  # noqa: E402
from pages import put_table  # noqa: E402

FIRST_SEED = 7000
GAMMA = 0.2
TRUTHS: dict[str, tuple[float, int | None]] = {  # gap and overlap of the supports; gap 0 is one model twice
    "one model": (0.0, None),
    "gap 0.5": (0.5, None),
    "gap 1": (1.0, None),
    "gap 2": (2.0, None),
    "gap 0.5, one support": (0.5, 5),
    "gap 1, one support": (1.0, 5),
}
RUNS: dict[str, dict[str, Any]] = {
    "400 answers": {"gamma": None, "max_queries": 400},
    "1,000 answers": {"gamma": None, "max_queries": 1000},
    f"γ = {GAMMA}": {"gamma": GAMMA, "max_queries": 5000},
}

Row = dict[str, Any]


def one_run(task: tuple[str, str, int]) -> Row:
    truth, run, seed = task
    gap, overlap = TRUTHS[truth]
    pair = ms.random_pair(100, 5, gap=gap or 2.0, seed=seed, overlap=overlap)
    pair = pair if gap else np.stack([pair[0], pair[0]])
    r = ms.recover(ms.SimulatedOracle(pair, seed=[seed, 1]), 100, seed=[seed, 2], **RUNS[run])
    evidence, error = r.diagnostics["lead_of_two"], ms.match_error(r.vectors, pair)
    return {"status": r.status, "evidence": evidence, "answers": r.queries, "error": error}


def measured(seeds: int, jobs: int) -> dict[str, list[Row]]:
    """Run everything; returns the rows of each truth and run."""
    tasks = [(truth, run, FIRST_SEED + seed) for truth in TRUTHS for run in RUNS for seed in range(seeds)]
    with ProcessPoolExecutor(jobs) as pool:
        rows = list(pool.map(one_run, tasks, chunksize=5))
    found: dict[str, list[Row]] = {}
    for (truth, run, _), row in zip(tasks, rows, strict=True):
        found.setdefault(f"{truth} | {run}", []).append(row)
    return found


def measured_with(source: Path, seeds: int, jobs: int) -> dict[str, list[Row]]:
    """Run everything with another checkout, in a process of its own."""
    folder = (source / "src").resolve()
    command = [sys.executable, __file__, "--json", "--seeds", str(seeds), "--jobs", str(jobs)]
    environment = {**os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{Path(__file__).parent}"}
    answer = json.loads(subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True, text=True).stdout)
    if not Path(answer["file"]).is_relative_to(folder):
        raise SystemExit(f"mixsense was imported from {answer['file']}, not from {folder}")
    return dict(answer["rows"])


def cells(rows: list[Row], truth: str, run: str) -> list[str]:
    """Return what a table shows of some runs."""
    status = [row["status"] for row in rows]
    shown = [f"{status.count('single')}", f"{status.count('certified')}", f"{status.count('uncertain')}"]
    bad = sum(row["error"] > GAMMA for row in rows if row["status"] in ("single", "certified"))
    shown.append(f"{bad}" if run.startswith("γ") else "–")
    medians = [float(np.median([row[name] for row in rows])) for name in ("evidence", "answers", "error")]
    return [*shown, f"{medians[0]:+.1f}", f"{medians[1]:,.0f}", f"{medians[2]:.3f}"]


def table(now: dict[str, list[Row]], before: dict[str, list[Row]] | None) -> str:
    """Return the table; with another version, every number that differs as before → now."""
    head = ["truth", "run", "called one", "certified", "uncertain", "of these, error above γ", "evidence for two"]
    lines = ["| " + " | ".join([*head, "answers", "error", *(["other status"] if before else [])]) + " |"]
    lines.append("|---" * (lines[0].count("|") - 1) + "|")
    for name, rows in now.items():
        truth, run = name.split(" | ")
        shown = cells(rows, truth, run)
        if before:
            pairs = zip(cells(before[name], truth, run), shown, strict=True)
            shown = [new if old == new else f"{old} → {new}" for old, new in pairs]
            changed = sum(a["status"] != b["status"] for a, b in zip(before[name], rows, strict=True))
            shown.append(f"{changed} of {len(rows)}")
        lines.append("| " + " | ".join([truth, run, *shown]) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--source", type=Path, help="a checkout to compare with")
    parser.add_argument("--markdown", type=Path, help="put the table between the markers 'evidence' of this page")
    parser.add_argument("--json", action="store_true", help="print every run instead of the table")
    args = parser.parse_args()
    now = measured(args.seeds, args.jobs)
    if args.json:
        print(json.dumps({"file": ms.__file__, "rows": now}))
        return
    text = table(now, measured_with(args.source, args.seeds, args.jobs) if args.source else None)
    print(text)
    if args.markdown:
        put_table(args.markdown, "evidence", text)


if __name__ == "__main__":
    main()
