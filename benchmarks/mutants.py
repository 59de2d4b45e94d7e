"""Which test notices it if a constant that the promise rests on is weakened by a third, one after the other.

    python benchmarks/mutants.py                      # the table; exit code 1 if a mutant survives
    python benchmarks/mutants.py --only 'planning*'   # those whose name matches
    python benchmarks/mutants.py --list

The promise is that certificates are right, intervals cover, checks fail where the model does, and plans are enough. To
weaken is to make a certificate easier, an interval narrower, an alarm rarer or a plan smaller: what is too small then
becomes two thirds of what it was, what is too large then four thirds. Constants are copied by imports and default
arguments, so that a copy of the source is changed, not a module: each mutant runs its tests in a process of its own, on
that copy. The same tests run on the source as it is first, and have to pass.
"""

from __future__ import annotations

import argparse
import ast
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src"
LESS, MORE = 2 / 3, 4 / 3
FRUGAL, CHECKS = "methods/frugal/tuning.py", "methods/frugal/model_checks/tuning.py"
REGRESSION, CALIBRATION = "regression/tuning.py", "planning/calibration.py"
PROMISE = "tests/test_promise.py::"
BOUND = PROMISE + "test_errors_exceed_the_bound_as_seldom_as_it_says"
ODDS = PROMISE + "test_two_models_are_not_passed_over_while_their_odds_by_hand_are_too_high"
ONE_OF_SEVERAL = PROMISE + "test_two_in_the_place_of_one_of_several_are_not_passed_over"
LEVELS = PROMISE + "test_all_checks_together_fail_with_probability_two_percent_and_are_in_doubt_with_eight"
SECOND_LOOK = PROMISE + "test_a_ratio_is_in_doubt_if_the_answers_of_a_second_look_would_decide"
PARALLEL = PROMISE + "test_models_that_differ_in_their_levels_alone_are_nearly_always_seen_to_be_parallel"
OUTLIERS = PROMISE + "test_answers_that_no_model_explains_are_noticed"
SELDOM = PROMISE + "test_a_model_that_answers_seldom_has_ten_answers_for_each_coefficient"
EACH = PROMISE + "test_a_certificate_takes_as_many_answers_of_each_of_many_models_and_thirty_respondents"
LAPSES = PROMISE + "test_lapses_are_a_further_model_if_there_are_many_or_a_line_explains_a_third_of_them"
COVER = "tests/test_certificate.py::test_intervals_cover_all_coefficients_found_or_not"
EXACT_PLANS = "tests/test_plan.py::test_without_noise_the_predecessors_are_planned_for_nine_runs_of_ten"
PLANS = PROMISE + "test_nine_of_ten_plans_were_enough_and_none_of_today_is_smaller_than_what_was_carried_out"


@dataclass(frozen=True)
class Mutant:
    """A change of one file that weakens the promise."""

    name: str
    """Which constant, or which expression."""
    file: str
    """Below the package."""
    old: str
    """What stands in the file, once."""
    new: str
    """What the mutant has in its place."""
    shown: str
    """The value before and after."""
    tests: tuple[str, ...]
    """Those that are to notice it."""

    def source(self) -> str:
        """Return the weakened file."""
        text = (SOURCE / "mixsense" / self.file).read_text(encoding="utf-8")
        if text.count(self.old) != 1:
            raise SystemExit(f"{self.name}: {self.old!r} stands {text.count(self.old)} times in {self.file}")
        return text.replace(self.old, self.new)


def constant(file: str, name: str, factor: float, *tests: str) -> Mutant:
    """Weaken a number, or all second numbers of a tuple of pairs."""
    text = (SOURCE / "mixsense" / file).read_text(encoding="utf-8")
    found = re.search(rf"^{name} = (.+)$", text, re.M)
    if found is None:
        raise SystemExit(f"{file} has no {name}")
    value = ast.literal_eval(found[1])
    if isinstance(value, tuple):
        weaker: object = tuple((first, round(factor * second)) for first, second in value)
    else:
        weaker = round(factor * value) if isinstance(value, int) and value > 5 else float(f"{factor * value:.3g}")
    return Mutant(name, file, f"\n{found[0]}\n", f"\n{name} = {weaker}\n", f"{value} → {weaker}", tests)


