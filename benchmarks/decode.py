"""Time basis pursuit denoising against its peers: ``python benchmarks/decode.py [--quick]``.

Two right-hand sides with one Gaussian A, the radius equal to the norm of the noise, one BLAS thread, CPU time (other
processes on the machine then disturb less), best of repeats, ours and spgl1 in turn. All solvers are asked for the same
accuracy, 1e-6 in the constraint and in the ℓ₁ norm, and the table shows what they reached: ``above`` is ‖z‖₁ relative
to the certified lower bound of ours, ``violation`` is ‖A z − b‖/radius − 1. An infeasible z can be shorter than the
bound, so that both columns belong together.

- spgl1 is asked for 1e-6 in all three of its tolerances: this row counts. A second row, for information, has the
  loosest tolerance that happens to meet the accuracy, which one only knows afterwards. Its products with a float32 A
  are made in float32 (NumPy would convert all of A each time), and float64 vectors: this favours it.
- scikit-learn's LARS cannot stop at a radius: it gets the final λ from our solution (whose time is included, a few
  per cent), and is cut at the radius. It is left out at 1,500 × 100,000, where it takes more than a minute.
- cvxpy with Clarabel runs at the two small sizes only: it needs minutes beyond.

Three seeds at each of the two large sizes. Exits with 1 if at one of them the median ratio to spgl1 is below 3.
"""

import os

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"  # before NumPy is loaded

import argparse  # noqa: E402
import contextlib  # noqa: E402
import sys  # noqa: E402
import time  # noqa: E402
import warnings  # noqa: E402

import numpy as np  # noqa: E402

from mixsense.decode import basis_pursuit  # noqa: E402

accuracy = 1e-6
required = 3.0
sizes = [  # m, n, k, dtype, seeds, repeats, peers
    (150, 100, 5, np.float64, 1, 9, ("LARS", "Clarabel")),
    (300, 1_000, 10, np.float64, 3, 9, ("LARS", "Clarabel")),
    (1_000, 10_000, 30, np.float64, 3, 5, ("LARS",)),
    (1_500, 100_000, 50, np.float32, 3, 2, ()),
]


def problem(m, n, k, dtype, seed=0):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((m, n), dtype=dtype)
    Z = np.zeros((n, 2))
    for z in Z.T:
        z[rng.choice(n, k, replace=False)] = rng.standard_normal(k)
    noise = 0.1 * rng.standard_normal((m, 2))
    return A, A @ Z.astype(dtype) + noise, np.linalg.norm(noise, axis=0)


def spgl1_at(tolerance):
    import spgl1
    from scipy.sparse.linalg import LinearOperator

    def solve(A, B, radii):
        operator = A
        if A.dtype == np.float32:
            operator = LinearOperator(
                A.shape,
                matvec=lambda x: (A @ x.ravel().astype(np.float32)).astype(np.float64),
                rmatvec=lambda y: (y.ravel().astype(np.float32) @ A).astype(np.float64),
                dtype=np.float64,
            )
        options = {"opt_tol": tolerance, "bp_tol": tolerance, "dec_tol": tolerance, "iter_lim": 20_000}
        return np.stack([spgl1.spg_bpdn(operator, b, r, **options)[0] for b, r in zip(B.T, radii, strict=True)], axis=1)

    return solve


def lars(A, B, radii):
    from sklearn.linear_model import lars_path

    ours = basis_pursuit(A, B, radii).value  # small beside the path

    def one(b, radius, z):
        # The λ at which to stop comes from our solution: a favour, as LARS cannot stop at a radius.
        least = np.abs(A.T @ (b - A @ z)).max() / len(b)
        path = lars_path(A, b, method="lasso", alpha_min=0.999 * least)[2]
        low, high = 0, path.shape[1] - 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if np.linalg.norm(b - A @ path[:, middle]) > radius else (low, middle)
        r, u = b - A @ path[:, low], A @ (path[:, high] - path[:, low])
        ru, uu = r @ u, u @ u
        step = (ru - np.sqrt(max(ru**2 - uu * (r @ r - radius**2), 0.0))) / uu
        return path[:, low] + step * (path[:, high] - path[:, low])

    return np.stack([one(*given) for given in zip(B.T, radii, ours.T, strict=True)], axis=1)


