"""A recovery as a page of HTML for people: one file, with its style and its picture inside, and no script."""

from __future__ import annotations

import base64
import datetime
import html
import math
from collections.abc import Sequence

import numpy as np

import mixsense
from mixsense.arrays import Array
from mixsense.checks import visible
from mixsense.recovery.digits import DOT, UNKNOWN, Number, in_digits
from mixsense.recovery.fields import COLLINEAR
from mixsense.recovery.importance import choose
from mixsense.recovery.page_style import BADGES, COLOURS, HEAD, STYLE
from mixsense.recovery.result import Recovery
from mixsense.recovery.tables import MOST_COEFFICIENTS, as_table, share_texts, told_notes
from mixsense.recovery.uses import HALF_RANGES, MIDDLES, estimates, of_each_feature, scale_or_none
from mixsense.scales import Probability


def as_page(
    recovery: Recovery,
    title: str,
    picture: bytes | None = None,
    names: Sequence[str] | None = None,
    units: Sequence[str] | None = None,
    difference: bool = False,
) -> str:
    """Return a result as a page that needs nothing else: for a slide, a colleague, a printer.

    Parameters
    ----------
    recovery : Recovery
        What is shown.
    title : str
        What the page is called: the name of the study, or of the data.
    picture : bytes, optional
        A picture of the result, as SVG.
    names, difference
        As for `as_table`.
    units : sequence of str, optional
        What each feature is measured in, empty where there is no unit.

    Examples
    --------
    >>> page = as_page(Recovery([[1.0, 0.0], [0.0, 2.0]], "certified", 10, 0.1), "Tea <1>")
    >>> "<h1>Tea &lt;1&gt;</h1>" in page, "Certified" in page, "<script" in page
    (True, True, False)
    """
    name, ink, ground, meaning = BADGES[recovery.status]
    called = _text(title)
    warnings = [_sentence(text) for text in recovery.diagnostics.get("warnings", [])]
    parts = [
        f"{HEAD}<title>{called}</title><style>{STYLE}</style></head><body>",
        f'<header><h1>{called}</h1><div class="status"><span class="badge" style="color:{ink};background:{ground}">'
        f"{name}</span><span>{meaning}</span></div></header>",
        _facts(recovery),
        *(f'<p class="warning"><b>Warning.</b> {text}</p>' for text in warnings),
        _shares(recovery),
        _table(recovery, names, units, difference),
    ]
    if picture is not None:
        data = base64.b64encode(picture).decode()
        parts.append(f'<h2>At a glance</h2><img alt="Picture of the models" src="data:image/svg+xml;base64,{data}">')
    notes = "".join(f"<p>{_sentence(text)}</p>" for text in [*_bound(recovery), *told_notes(recovery)])
    parts += [f"<h2>Notes</h2>{notes}"] if notes else []
    made = f"{datetime.date.today():%Y-%m-%d}"
    parts.append(f"<footer>Made with mixsense {mixsense.__version__} on {made}.</footer></body></html>\n")
    return "\n".join(parts)


def _number(number: Number | str) -> str:
    return str(number).replace("-", "−").replace("e−", "e-")


def _text(text: str) -> str:
    return html.escape(visible(str(text)))


def _sentence(text: str) -> str:
    """Return a text with a capital letter first and a full stop last."""
    text = visible(str(text)).strip()
    end = "" if not text or text.endswith((".", "!", "?")) else "."
    return html.escape(text[:1].upper() + text[1:] + end)


def _columns(recovery: Recovery) -> int:
    """Return how many models are shown: of equal ones, as a single model may come, one."""
    alike = recovery.status == "single" and not np.ptp(recovery.vectors, axis=0).any()
    return 1 if alike else len(recovery.vectors)


def _facts(recovery: Recovery) -> str:
    facts = {"Answers": f"{recovery.queries:,}", "Models": f"{_columns(recovery)}"}
    facts["Features"] = f"{recovery.vectors.shape[1]:,}"
    if math.isfinite(recovery.error_bound):
        facts["Error at most"] = f"{recovery.error_bound:.3g}"
    noise = np.unique(recovery.sigma)
    if np.isfinite(noise).all():
        facts["Noise of one answer"] = " to ".join(f"{value:.3g}" for value in {noise[0], noise[-1]})
    return f"<dl>{''.join(f'<div><dt>{name}</dt><dd>{value}</dd></div>' for name, value in facts.items())}</dl>"


def _bound(recovery: Recovery) -> list[str]:
    """Say what the bound on the error is about, if there is one."""
    if not math.isfinite(recovery.error_bound):
        return []
    box = " (of half of each range)" if of_each_feature(recovery, HALF_RANGES) is not None else ""
    return [
        f"Error at most {recovery.error_bound:.3g}: taken together, a model's effects{box} are no further than this "
        "from the truth. That holds with a probability of 95 %, unless another one was asked for."
    ]