def expression(name: str, file: str, old: str, new: str, *tests: str) -> Mutant:
    """Weaken what stands in a formula."""
    return Mutant(name, file, old, new, f"{old.strip()} → {new.strip()}", tests)


def coefficient(row: str, name: str, factor: float, *tests: str) -> Mutant:
    """Weaken a coefficient of a calibrated row of the planner."""
    text = (SOURCE / "mixsense" / CALIBRATION).read_text(encoding="utf-8")
    block = re.search(rf"^{row} = {{.*?^}}", text, re.M | re.S)
    found = re.search(rf'"{name}": ([\d.]+)', block[0]) if block else None
    if block is None or found is None:
        raise SystemExit(f"{CALIBRATION} has no {name} of {row}")
    weaker = float(f"{factor * float(found[1]):.4g}")
    new = block[0].replace(found[0], f'"{name}": {weaker}')
    return Mutant(f"planning {row} {name}", CALIBRATION, block[0], new, f"{found[1]} → {weaker}", tests)


def mutants() -> list[Mutant]:
    """Return all of them, in the order of the promise: bound, what else the answers may mean, checks, plans."""
    unseen, hidden = "methods/frugal/unseen.py", "regression/hidden.py"
    return [
        # The error bound.
        constant(FRUGAL, "BOUND_FACTOR", LESS, BOUND),
        constant(FRUGAL, "TYPICAL_FACTOR", LESS, BOUND),
        constant(
            FRUGAL,
            "BEYOND_DOUBT",
            LESS,
            PROMISE + "test_coefficients_that_may_be_zero_are_not_taken_for_found",
        ),
        constant(FRUGAL, "LOOK_SHARE_OF_ETA", MORE, PROMISE + "test_what_may_go_wrong_at_one_look_adds_up_to_eta"),
        constant(FRUGAL, "MANY_LOOKS", MORE, PROMISE + "test_after_eight_looks_each_may_be_wrong_half_as_often"),
        constant(
            FRUGAL,
            "SHARE_AFTER_MANY_LOOKS",
            MORE,
            PROMISE + "test_after_eight_looks_each_may_be_wrong_half_as_often",
        ),
        constant(
            FRUGAL,
            "NEAR_GAMMA",
            LESS,
            PROMISE + "test_a_bound_that_is_not_counted_as_a_look_seldom_comes_down_to_gamma_at_once",
        ),
        expression(
            "χ² of what was found",
            unseen,
            "chdtri(inside, eta)",
            "chdtri(inside, 4 / 3 * eta)",
            PROMISE + "test_the_error_of_what_was_found_is_as_large_as_it_is_with_probability_eta",
        ),
        expression(
            "noncentral χ² of what was not",
            unseen,
            "count, count, eta)",
            "count, count, 4 / 3 * eta)",
            "tests/test_certificate.py::test_the_bound_for_any_vectors_is_the_test_that_it_claims_to_be",
        ),
        expression(
            "quantile of a typical error",
            "methods/frugal/typical.py",
            "1 - eta)",
            "1 - 4 / 3 * eta)",
            PROMISE + "test_the_quantile_of_a_typical_error_is_that_of_its_law",
        ),
        expression(
            "variance of what was not found",
            "regression/one_step.py",
            "spread / freedom_left",
            "2 / 3 * spread / freedom_left",
            "tests/test_certificate.py::test_the_squared_error_is_estimated_without_bias_whatever_was_not_found",
            "tests/test_certificate.py::test_few_answers_do_not_hide_a_coefficient_in_those_that_were_found",
        ),
        # Intervals.
        constant(REGRESSION, "NORMAL_QUANTILE", LESS, COVER),
        expression(
            "variance of an interval",
            "regression/one_step.py",
            'np.einsum("jaa->aj", inverse)',
            '2 / 3 * np.einsum("jaa->aj", inverse)',
            COVER,
        ),
        # What else the answers may mean.
        constant(FRUGAL, "HIDDEN_ODDS", MORE, ODDS),
        constant(FRUGAL, "AS_PROBABLE", MORE, ODDS),
        constant(FRUGAL, "ANSWERS_FOR_SELDOM", LESS, ODDS),
        expression("cost of a hidden pair, nats", hidden, "- alone - 1\n", "- alone - 4 / 3\n", ODDS),
        constant(FRUGAL, "ANSWERS_FOR_PAIRS", LESS, ONE_OF_SEVERAL),
        constant(FRUGAL, "MORE_PROBABLE", MORE, ONE_OF_SEVERAL),
        constant(FRUGAL, "CLEARLY_MORE_PROBABLE", MORE, ONE_OF_SEVERAL),
        constant(
            FRUGAL,
            "NEARLY_AS_PROBABLE",
            LESS,
            PROMISE + "test_one_model_more_counts_in_the_bound_unless_it_is_far_less_probable",
        ),
        constant(
            FRUGAL,
            "NEARLY_AS_PROBABLE_AS_LAPSES",
            LESS,
            PROMISE + "test_one_model_more_counts_in_the_bound_unless_it_is_far_less_probable",
        ),
        constant(FRUGAL, "SELDOM", LESS, SELDOM),
        constant(FRUGAL, "SELDOM_PER_COEFFICIENT", LESS, SELDOM),
        constant(FRUGAL, "MOST_MOVED", MORE, PROMISE + "test_a_fit_that_has_just_moved_is_not_certified"),
        constant(
            FRUGAL,
            "LAPSES_OF_A_MODEL",
            MORE,
            PROMISE + "test_answers_that_may_be_a_models_are_looked_at_within_their_error",
        ),
        expression(
            "answers that coefficients use up",
            "methods/frugal/certificate.py",
            "1 - used_up(",
            "1 - 2 / 3 * used_up(",
            PROMISE + "test_the_bound_grows_with_the_answers_that_coefficients_use_up",
        ),
        constant(
            FRUGAL,
            "WIDER",
            MORE,
            PROMISE + "test_one_of_several_that_hides_a_model_which_answers_seldom_is_not_certified",
        ),
        constant(FRUGAL, "RIVALS_SHARE_OF_ETA", LESS, PROMISE + "test_what_may_go_wrong_at_one_look_adds_up_to_eta"),
        constant(
            REGRESSION,
            "ONE_ESTABLISHED",
            LESS,
            PROMISE + "test_one_model_is_settled_when_two_have_a_probability_of_eta_at_most",
        ),
        constant(
            REGRESSION,
            "ONE_NEEDS_STARTS",
            LESS,
            PROMISE + "test_one_model_is_settled_when_two_have_a_probability_of_eta_at_most",
        ),
        constant(
            FRUGAL,
            "LEAST_PLAIN",
            LESS,
            PROMISE + "test_exact_answers_in_a_box_are_explained_until_a_piece_of_three_percent_would_have_shown",
        ),
        # The checks of the model: to weaken is to make alarms rarer.
        constant(FRUGAL, "LEAST_IN_BOX", LESS, PROMISE + "test_the_least_answers_in_a_box_show_a_drift"),
        constant(FRUGAL, "LEAST_RESPONDENTS", LESS, EACH),
        expression(
            "least answers of each model",
            "methods/frugal/result.py",
            "self.least_of_each * max(fit.L - 2, 0)",
            "self.least_of_each * max(fit.L - 2, 0) * 2 // 3",
            EACH,
        ),
        expression(
            "surpluses that are tested",
            "methods/frugal/model_checks/views.py",
            "return L if L > 2 else L - 1",
            "return L - 1",
            "tests/test_model_checks.py::test_a_rule_for_a_model_that_answers_seldom_is_seen",
        ),
        expression(
            "bends of each model",
            "methods/frugal/model_checks/extensions.py",
            "if m.shape[1] > 1 else alike)",
            "if m.shape[1] > 9 else alike)",
            "tests/test_model_checks.py::test_one_model_that_leaves_its_line_is_seen_beside_straight_ones",
        ),
        constant(FRUGAL, "ANSWERS_IF_DOUBTFUL", LESS, SECOND_LOOK),
        constant(CHECKS, "DOUBTFUL_SHARE", MORE, SECOND_LOOK),
        constant(CHECKS, "DOUBTFUL_FACTOR", LESS, LEVELS),
        constant(CHECKS, "CHECK_P_VALUE", LESS, LEVELS),
        constant(CHECKS, "POWER_TO_SPARE", LESS, LEVELS),
        constant(CHECKS, "LINK_NATS", MORE, PROMISE + "test_answers_that_level_off_by_seven_nats_fail"),
        constant(
            CHECKS,
            "TAIL_NATS",
            MORE,
            PROMISE + "test_tails_that_explain_the_answers_better_by_more_than_two_nats_fail",
        ),
        constant(
            CHECKS,
            "SHAPE_NATS",
            LESS,
            PROMISE + "test_two_levels_have_to_be_better_than_another_shape_by_more_than_lapses_are",
        ),
        constant(CHECKS, "PARALLEL_ERRORS", LESS, PARALLEL),
        constant(CHECKS, "PARALLEL_SHARE", LESS, PARALLEL),
        constant(
            CHECKS,
            "LEAST_PAIRS",
            MORE,
            PROMISE + "test_ten_pairs_of_answers_to_the_same_query_are_enough_to_look_at",
        ),
        constant(
            CHECKS,
            "ROUNDING_STEP",
            MORE,
            PROMISE + "test_steps_that_add_three_percent_to_the_noise_are_too_coarse",
        ),
        constant(CHECKS, "OUTLIER_DISTANCE", MORE, OUTLIERS),
        constant(CHECKS, "LARGEST_OUTLIER_SHARE", MORE, OUTLIERS),
        constant(CHECKS, "FEWEST_OUTLIERS", MORE, OUTLIERS),
        constant(REGRESSION, "MANY_LAPSES", MORE, LAPSES),
        constant(CHECKS, "LINEAR_LAPSES", MORE, LAPSES),
        # Plans.
        coefficient("FRUGAL", "base", LESS, PLANS),
        coefficient("FRUGAL", "start", LESS, PLANS),
        coefficient("FRUGAL", "precision", LESS, PLANS),
        coefficient("FRUGAL", "crowd", LESS, PLANS),
        coefficient("FRUGAL", "labels", LESS, PLANS),
        coefficient("FRUGAL", "focus", MORE, PLANS),
        coefficient("FRUGAL", "power", MORE, PLANS),
        coefficient("UNTIL_SURE", "base", LESS, PLANS),
        coefficient("UNTIL_SURE", "precision", LESS, PLANS),
        coefficient("UNTIL_SURE", "crowd", LESS, PLANS),
        coefficient("UNTIL_SURE", "labels", LESS, PLANS),
        coefficient("UNTIL_SURE", "power", LESS, PLANS),
        constant("planning/certainty.py", "OVERSHOOT", LESS, PLANS),
        constant("planning/certainty.py", "PUSHED", MORE, PLANS),
        constant(
            "planning/certainty.py",
            "UNLUCKY",
            LESS,
            PROMISE + "test_the_row_certified_is_the_certificate_worked_out_by_hand",
        ),
        expression("planning EXACT_BASE", "planning/costs.py", "= 16.0, 1.3, 1.1", "= 10.7, 1.3, 1.1", EXACT_PLANS),
        expression("planning EXACT_SLOPE", "planning/costs.py", "= 16.0, 1.3, 1.1", "= 16.0, 0.87, 1.1", EXACT_PLANS),
        constant(
            "planning/people.py", "MAY_FAIL", MORE, "tests/test_plan.py::test_enough_people_of_each_kind_are_planned"
        ),
    ]


