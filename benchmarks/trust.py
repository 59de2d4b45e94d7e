"""Where a certificate holds, and what is said where it would not: the tables of docs/trust.md.

    python benchmarks/trust.py [--runs 20] [--rows drift,sigmoid] [--section outside] [--n 4 12] [--seeds 20000]
                               [--jobs 2] [--store docs/trust.csv] [--markdown docs/trust.md]

A run is wrong if its status is certified or single and the true error, that of the level included, exceeds γ. The
right reason is a failed check that speaks of what is wrong in this world; inside the model each failed check is a false
alarm. All rows get their first run, then their second: with --store each is kept in a file as it ends, and the same
command goes on where it was. The tables show every run of the file, whichever seeds this command has run.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import defaultdict
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np  # noqa: E402
from scipy.stats import beta, binom  # noqa: E402

import worlds_inside  # noqa: E402, F401  # registers its worlds
import worlds_people  # noqa: E402, F401
from mixsense.recovery.statuses import PROMISES  # noqa: E402
from pages import put_table  # noqa: E402
from stored_runs import drop_torn_line, keep, stored  # noqa: E402
from worlds import WORLDS, Setting, World  # noqa: E402

SECTIONS = ("inside", "outside")
COLUMNS = ("world", "n", "certified", "wrong", "uncertain with the right reason", "answers, median", "intervals cover")


@dataclass(frozen=True)
class Run:
    """What is counted of one run; a line of the store."""

    world: str
    n: str
    seed: int
    status: str
    answers: int
    error: float
    wrong: bool
    right: bool
    """Uncertain, and a failed check speaks of what is wrong in this world."""
    failed: str
    """Names of the failed checks, joined by semicolons."""
    inside: int
    """True coefficients, not zero, that lie in their intervals, of how many; none where nothing is promised."""
    true: int
    seconds: float
    """Of the processor."""

    @property
    def row(self) -> tuple[str, str]:
        """Its line of the table."""
        return self.world, self.n

    @property
    def promised(self) -> bool:
        """Whether it ended with a promise about its error."""
        return self.status in PROMISES


def one_run(task: tuple[str, Setting, int]) -> Run:
    """Run one case."""
    name, setting, seed = task
    here = WORLDS[name]
    case = here.make(setting, np.random.default_rng([seed, 31]))
    begun = time.process_time()
    r = case.recover([seed, 32])
    seconds = time.process_time() - begun
    failed = [check["name"] for check in r.diagnostics.get("checks", []) if check["failed"]]
    error = case.error(r)
    promised = r.status in PROMISES
    inside, true = case.covered(r) if promised else (0, 0)
    return Run(
        world=name,
        n=str(setting),
        seed=seed,
        status=r.status,
        answers=r.queries,
        error=float(f"{error:.4g}"),
        wrong=bool(promised and error > case.options["gamma"]),
        right=r.status == "uncertain" and any(name in here.reasons for name in failed),
        failed=";".join(failed),
        inside=inside,
        true=true,
        seconds=round(seconds, 2),
    )


def runs_of(path: Path) -> list[Run]:
    """Return the runs that a file has; those of worlds that are no more are left out."""
    return [run for run in stored(path, Run) if run.world in WORLDS]


def counts(found: list[Run], section: str) -> str:
    """Return the numbers of some runs, as they end a line of the table."""
    uncertain = sum(each.status == "uncertain" for each in found)
    outside = [each for each in found if WORLDS[each.world].reasons]
    reason = (
        f"{sum(each.right for each in outside)} of {len(outside)}"
        if outside
        else f"{uncertain} of {len(found)} uncertain"
    )
    kept, wrong = sum(each.promised for each in found), sum(each.wrong for each in found)
    inside, true = sum(each.inside for each in found), sum(each.true for each in found)
    cover = f"{inside / true:.1%} of {true}" if true and section == "inside" else ""
    answers = int(np.median([each.answers for each in found]))
    return f"{kept} of {len(found)} | {wrong} of {len(found)} | {reason} | {answers} | {cover}"


def table(found: Iterable[Run], section: str) -> str:
    """Return the table of one section, a line for each world and size, and one for all."""
    rows = defaultdict(list)
    for run in found:
        if WORLDS[run.world].section == section:
            rows[run.row].append(run)
    order = [row for each in WORLDS.values() for setting in each.settings if (row := (each.name, str(setting))) in rows]
    lines = [f"| {' | '.join(COLUMNS)} |", f"|{'---|' * len(COLUMNS)}"]
    lines += [f"| {' | '.join(row)} | {counts(rows[row], section)} |" for row in order]
    if order:
        lines.append(f"| **all** | | {counts([run for row in order for run in rows[row]], section)} |")
    return "\n".join(lines)


def most(wrong: int, runs: int) -> float:
    """Return the largest share of wrong runs that does not contradict these, at the level of 1 % (Clopper, Pearson)."""
    return float(beta.ppf(0.99, wrong + 1, runs - wrong)) if runs > wrong else 1.0


def summary(found: Iterable[Run]) -> str:
    """Return what all runs of both sections say together, and which rows say something else."""
    columns = {section: _summed([r for r in found if WORLDS[r.world].section == section]) for section in SECTIONS}
    lines = [f"| | {' | '.join(SECTIONS)} |", "|---|---|---|"]
    lines += [f"| {name} | {' | '.join(column[name] for column in columns.values())} |" for name in columns["inside"]]
    return "\n".join(lines)


def _summed(found: list[Run]) -> dict[str, str]:
    rows = defaultdict(list)
    for run in found:
        rows[run.row].append(run)
    many = [len(runs) for runs in rows.values()]
    promised = [run for run in found if run.promised]
    wrong, uncertain = sum(run.wrong for run in found), [run for run in found if run.status == "uncertain"]
    outside = [run for run in found if WORLDS[run.world].reasons]
    alarms = sum(bool(run.failed) for run in uncertain if not WORLDS[run.world].reasons)
    too_many = [row for row, runs in rows.items() if _too_many(runs)]
    few = [row for row, runs in rows.items() if WORLDS[row[0]].reasons and sum(r.right for r in runs) < 0.8 * len(runs)]
    of_box = {"in a box": [r for r in found if "no box" not in r.n], "without": [r for r in found if "no box" in r.n]}
    covered = [f"{_cover(runs)} {where}" for where, runs in of_box.items() if any(run.true for run in runs)]
    return {
        "rows, and runs of each": f"{len(rows)}, {min(many, default=0)} to {max(many, default=0)}",
        "runs, certified or single": f"{len(found):,}, {len(promised):,}",
        "of these wrong, and at most": f"{wrong}, {most(wrong, len(promised)):.1%}",
        "rows with more of them than 5 % allow": _named(too_many),
        "uncertain by a check though nothing is wrong": f"{alarms} of {len(found) - len(outside):,}",
        "uncertain with the right reason": f"{sum(r.right for r in outside):,} of {len(outside):,}" if outside else "–",
        "rows in which fewer than 80 % say it": _named(few) if outside else "–",
        "95 % intervals cover": ", ".join(covered) or "–",
    }


def _too_many(runs: list[Run]) -> bool:
    """Say whether so many wrong ones have a probability below 1 % if 5 % are wrong."""
    promised = sum(run.promised for run in runs)
    return bool(binom.sf(sum(run.wrong for run in runs) - 1, promised, 0.05) < 0.01) if promised else False


def _cover(found: list[Run]) -> str:
    inside, true = sum(run.inside for run in found), sum(run.true for run in found)
    return f"{inside / true:.1%} of {true:,}"


def _named(rows: list[tuple[str, str]]) -> str:
    return "; ".join(f"{world} (n = {n})" for world, n in rows) or "none"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20, help="runs of each row")
    parser.add_argument("--rows", default="", help="parts of the names of worlds, separated by commas")
    parser.add_argument("--section", choices=SECTIONS)
    parser.add_argument("--n", type=int, nargs="*", help="numbers of features")
    parser.add_argument("--seeds", type=int, default=20_000, help="the first seed")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--verbose", action="store_true", help="list every run, not the wrong ones alone")
    parser.add_argument("--store", type=Path, help="keep the runs in this file, and do not repeat those that it has")
    parser.add_argument(
        "--markdown", type=Path, help="put the tables between the markers of their sections of this page"
    )
    args = parser.parse_args()
    if args.markdown and not args.store:
        parser.error("--markdown shows all runs of a file: give --store, too")
    wanted = [part for part in args.rows.split(",") if part]

    def chosen(each: World, setting: Setting) -> bool:
        return (
            (not wanted or any(part in each.name for part in wanted))
            and args.section in (None, each.section)
            and (not args.n or setting.n in args.n)
        )

    if args.store:
        drop_torn_line(args.store)
    found = {(*run.row, run.seed): run for run in runs_of(args.store)} if args.store else {}
    tasks = [
        (each.name, setting, seed)
        for seed in range(args.seeds, args.seeds + args.runs)
        for each in WORLDS.values()
        for setting in each.settings
        if chosen(each, setting) and (each.name, str(setting), seed) not in found
    ]
    with ProcessPoolExecutor(args.jobs) as pool:
        for done, each in enumerate(as_completed([pool.submit(one_run, task) for task in tasks]), 1):
            run = each.result()
            found[*run.row, run.seed] = run
            if args.store:
                keep(args.store, run)
            if run.wrong or args.verbose or done % 100 == 0:
                print(f"{done} of {len(tasks)}", run, file=sys.stderr, flush=True)
    tables = {section: table(found.values(), section) for section in SECTIONS if args.section in (None, section)}
    if args.section is None:
        tables["counted"] = summary(found.values())
    for section, text in tables.items():
        print(text)
        if args.markdown:
            put_table(args.markdown, section, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
