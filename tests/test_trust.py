"""The tables of docs/trust.md: they are those of its file of runs, and a sample of these is run again."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from scipy.stats import binom

from test_generated import check_same

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))
from trust import one_run, runs_of, summary, table  # noqa: E402
from trust_picture import draw  # noqa: E402
from worlds import WORLDS  # noqa: E402

PAGE, RUNS = ROOT / "docs" / "trust.md", runs_of(ROOT / "docs" / "trust.csv")
REMEDY = "run python benchmarks/trust.py --store docs/trust.csv --markdown docs/trust.md --runs 0"


@pytest.mark.parametrize("section", ["inside", "outside"])
def test_the_page_has_the_table_of_the_runs(section):
    assert f"<!-- {section} -->\n{table(RUNS, section)}\n<!-- end -->" in PAGE.read_text(encoding="utf-8"), REMEDY


def test_the_page_says_what_all_runs_say_together():
    assert f"<!-- counted -->\n{summary(RUNS)}\n<!-- end -->" in PAGE.read_text(encoding="utf-8"), REMEDY


def test_the_picture_is_that_of_the_runs(tmp_path):
    draw(RUNS, tmp_path / "trust.png")
    check_same(tmp_path / "trust.png", PAGE.with_name("trust.png"))


def test_every_world_is_there():
    assert {run.row for run in RUNS} == {(w.name, str(setting)) for w in WORLDS.values() for setting in w.settings}


@pytest.mark.parametrize(
    ("world", "n"),
    [
        ("two models", "4"),
        ("Gaussian, n = 20", "20, no box"),
        ("different: one feature by 4 σ", "4"),
        ("the sign of an input routes", "12"),
        ("2 % outliers", "12"),
    ],
)
def test_the_runs_are_those_of_the_present_code(world, n):
    run = next(run for run in RUNS if run.row == (world, n))
    setting = next(setting for setting in WORLDS[world].settings if str(setting) == n)
    again = one_run((world, setting, run.seed))
    stale = "docs/trust.csv has another method than the present one: remove it, and run benchmarks/trust.py again"
    assert (again.status, again.answers) == (run.status, run.answers), stale
    assert again.error == pytest.approx(run.error, rel=0.01), stale


def test_four_models_are_found_though_two_with_a_noise_each_explain_more_than_three():
    """One of the two is three models in one: of that number and one more, only the second explains more."""
    name = "four Gaussian models"
    run = one_run((name, WORLDS[name].settings[0], 180_000))
    assert run.status == "certified"
    assert run.error < 0.3


@pytest.mark.parametrize("section", ["inside", "outside"])
def test_certificates_are_wrong_as_seldom_as_is_promised(section):
    """At most η = 5 % of the runs: more than this many are wrong with probability 1 % if each is with 5 %."""
    found = [run for run in RUNS if WORLDS[run.world].section == section]
    assert sum(run.wrong for run in found) <= binom.ppf(0.99, len(found), 0.05)