UNGUARDED = {
    "BOUND_FACTOR_UNLABELLED": "0.27 for 0.4 breaks nothing that was found: of 1,000 fits to answers of which 63 % do "
    "not tell their model, errors exceed the bound in 2.5 % (1.6 % with 0.4, 8.8 % with none of it)",
    "EXPECTED_IN_AN_OCTAVE": "a prior that the answers correct",
    "LEVELS_SEEN": "no answers were found for which it decides",
    "SEVERAL_ESTABLISHED, RIVAL_BEHIND": "two thirds of 10 and of 15 nats are still far beyond η",
    "LEAST_FOR_A_SHAPE, LEAST_LAPSES_LEFT, EXACT_SHARE, LEAST_PROJECTED, CHANGE_POINTS, MOST_CHECKED_FEATURES, "
    "MOST_CROSSED_FEATURES": "they say what a check looks at, not when it fails",
    "SIGNIFICANT_ERRORS": "a warning beside the checks, five or seven standard errors off",
    "planning FRUGAL faint, UNTIL_SURE start, faint and focus": "a third moves no plan by more than 4 %",
    "planning EXACT_MODELS": "for three models and more, planned roughly",
}
"""What the promise rests on as well, and why no mutant has it."""


@dataclass(frozen=True)
class Copy:
    """A copy of the source, in which one file at a time is weakened."""

    folder: Path

    def put(self, file: str, text: str) -> None:
        """Write a file; what was compiled of it before is of another time."""
        path = self.folder / "mixsense" / file
        written = path.stat().st_mtime + 2
        path.write_text(text, encoding="utf-8")
        os.utime(path, (written, written))

    def failures(self, tests: tuple[str, ...]) -> list[str]:
        """Run tests on the copy; returns the names of those that fail."""
        paths = os.pathsep.join([str(self.folder), os.environ.get("PYTHONPATH", "")])
        threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-rf", "-p", "no:cacheprovider", *tests],
            cwd=ROOT,
            env={**os.environ, **threads, "PYTHONPATH": paths},
            capture_output=True,
            text=True,
        )
        if done.returncode not in (0, 1):
            raise SystemExit(f"the tests could not run:\n{done.stdout}{done.stderr}")
        return re.findall(r"^FAILED \S+?::(\S+)", done.stdout, re.M)

    def imported(self) -> bool:
        """Say whether it is this copy that the tests import."""
        done = subprocess.run(
            [sys.executable, "-c", "import mixsense; print(mixsense.__file__)"],
            env={**os.environ, "PYTHONPATH": str(self.folder)},
            capture_output=True,
            text=True,
            check=True,
        )
        return Path(done.stdout.strip()).is_relative_to(self.folder)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", default=["*"], help="names of mutants, with * for any letters")
    parser.add_argument("--list", action="store_true", help="show them, and run nothing")
    args = parser.parse_args()
    chosen = [mutant for mutant in mutants() if any(fnmatchcase(mutant.name, name) for name in args.only)]
    wide = max((len(mutant.name) for mutant in chosen), default=0)
    if args.list:
        for mutant in chosen:
            print(f"{mutant.name:{wide}}  {mutant.shown}  {', '.join(mutant.tests)}")
        return 0
    survived, began = [], time.monotonic()
    with tempfile.TemporaryDirectory(prefix="mixsense-mutants-") as folder:
        copy = Copy(Path(folder).resolve() / "src")
        shutil.copytree(SOURCE, copy.folder, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        if not copy.imported():
            raise SystemExit("the tests would import another copy of mixsense")
        if wrong := copy.failures(tuple(dict.fromkeys(test for mutant in chosen for test in mutant.tests))):
            raise SystemExit(f"these fail without any mutant: {', '.join(wrong)}")
        print("| constant | weakened | noticed by |\n|---|---|---|", flush=True)
        for mutant in chosen:
            copy.put(mutant.file, mutant.source())
            noticed = copy.failures(mutant.tests)
            copy.put(mutant.file, (SOURCE / "mixsense" / mutant.file).read_text(encoding="utf-8"))
            if not noticed:
                survived.append(mutant.name)
            by = ", ".join(f"`{test}`" for test in dict.fromkeys(name.split("[")[0] for name in noticed))
            print(f"| {mutant.name} | {mutant.shown} | {by or '**nothing**'} |", flush=True)
    print("\nLeft out:\n")
    for name, reason in UNGUARDED.items():
        print(f"- {name}: {reason}")
    minutes = (time.monotonic() - began) / 60
    print(f"\n{len(chosen) - len(survived)} of {len(chosen)} mutants were noticed, in {minutes:.0f} minutes")
    return bool(survived)


if __name__ == "__main__":
    sys.exit(main())
