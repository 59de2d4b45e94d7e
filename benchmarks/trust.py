"""Where a certificate holds, and what is said where it would not: the table of docs/trust.md.

    python benchmarks/trust.py [--runs 20] [--rows drift,sigmoid] [--section outside] [--n 4 12] [--seeds 20000]
                               [--jobs 2] [--store runs.jsonl] [--markdown docs/trust.md]

A run is wrong if its status is certified or single and the true error, that of the level included, exceeds γ. The
right reason is a failed check that speaks of what is wrong in this world; inside the model each failed check is a false
alarm. Settings were chosen on seeds below 10,000; the table shows seeds from 20,000 on. All rows get their first run,
then their second: with --store each is kept in a file as it ends, and the same command goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from typing import Any

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np  # noqa: E402

import worlds_inside  # noqa: E402, F401  # registers its worlds
import worlds_people  # noqa: E402, F401
from pages import put_table  # noqa: E402
from worlds import WORLDS, Setting  # noqa: E402


def one_run(task: tuple[str, Setting, int]) -> dict[str, Any]:
    """Run one case; returns what is counted."""
    name, setting, seed = task
    here = WORLDS[name]
    case = here.make(setting, np.random.default_rng([seed, 31]))
    r = case.recover([seed, 32])
    failed = [check["name"] for check in r.diagnostics.get("checks", []) if check["failed"]]
    error = case.error(r)
    promised = r.status in ("certified", "single")
    return {
        "status": r.status,
        "wrong": promised and error > case.options["gamma"],
        "failed": failed,
        "right": r.status == "uncertain" and any(name in here.reasons for name in failed),
        "answers": r.queries,
        "error": error,
        "covered": case.covered(r) if promised else (0, 0),
        "warnings": r.diagnostics.get("warnings", []),
        "seed": seed,
        "world": name,
        "n": str(setting),
    }


def stored(path: Path | None) -> dict[tuple[str, str, int], dict[str, Any]]:
    """Return the runs that a file has, by their row and seed."""
    text = path.read_text() if path and path.exists() else ""
    runs = [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]  # a torn last line is run again
    return {(run["world"], run["n"], run["seed"]): run for run in runs}


def line(name: str, setting: Setting, found: list[dict[str, Any]]) -> str:
    """Return the row of the table for the runs of one world."""
    runs = len(found)

    def count(what: str) -> str:
        return f"{sum(bool(each[what]) for each in found)} of {runs}"

    kept = sum(each["status"] in ("certified", "single") for each in found)
    uncertain = sum(each["status"] == "uncertain" for each in found)
    reason = count("right") if WORLDS[name].reasons else f"{uncertain} of {runs} uncertain"
    answers = int(np.median([each["answers"] for each in found]))
    inside, total = np.sum([each["covered"] for each in found], axis=0)
    cover = f"{inside / total:.1%} of {total}" if total and WORLDS[name].section == "inside" else ""
    return f"| {name} | {setting} | {kept} of {runs} | {count('wrong')} | {reason} | {answers} | {cover} |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20, help="runs of each row")
    parser.add_argument("--rows", default="", help="parts of the names of worlds, separated by commas")
    parser.add_argument("--section", choices=("inside", "outside"))
    parser.add_argument("--n", type=int, nargs="*", help="numbers of features")
    parser.add_argument("--seeds", type=int, default=20_000, help="the first seed")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--verbose", action="store_true", help="list every run, not the wrong ones alone")
    parser.add_argument("--store", type=Path, help="keep the runs in this file, and do not repeat those that it has")
    parser.add_argument("--markdown", type=Path, help="put the table between the markers of its section of this page")
    args = parser.parse_args()
    wanted = [part for part in args.rows.split(",") if part]
    chosen = [
        (each, setting)
        for each in WORLDS.values()
        for setting in each.settings
        if (not wanted or any(part in each.name for part in wanted))
        and args.section in (None, each.section)
        and (not args.n or setting.n in args.n)
    ]
    found = stored(args.store)
    rounds = range(args.seeds, args.seeds + args.runs)
    tasks = [
        (each.name, setting, seed)
        for seed in rounds
        for each, setting in chosen
        if (each.name, str(setting), seed) not in found
    ]
    with ProcessPoolExecutor(args.jobs) as pool, args.store.open("a") if args.store else nullcontext() as kept:
        for done, run in enumerate(pool.map(one_run, tasks), 1):
            found[run["world"], run["n"], run["seed"]] = run
            if kept is not None:
                print(json.dumps(run, default=float), file=kept, flush=True)
            if run["wrong"] or args.verbose or done % 100 == 0:
                print(f"{done} of {len(tasks)}", run, file=sys.stderr, flush=True)
    columns = (
        "world",
        "n",
        "certified",
        "wrong",
        "uncertain with the right reason",
        "answers, median",
        "intervals cover",
    )
    head = f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}"
    tables: dict[str, list[str]] = {}
    for each, setting in chosen:
        runs = [found[each.name, str(setting), seed] for seed in rounds if (each.name, str(setting), seed) in found]
        tables.setdefault(each.section, [head]).append(line(each.name, setting, runs))
    for lines in tables.values():
        print("\n".join(lines))
    if args.markdown:
        for section, lines in tables.items():
            put_table(args.markdown, section, "\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
