"""Data that one already has: `ms.fit` against R's flexmix, unequal shares, the tone data, a million rows.

    python benchmarks/fit.py [--section flexmix|shares|tone|large] [--seeds 20] [--first 1000] [--markdown docs/fit.md]

flexmix is R's: `apt-get install r-cran-flexmix` on Debian. Where there is no Rscript with it, that section is skipped,
and says so. Seeds 0 to 3 chose the constants of `mixsense.fitting.tuning`; those from 1000 on show what they do. The
exit code is 1 if something that is promised does not hold.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

import mixsense as ms
from pages import put_table

SETTINGS = [(12, 4, 2, 300), (12, 4, 3, 600), (12, 4, 4, 900), (12, 12, 2, 300), (12, 12, 3, 600), (50, 5, 2, 500)]
SETTINGS += [(50, 5, 3, 1200)]
"""n, k, L, N of each comparison; distance 5, σ = 1, equal shares, Gaussian rows."""
SPARSE, DENSE, TIME = 0.75, 1.02, 0.2
"""Largest ratios to flexmix: of the error where the vectors are sparse, where they are dense, and of the time."""
STARTS = 10
"""Starts of flexmix."""
R_CODE = """
suppressMessages(library(flexmix)); a <- commandArgs(TRUE); L <- as.integer(a[2]); set.seed(1)
for (file in list.files(a[1], pattern = "csv$", full.names = TRUE)) {
  d <- read.csv(file)
  t <- system.time(f <- stepFlexmix(y ~ . - 1, data = d, k = L, nrep = as.integer(a[3]), verbose = FALSE,
                                    control = list(minprior = 0)))
  p <- parameters(f); p <- p[-nrow(p), , drop = FALSE]
  write.table(rbind(p, sum(t[1:2])), sub("csv$", "out", file), row.names = FALSE, col.names = FALSE)
}
"""


def draw(seed, n, k, L, N, sigma=1.0, shares=None, gap=5.0):
    """Return the hidden models, and a table of N answers."""
    truth, rng = ms.random_models(L, n, k, gap, seed=[seed, 1]), np.random.default_rng([seed, 2])
    X, z = rng.standard_normal((N, n)), rng.choice(L, N, p=shares)
    return truth, X, np.einsum("ij,ij->i", X, truth[z]) + sigma * rng.standard_normal(N)


def ours(X, y, L):
    start = time.process_time()
    r = ms.fit(X, y, models=L)
    return r, time.process_time() - start


def flexmix(tables, L):
    """Fit all tables with R; returns vectors and CPU seconds of each."""
    with tempfile.TemporaryDirectory() as folder:
        for i, (X, y) in enumerate(tables):
            head = ",".join([*(f"x{j}" for j in range(X.shape[1])), "y"])
            np.savetxt(f"{folder}/{i:03}.csv", np.column_stack([X, y]), "%.17g", ",", header=head, comments="")
        script = Path(folder, "fit.R")
        script.write_text(R_CODE)
        subprocess.run(["Rscript", str(script), folder, str(L), str(STARTS)], check=True, capture_output=True)
        found = [np.loadtxt(f"{folder}/{i:03}.out", ndmin=2) for i in range(len(tables))]
    return [(table[:-1].T, float(table[-1, 0])) for table in found]


def no_flexmix():
    """Return why R's flexmix cannot be run here; None if it can."""
    if shutil.which("Rscript") is None:
        return "there is no Rscript (apt-get install r-cran-flexmix)"
    there = subprocess.run(["Rscript", "-e", "library(flexmix)"], capture_output=True, check=False)
    return None if there.returncode == 0 else "R has no flexmix (apt-get install r-cran-flexmix)"


def compare(say, seeds):
    """Error and time against flexmix, which is told the number of models as `fit` is."""
    if (why := no_flexmix()) is not None:
        say(f"skipped: {why}")
        return True
    kept = True
    say(
        "| n | k | models | rows | error: mixsense | flexmix | ratio | at most | CPU s: mixsense | flexmix | ratio "
        "| right number by itself | |"
    )
    say("|---|---|---|---|---|---|---|---|---|---|---|---|---|")
    for n, k, L, N in SETTINGS:
        drawn = [draw(seed, n, k, L, N) for seed in seeds]
        mine = [ours(X, y, L) for _, X, y in drawn]
        auto = sum(len(ms.fit(X, y).vectors) == L for _, X, y in drawn)
        theirs = flexmix([(X, y) for _, X, y in drawn], L)
        error = [np.median([ms.match_error(r.vectors, t) for (r, _), (t, *_) in zip(mine, drawn, strict=True)])]
        error += [np.median([ms.match_error(b, t) for (b, _), (t, *_) in zip(theirs, drawn, strict=True)])]
        seconds = [float(np.median([cpu for _, cpu in each])) for each in (mine, theirs)]
        most = DENSE if k == n else SPARSE
        good = error[0] <= most * error[1] and seconds[0] <= TIME * seconds[1]
        kept &= bool(good)
        say(
            f"| {n} | {k} | {L} | {N:,} | {error[0]:.3f} | {error[1]:.3f} | {error[0] / error[1]:.2f} | {most} "
            f"| {seconds[0]:.2f} | {seconds[1]:.1f} | {seconds[0] / seconds[1]:.3f} | {auto} of {len(drawn)} "
            f"| {'kept' if good else 'MISSED'} |"
        )
    say(f"Medians of {len(seeds)} seeds from {seeds[0]} on; worst ℓ2 error of the models. Time: {TIME} × at most.")
    return kept


