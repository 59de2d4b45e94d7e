"""The page of a result: one file for people, with everything inside and nothing to run."""

from __future__ import annotations

import base64
import contextlib
import datetime
import re
from html.parser import HTMLParser

import numpy as np
import pytest

import mixsense as ms
from in_process import mixsense
from mixsense.recovery.page import as_page
from mixsense.recovery.page_style import BADGES
from mixsense.recovery.statuses import STATUSES

pytest_plugins = ["study_storages"]

HOSTILE = "<script>alert('x')</script>\"&\x1b"
VOID = {"meta", "img", "rect"}


class Reader(HTMLParser):
    """Reads a page: which tags it has, their attributes, and its words; every tag has to be closed."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.links, self.words, self.open = [], [], [], []
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.links += [value for name, value in attrs if name in ("src", "href", "action", "data")]
        assert not [name for name, _ in attrs if name.startswith("on")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.words.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())


def result(L=2, status="certified", **more):
    vectors = np.arange(1.0, 3 * L + 1).reshape(L, 3)
    given = {"stderr": np.full((L, 3), 0.1), "weights_stderr": np.full(L, 0.03), "names": ("strength", "milk", "sugar")}
    return ms.Recovery(vectors, status, 250, **{"error_bound": 0.5, "sigma": 1.5, **given, **more})


@pytest.mark.parametrize("L", [1, 2, 5])
def test_a_page_shows_each_model_in_a_column(L):
    page = as_page(result(L), "Tea for many", b"<svg/>")
    read = Reader(page)
    assert read.tags.count("th") == 1 + L + 3
    assert read.tags.count("td") == 3 * L
    assert read.tags.count("svg") == (L if L > 1 else 0)  # the bars of the shares
    assert f"Answers 250 Models {L} Features 3 Error at most 0.5 Noise of one answer 1.5" in read.text
    assert "<title>Tea for many</title>" in page
    assert "<h1>Tea for many</h1>" in page
    assert "Certified The promised precision is reached." in read.text
    assert "strength +1.00 ± 0.10 +0.80 to +1.20" in read.text
    assert read.text.endswith(f"Made with mixsense {ms.__version__} on {datetime.date.today():%Y-%m-%d}.")
    assert "predict()" not in page


def test_recover_writes_a_page(tmp_path):
    words = ["recover", "--simulate", "--n", "8", "--k", "2", "--gamma", "none", "--max-queries", "100", "--quiet"]
    done = mixsense(*words, "--html", "page.html", cwd=tmp_path)
    page = Reader((tmp_path / "page.html").read_text(encoding="utf-8"))
    assert (done.returncode, "Recovered models" in page.words) == (3, True)
    assert [link[:18] for link in page.links] == ["data:image/svg+xml"]


def test_a_page_needs_nothing_from_outside_and_runs_nothing():
    page = as_page(result(), "tea", b"<svg>tea</svg>")
    read = Reader(page)
    (picture,) = read.links
    assert base64.b64decode(picture.removeprefix("data:image/svg+xml;base64,")) == b"<svg>tea</svg>"
    assert not {"script", "link", "iframe", "object", "form", "a"} & {*read.tags}
    assert not re.search(r"https?:|url\(|@import", page)
    assert "default-src 'none'" in page
    assert "img" not in Reader(as_page(result(), "tea")).tags


def test_what_users_write_is_text():
    story = {"warnings": [HOSTILE], "notes": [HOSTILE]}
    r = result(names=(HOSTILE, "b", "c"), diagnostics=story)
    for page in (as_page(r, HOSTILE, units=[HOSTILE] * 3), as_page(r, HOSTILE, names=[HOSTILE, "<b>", "<i>"])):
        read = Reader(page)
        assert not {"script", "b>", "i"} & {*read.tags}
        assert "\x1b" not in page
        assert read.text.count("alert('x')") >= 5


@pytest.mark.parametrize("status", STATUSES)
def test_a_status_is_told_in_words(status):
    read = Reader(as_page(result(status=status), "tea"))
    assert f"{BADGES[status][0]} {BADGES[status][3]}" in read.text


def test_warnings_and_notes_are_sentences():
    story = {"warnings": ["the levels differ: give intercept=True"], "notes": ["3 rows were left out", "Why?"]}
    read = Reader(as_page(result(status="uncertain", error_bound=np.inf, diagnostics=story), "tea"))
    assert "Warning. The levels differ: give intercept=True." in read.text
    assert "Notes 3 rows were left out. Why?" in read.text
    assert "Error at most" not in read.text


def test_equal_rows_of_a_single_model_are_one_column():
    r = ms.Recovery(np.ones((2, 3)), "single", 500, 0.2, 1.0, stderr=np.full((2, 3), 0.1))
    read = Reader(as_page(r, "tea"))
    assert "One model The answers support one model only." in read.text
    assert "Models 1" in read.text
    assert ("Model 2" in read.text, "Share" in read.text) == (False, False)


def test_a_result_without_errors_has_no_intervals():
    r = result(stderr=None, weights_stderr=None, weights=[0.7, 0.3], intercept=[1.0, -2.0])
    read = Reader(as_page(r, "tea"))
    assert "This method gives no standard errors." in read.text
    assert " to +" not in read.text
    assert "constant all features at 0 +1.000 −2.000" in read.text
    assert "Share of the answers, as given Model 1 70 % Model 2 30 %" in read.text
    assert "no standard errors" not in Reader(as_page(result(stderr=None, sigma=0.0), "tea")).text


def test_intervals_of_the_method_are_shown_and_those_that_nobody_knows_are_not():
    interval = np.tile([[-0.5, 1.5]], (2, 3, 1))
    interval[1, 2] = -np.inf, np.inf
    read = Reader(as_page(result(interval=interval), "tea"))
    assert read.text.count("−0.50 to +1.50") == 5
    assert "inf" not in read.text


def test_units_and_ranges_stand_below_the_names():
    story = {"half_ranges": [6.0, 30.0, 0.5], "middles": [10.0, 30.0, 0.5]}
    read = Reader(as_page(result(diagnostics=story), "tea", units=["g/l", "ml", ""]))
    assert "strength 4 to 16 g/l +1.00" in read.text
    assert "milk 0 to 60 ml" in read.text
    assert "sugar 0 to 1 +3.00" in read.text
    assert "a model's effects (of half of each range)" in read.text
    assert "strength in g/l" in Reader(as_page(result(), "tea", units=["g/l", "ml", ""])).text


@pytest.mark.parametrize(
    ("scale", "words"),
    [
        (
            ms.Rating(0, 100),
            "how much a rating changes when the feature goes up by one unit, as far as the scale from",
        ),
        (ms.Probability(), "how much the logit of the probability changes"),
        (None, "how much the answer changes"),
    ],
)
def test_numbers_are_explained_on_the_scale_of_the_answers(scale, words):
    story = {} if scale is None else {"scale": scale.to_dict()}
    assert words in Reader(as_page(result(diagnostics=story), "tea")).text
    assert "how much the answer" in Reader(as_page(result(diagnostics={"scale": "mine"}), "tea")).text


def test_what_is_left_out_or_not_seen_is_told():
    vectors, stderr = np.zeros((1, 4)), np.full((1, 4), 0.1)
    vectors[0, :3] = 2.0, 0.001, 0.05
    r = ms.Recovery(vectors, "budget", 9, sigma=1.0, stderr=stderr, diagnostics={"collinear": [3]})
    read = Reader(as_page(r, "tea"))
    assert "2 coefficients within 1 standard error of 0 are not shown." in read.text
    assert "3 (collinear) ?" in read.text
    assert "A question mark: it moves with other features" in read.text
    two = ms.Recovery([[2.0, 0.0], [0.0, 1.0]], "budget", 9, sigma=1.0, stderr=np.full((2, 2), 0.1))
    assert "A dot: no effect is seen." in Reader(as_page(two, "tea")).text
    assert "All coefficients are 0." in Reader(as_page(ms.Recovery(np.zeros((1, 3)), "budget"), "tea")).text


def test_two_versions_of_an_endpoint_have_a_column_of_differences():
    read = Reader(as_page(result(), "audit", difference=True))
    assert "Model 1 Model 2 Difference, 2 − 1" in read.text
    assert "+4.00 ± 0.10 +3.80 to +4.20 +3.00 ± 0.14" in read.text


def test_a_study_writes_its_name_its_units_and_its_picture(command, tmp_path):
    rng = np.random.default_rng(1)
    features = "".join(
        f'[[features]]\nname = "{name}"\nunit = "{unit}"\nrange = [4, 16]\n'
        for name, unit in [("a<b", "g/l"), ("milk", "$")]
    )
    (tmp_path / "tea.toml").write_text(f'name = "A & B"\nsigma = 0.1\nmax_queries = 40\ngamma = "none"\n{features}')
    assert command("create", "tea.toml")[0] == 0
    with contextlib.closing(ms.load_study("mixsense.db", "A & B")) as study:
        ms.run_study(study, lambda X, repeats: X[:, :1] + 0.1 * rng.standard_normal((len(X), repeats)), workers=1)
    assert command("result", "A & B", "--html", "r.html", "--plot", "r.svg")[0] in (3, 7, 8)
    page = (tmp_path / "r.html").read_text()
    read = Reader(page)
    assert "<title>A &amp; B</title>" in page
    assert "a<b 4 to 16 g/l" in read.text
    (picture,) = read.links
    drawn = base64.b64decode(picture.partition(",")[2])
    assert b"<svg" in drawn
    assert b"A &amp; B" in (tmp_path / "r.svg").read_bytes()
    assert b"(g/l)" in drawn
