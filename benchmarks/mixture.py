"""EM over many batches against a loop over scikit-learn's GaussianMixture: ``python benchmarks/mixture.py``.

scikit-learn can fix neither the weights nor σ, so that it solves a larger problem; it is what one would reach
for. Its loop runs over a subset, and its time is extrapolated to all batches. Exits with 1 below 100 times.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from mixsense.mixture import em, em_step, moments

REQUIRED = 100.0


def race(contestants, rounds):
    """Best CPU seconds of each over interleaved rounds: on a shared machine all meet the same weather."""
    times = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, function in contestants.items():
            start = time.process_time()
            function()
            times[name].append(time.process_time() - start)
    return {name: min(values) for name, values in times.items()}


def plain_em(y, tol=1e-10, max_iter=5000):
    """Algorithm 1 without Newton, all batches until the slowest has converged."""
    mu = moments(y, 1.0).value
    for _ in range(max_iter):
        mu, before = em_step(y, mu, 1.0), mu
        if np.abs(mu - before).max() < tol:
            break
    return mu


def scikit_learn(y, **options):
    from sklearn.mixture import GaussianMixture

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for row in y:
            GaussianMixture(n_components=2, random_state=0, **options).fit(row[:, None])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer batches and repeats")
    quick = parser.parse_args().quick
    try:
        import sklearn
    except ImportError:
        print("scikit-learn is missing: pip install 'mixsense[benchmark]'")
        return 2
    batches, T, subset, rounds = (2_000, 500, 50, 2) if quick else (10_000, 500, 200, 3)
    few = 20
    print(f"{batches:,} batches of {T} samples, CPU seconds, best of {rounds} interleaved rounds, one thread")
    print(f"scikit-learn {sklearn.__version__}: {subset} batches; plain EM: {few}; both extrapolated to all")
    print(f"{'separation':>10} {'mixsense':>9} {'plain EM':>9} {'sklearn':>9} {'tied':>9} {'ratio':>7}")
    worst = np.inf
    for delta in (1.0, 2.0, 4.0):
        rng = np.random.default_rng(0)
        y = rng.choice([-delta / 2, delta / 2], size=(batches, T)) + rng.normal(size=(batches, T))
        contestants = {
            "ours": lambda y=y: em(y, 1.0),
            "plain": lambda y=y: plain_em(y[:few]),
            "full": lambda y=y: scikit_learn(y[:subset]),
            "tied": lambda y=y: scikit_learn(y[:subset], covariance_type="tied"),
        }
        seconds = race(contestants, rounds)
        ours, plain = seconds["ours"], seconds["plain"] * batches / few
        full, tied = seconds["full"] * batches / subset, seconds["tied"] * batches / subset
        ratio = min(full, tied) / ours  # the faster of the two is the one to beat
        worst = min(worst, ratio)
        print(f"{delta:>9}σ {ours:>9.3f} {plain:>9.1f} {full:>9.1f} {tied:>9.1f} {ratio:>6.0f}×")
    verdict = "reached" if worst >= REQUIRED else "MISSED"
    print(f"worst ratio {worst:.0f}×, required {REQUIRED:.0f}×: {verdict}")
    return 0 if worst >= REQUIRED else 1


if __name__ == "__main__":
    sys.exit(main())