def clarabel(A, B, radii):
    import cvxpy as cp

    def one(b, radius):
        z = cp.Variable(A.shape[1])
        cp.Problem(cp.Minimize(cp.norm1(z)), [cp.norm(A @ z - b) <= radius]).solve(solver=cp.CLARABEL)
        return z.value

    return np.stack([one(b, radius) for b, radius in zip(B.T, radii, strict=True)], axis=1)


def clock(solvers, A, B, radii, repeats):
    """Return the best time and the solution of each solver, run in turn."""
    best, Z = [np.inf] * len(solvers), [None] * len(solvers)
    for _ in range(repeats):
        for i, solve in enumerate(solvers):
            start = time.process_time()
            Z[i] = solve(A, B, radii)
            best[i] = min(best[i], time.process_time() - start)
    return list(zip(best, Z, strict=True))


def judge(A, B, radii, bound, Z):
    """Return how far ‖z‖₁ is above the bound and the residual above the radius, both relative, the worse side."""
    residuals = []
    for z, b in zip(Z.T, B.T, strict=True):
        used = np.flatnonzero(z)
        blocks = np.array_split(used, 1 + len(used) // 2_000)
        residuals.append(np.linalg.norm(b - sum(A[:, part].astype(np.float64) @ z[part] for part in blocks)))
    return (np.abs(Z).sum(axis=0) / bound - 1).max(), (np.array(residuals) / radii - 1).max()


def loosest(A, B, radii, bound):
    """Return the loosest tolerance with which spgl1 meets the accuracy, or the tightest one."""
    for tolerance in (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9):
        above, violation = judge(A, B, radii, bound, spgl1_at(tolerance)(A, B, radii))
        if above <= accuracy and violation <= accuracy:
            break
    return tolerance


def measure(m, n, k, dtype, seed, repeats, peers, missing):
    """Print the rows of one problem; return how many times faster than spgl1 ours is."""
    A, B, radii = problem(m, n, k, dtype, seed)
    found = basis_pursuit(A, B, radii)
    bound = np.abs(found.value).sum(axis=0) * (1 - found.gap)
    solvers = {"mixsense": lambda *given: basis_pursuit(*given).value}
    try:
        solvers[f"spgl1 ({accuracy:g})"] = spgl1_at(accuracy)
        tolerance = loosest(A, B, radii, bound)
        if tolerance != accuracy:
            solvers[f"spgl1 ({tolerance:g})"] = spgl1_at(tolerance)
    except ImportError as error:
        missing.add(error.name)
    timed = dict(zip(solvers, clock(list(solvers.values()), A, B, radii, repeats), strict=True))
    for peer in peers if seed == 0 else ():
        try:
            [timed[peer]] = clock([{"LARS": lars, "Clarabel": clarabel}[peer]], A, B, radii, 1)
        except ImportError as error:
            missing.add(error.name)
    base, label = timed["mixsense"][0], f"{m} x {n}, k={k}, {np.dtype(dtype).name}, {seed}"
    for name, (seconds, Z) in timed.items():
        above, violation = judge(A, B, radii, bound, Z)
        note = "" if max(above, violation) <= accuracy else "  misses 1e-6"
        timing = f"{seconds:10.4f}{seconds / base:8.1f}"
        print(f"{label:34}{name:16}{timing}{above:11.1e}{violation:11.1e}{note}", flush=True)
    counted = timed.get(f"spgl1 ({accuracy:g})")
    return counted and counted[0] / base


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="leave out 1,500 x 100,000")
    quick = parser.parse_args().quick
    warnings.simplefilter("ignore")  # of the peers
    tiny = problem(20, 30, 2, np.float64)
    for load in (lars, clarabel):  # importing is not part of the time
        with contextlib.suppress(ImportError):
            load(*tiny)
    print(f"{'two right-hand sides, seed':34}{'solver':16}{'seconds':>10}{'ratio':>8}{'above':>11}{'violation':>11}")
    missing, medians = set(), {}
    for m, n, k, dtype, seeds, repeats, peers in sizes[:-1] if quick else sizes:
        ratios = [measure(m, n, k, dtype, seed, repeats, peers, missing) for seed in range(seeds)]
        if n >= 10_000 and None not in ratios:
            medians[f"{m} x {n}"] = np.median(ratios)
    for name in sorted(missing):
        print(f"{name} is not installed: pip install 'mixsense[benchmark]'")
    for size, ratio in medians.items():
        print(f"{size}: {ratio:.1f} times faster than spgl1 (median), {required:g} are required")
    sys.exit(1 if any(ratio < required for ratio in medians.values()) else 0)


if __name__ == "__main__":
    main()