def unequal(say, seeds):
    """Shares .4, .3, .2 and .1 with hardly any noise: all four exact to 0.01."""
    kept = True
    say("| k | rows | models | exact to 0.01 | worst error | CPU s | |")
    say("|---|---|---|---|---|---|---|")
    for k, N, models in ((5, 1200, 4), (5, 1200, "auto"), (50, 3000, 4)):
        errors, seconds = [], []
        for seed in seeds:
            truth, X, y = draw(seed, 50, k, 4, N, 0.01, (0.4, 0.3, 0.2, 0.1))
            r, cpu = ours(X, y, models)
            errors.append(ms.match_error(r.vectors, truth) if len(r.vectors) in (1, 4) else np.inf)
            seconds.append(cpu)
        exact = sum(error < 0.01 for error in errors)
        kept &= exact == len(seeds) or k == 50
        told = "kept" if exact == len(seeds) else "MISSED" if k < 50 else "not promised"
        share = f"{exact} of {len(seeds)}"
        say(f"| {k} | {N:,} | {models} | {share} | {max(errors):.4f} | {np.median(seconds):.2f} | {told} |")
    say("n = 50, four models at distance 5, σ = 0.01.")
    return kept


def tone(say, _):
    """Cohen's data: what mixtools and flexmix find."""
    data = ms.datasets.tone()
    r = ms.fit(data.X, data.y, models=2, intercept=True, features=data.names)
    flat, steep = r.vectors[:, 0]
    loglik = r.diagnostics["loglik"]
    good = loglik >= 141.1 and abs(steep - 0.99) < 0.02 and abs(flat - 0.04) < 0.02 and abs(r.weights[1] - 0.3) < 0.02
    auto = ms.fit(data.X, data.y, intercept=True)
    say("| | log-likelihood | slopes | shares | σ |")
    say("|---|---|---|---|---|")
    say("| mixtools, flexmix | 141.2 | 0.99, 0.04 | 0.30, 0.70 | 0.133, 0.046 |")
    say(
        f"| mixsense | {loglik:.2f} | {steep:.3f}, {flat:.3f} | {r.weights[1]:.2f}, {r.weights[0]:.2f} "
        f"| {r.sigma[1]:.3f}, {r.sigma[0]:.3f} |"
    )
    say(f"With `models=2`; left to itself it finds {len(auto.vectors)}. {'Kept' if good else 'MISSED'}.")
    return bool(good)


def large(say, _):
    """Fit a million rows and 20 columns, three models: memory of a process that draws the table and fits it."""
    done = subprocess.run([sys.executable, __file__, "--child"], capture_output=True, text=True, check=True)
    error, seconds, peak, data = map(float, done.stdout.split())
    good = peak <= 4 * data and error < 0.05
    say(
        f"1,000,000 rows × 20 columns, 3 models: {peak / 1e6:.0f} MB, {peak / data:.1f} × the data (4 at most), "
        f"{seconds:.0f} s of CPU, error {error:.4f}. {'Kept' if good else 'MISSED'}."
    )
    return good


def child():
    """Draw and fit the large table; print error, seconds, peak memory and size of the data."""
    rng, truth = np.random.default_rng(5), ms.random_models(3, 20, 4, 5.0, seed=6)
    X, z = rng.standard_normal((1_000_000, 20)), rng.integers(3, size=1_000_000)
    y = rng.standard_normal(len(X))
    for a, vector in enumerate(truth):
        y += np.where(z == a, X @ vector, 0.0)
    r, cpu = ours(X, y, "auto")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    error = ms.match_error(r.vectors, truth) if len(r.vectors) == 3 else np.inf
    print(error, cpu, peak, X.nbytes + y.nbytes)


SECTIONS = {"flexmix": compare, "shares": unequal, "tone": tone, "large": large}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--section", choices=SECTIONS)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=1000)
    parser.add_argument("--markdown", type=Path)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        child()
        return 0
    kept = True
    for name in [given.section] if given.section else SECTIONS:
        lines = []

        def say(text, lines=lines):
            print(text, flush=True)
            lines.append(text)

        kept &= SECTIONS[name](say, range(given.first, given.first + given.seeds))
        print()
        if given.markdown and not lines[0].startswith("skipped"):
            table = [line if line.startswith("|") else f"\n{line}" for line in lines]
            put_table(given.markdown, name, "\n".join(table).strip())
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