def _shares(recovery: Recovery) -> str:
    """Return a bar for each model; nothing where the shares tell nothing."""
    if not share_texts(recovery) or _columns(recovery) == 1:
        return ""
    found = recovery.weights_stderr
    errors = np.full(len(recovery.weights), np.nan) if found is None else found
    bars = []
    for i, (share, error) in enumerate(zip(100 * recovery.weights, 100 * errors, strict=True)):
        places = 1 if 0 < error < 1 else 0
        told = f"{share:.{places}f} %" + (f" ± {error:.{places}f} %" if math.isfinite(error) else "")
        bars.append(
            f'<div class="share"><b>Model {i + 1}</b><svg viewBox="0 0 100 10" preserveAspectRatio="none" '
            f'aria-hidden="true"><rect width="100" height="10" fill="#edf0f4"/><rect width="{share:.2f}" height="10" '
            f'fill="{COLOURS[i % len(COLOURS)]}"/></svg><span>{told}</span></div>'
        )
    return f"<h2>Share of the answers{'' if found is not None else ', as given'}</h2>{''.join(bars)}"


def _table(recovery: Recovery, names: Sequence[str] | None, units: Sequence[str] | None, difference: bool) -> str:
    """Return the coefficients that stand out, one column a model, with their intervals below."""
    (L, n), shown = recovery.vectors.shape, _columns(recovery)
    table, (_, stderr, ends) = as_table(recovery, names, difference), estimates(recovery)
    choice = choose(recovery, MOST_COEFFICIENTS, recovery.diagnostics.get(COLLINEAR, ()))
    rows, seen = "", set[Number]()
    for j, row in zip([*choice.shown.tolist(), n], table.rows, strict=False):
        cells = [_number(number) for number in row.numbers]
        for i, number in enumerate(row.numbers[:L]):
            cells[i] += "" if number == UNKNOWN else _interval(ends[i, j], stderr[i, j])
        seen.update(row.numbers)
        name, about = (
            (html.escape(row.name), _about(recovery, j, units)) if j < n else ("constant", "all features at 0")
        )
        rows += f"<tr><th>{name}{about and f'<small>{about}</small>'}</th>"
        rows += f"{''.join(f'<td>{cell}</td>' for cell in cells[:shown] + cells[L:])}</tr>"
    heads = ["Feature", *(f"Model {i + 1}" for i in range(shown)), *(t.capitalize() for t in table.titles[L + 1 :])]
    head, tight = "".join(f"<th>{title}</th>" for title in heads), ' class="tight"' if len(heads) > 4 else ""
    told = [_meaning(recovery)]
    if "<small>" in rows and np.isfinite(stderr).any():
        told.append("± is the standard error, and the line below a number its 95 % interval.")
    elif np.all(np.asarray(recovery.sigma) > 0):
        told.append("This method gives no standard errors.")
    told += ["A dot: no effect is seen."] if DOT in seen else []
    told += ["A question mark: it moves with other features, and cannot be told."] if UNKNOWN in seen else []
    told += [_sentence(choice.note or ("" if len(choice.shown) else "all coefficients are 0"))]
    return (
        f'<h2>What moves the answers</h2><p class="quiet">{" ".join(told)}</p><div class="wide">'
        f"<table{tight}><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _meaning(recovery: Recovery) -> str:
    """Say what a coefficient is, in words for whoever answers on this scale."""
    scale, when = scale_or_none(recovery), "when the feature goes up by one unit"
    if isinstance(scale, Probability):
        return f"A number says how much the logit of the probability changes {when}."
    if scale is not None:
        low, high = scale.ends
        return f"A number says how much a rating changes {when}, as far as the scale from {low:g} to {high:g} goes."
    return f"A number says how much the answer changes {when}."


def _about(recovery: Recovery, j: int, units: Sequence[str] | None) -> str:
    """Return the range and the unit of a feature, as far as they are known."""
    half, middle = of_each_feature(recovery, HALF_RANGES), of_each_feature(recovery, MIDDLES)
    unit = _text(units[j]) if units else ""
    if half is None or middle is None:
        return unit and f"in {unit}"
    return f"{middle[j] - half[j]:.6g} to {middle[j] + half[j]:.6g} {unit}".rstrip()


def _interval(ends: Array, error: float) -> str:
    """Return the 95 % interval of a number, to the digits of the number; nothing where there is none."""
    if not np.isfinite(ends).all() or ends[0] == ends[1]:
        return ""
    low, high = (_number(in_digits(float(end), error).value) for end in ends)
    return f"<small>{low} to {high}</small>"
