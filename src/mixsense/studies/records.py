"""What a study tells people and programs: the questions that it hands out, and where it stands."""

from __future__ import annotations

import html
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from mixsense.arrays import Array
from mixsense.features.kinds import Feature, case_of

STATES = {
    "asking": "there are questions to hand out",
    "waiting": "all questions of this round are out",
    "ready": "there are answers enough; whoever asks next computes the next round",
    "computing": "the next round is being computed",
    "ended": "there is a result",
    "failed": "the method gave up; result() says why",
}
"""Every state of a study, with its meaning."""


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """A question as it was handed out: give its answer to `Study.tell` with its id.

    Attributes
    ----------
    id : str
        Names this hand-out. The same question, handed out again, has another id.
    x : (n,) array
        What to ask, in the user's units.
    names, units : tuple of str
        What the entries of x are, and their units.
    group : int or None
        The number of the respondent that it was handed to; None if whoever asked gave no name.
    unit : int
        Questions of a round with the same number want one respondent.
    features : tuple of Number or Integer, or None
        What the entries of x may be, if that was said.
    sparse : bool
        The method asks queries with few entries that are not 0: these alone are stored, and are all that `to_dict` and
        the command line give.

    Examples
    --------
    >>> import mixsense as ms, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> study = ms.create_study(f"{folder.name}/tea.db", "tea", n=2, sigma=1.0, features=["strength", "milk"], seed=1)
    >>> question = study.ask()
    >>> list(question.to_dict()["x"]), question.x.shape
    (['strength', 'milk'], (2,))
    >>> study.close(); folder.cleanup()
    """

    id: str
    x: Array
    names: tuple[str, ...]
    units: tuple[str, ...]
    group: int | None = None
    unit: int = 0
    features: tuple[Feature, ...] | None = None
    sparse: bool = False

    @property
    def case(self) -> dict[str, float | int]:
        """The entries of x by their names, as plain values: whole numbers where features count."""
        x = self.x.tolist()
        return case_of(self.features, x) if self.features else dict(zip(self.names, x, strict=True))

    def entries(self) -> list[tuple[str, float, str]]:
        """Return name, value and unit of each entry; of a sparse question only of those that are not 0."""
        places = np.flatnonzero(self.x) if self.sparse else np.arange(len(self.x))
        return [(self.names[j], float(self.x[j]), self.units[j]) for j in places]

    def to_dict(self) -> dict[str, Any]:
        """Return id and entries as plain values, for JSON; of a sparse question only those that are not 0."""
        kept = {name: value for name, value, _ in self.entries()} if self.sparse else self.case
        return {"id": self.id, "x": kept}

    def __str__(self) -> str:
        parts = [f"{name} {value:.6g} {unit}".rstrip() for name, value, unit in self.entries()]
        return f"{self.id}: {', '.join(parts)}"


@dataclass(frozen=True, slots=True)
class StudyProgress:
    """Where a study stands.

    Attributes
    ----------
    name : str
    state : str
        "asking", "waiting", "ready", "computing", "ended" or "failed"; see `STATES`.
    status : str or None
        Status of the result once the study has ended; see `mixsense.recovery.result.STATUSES`.
    round, label : int, str
        The current round, counted from 1, and what it is for.
    size, answered, out, open : int
        Questions of this round: all, answered, handed out and waited for, to be handed out.
    total, max_queries : int
        Answers of all rounds, and the budget.
    gamma : float or None
        The precision that ends the study; None if only the budget does.
    surplus : int
        Answers that came when their question had been answered by somebody else, or the study had ended; they are kept,
        and not used.
    expired : int
        Hand-outs of a question that had been handed out before: it was not answered in time, or there was no other.
    groups : int
        Respondents with a token of whom there are answers.
    alone : int
        Answers without a token.
    warnings : tuple of str
    """

    name: str
    state: str
    status: str | None
    round: int
    label: str
    size: int
    answered: int
    out: int
    open: int
    total: int
    max_queries: int | None
    gamma: float | None
    surplus: int
    expired: int
    groups: int
    alone: int
    warnings: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON."""
        return {**asdict(self), "warnings": list(self.warnings)}

    def _from_whom(self) -> str:
        if not self.groups:
            return ""
        others = f"; {self.alone:,} came without a token" if self.alone else ""
        return f", from {self.groups:,} respondent{'s' if self.groups > 1 else ''}{others}"

    def __str__(self) -> str:
        budget = f" of at most {self.max_queries:,}" if self.max_queries else ""
        precision = f"gamma is {self.gamma:g}" if self.gamma is not None else "no gamma"
        most = f"at most {self.max_queries:,} answers" if self.max_queries else "no budget (max_queries)"
        lines = [
            f"study {self.name}: {self.status or self.state} ({STATES[self.state]})",
            f"round {self.round} ({self.label}): {self.answered:,} of {self.size:,} answered, {self.out:,} out, "
            f"{self.open:,} open",
            f"in all {self.total:,}{budget} answers used, {self.surplus:,} surplus, {self.expired:,} handed out again"
            + self._from_whom(),
            f"until: {precision}, {most}",
            *(f"warning: {text}" for text in self.warnings),
        ]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return "".join(f"<p>{html.escape(line)}</p>" for line in str(self).splitlines())
