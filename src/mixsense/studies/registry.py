"""Which studies there are: create, load, list, delete."""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

from mixsense.errors import InvalidInput, StudyError
from mixsense.methods.registry import entry_of, stored_name
from mixsense.problem import DEFAULTS, Problem
from mixsense.rounds import Round
from mixsense.scales import Probability, Rating
from mixsense.studies import settings
from mixsense.studies.playback import steps_of
from mixsense.studies.storage.catalogue import find_study, insert_study, remove_study, study_names
from mixsense.studies.storage.database import Database
from mixsense.studies.storage.migrations import upgrade
from mixsense.studies.study import Study

DEFAULT_LEASE = 600.0
"""Seconds that a question is waited for, by default."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A study that was checked, and is not stored: its problem, two JSON texts as they are stored, its first round."""

    name: str
    problem: Problem
    text: str
    asking: str
    first: Round


def draft_study(
    name: str,
    n: int,
    *,
    units: Sequence[str] | None = None,
    answer_range: tuple[float, float] | None = None,
    lease: float = DEFAULT_LEASE,
    notes: dict[str, Any] | None = None,
    **arguments: Any,
) -> Draft:
    """Check what a study is to be, up to its first questions: what is wrong costs no answer, and no database."""
    if arguments.get("seed") is None:
        arguments["seed"] = secrets.randbits(63)  # stored, so that every process draws the same queries
    ends = settings.checked_range(answer_range)
    takes_scale = entry_of(arguments.get("method", DEFAULTS["method"])).takes_scale
    if ends is not None and "scale" not in arguments and takes_scale:
        arguments["scale"] = Rating(*ends, step=None)  # an answer at an end may stand for more
    problem = Problem.from_dict({"n": n, **arguments})
    if problem.scale is not None:
        ends = _ends(ends, problem.scale)
    text = settings.as_json({**problem.to_dict(), "method": stored_name(problem.method)})
    name = settings.checked_name(name)
    settings.check_titles(problem.names, problem.intercept)
    first = steps_of(Problem.from_dict(json.loads(text))).current  # as every process begins it
    if first is None:
        raise InvalidInput("this problem needs no questions: nothing is to be studied")
    asking: dict[str, Any] = {
        "units": settings.checked_units(_units(units, problem), n),
        "range": ends,
        "lease": settings.checked_lease(lease),
    }
    if notes is not None:
        asking["notes"] = settings.checked_notes(notes)
    return Draft(name, problem, text, json.dumps(asking), first)


def _units(units: Any, problem: Problem) -> Any:
    """Return the units of the features, which these may say themselves."""
    if not problem.kinds:
        return units
    if units is not None:
        raise InvalidInput("units are given, and features that say theirs: give ms.Number(name, low, high, unit)")
    return [feature.unit or "" for feature in problem.kinds]


def _ends(given: tuple[float, float] | None, scale: Rating | Probability) -> tuple[float, float]:
    """Return the range of the answers on a scale: nobody can answer anything else."""
    low, high = scale.ends
    if given is not None and given != (low, high):
        raise InvalidInput(
            f"answer_range is from {given[0]:g} to {given[1]:g}, and answers on the scale are from {low:g} to "
            f'{high:g}: leave answer_range out, or give scale="real"'
        )
    return low, high


def create_study(
    url: str | PathLike[str],
    name: str,
    n: int,
    *,
    units: Sequence[str] | None = None,
    answer_range: tuple[float, float] | None = None,
    lease: float = DEFAULT_LEASE,
    notes: dict[str, Any] | None = None,
    **arguments: Any,
) -> Study:
    """Begin a study: a method that asks whenever somebody takes a question, and never loses an answer.

    Parameters
    ----------
    url : str or path
        The database: ``sqlite:///tea.db``, a file's name, or ``postgresql://user@host/database``. It is made if it is
        not there, and may hold many studies.
    name : str
        Name of the study in this database.
    n, **arguments
        As for `recover`: gamma, k, sigma, eta, method, models, weights, max_queries, seed, features, box, intercept,
        scale, block, promise, and what the method takes besides.
    units : sequence of str, optional
        The unit of each feature, to be shown with the questions; features that are `Number` or `Integer` have theirs.
    answer_range : pair of float, optional
        Smallest and largest possible answer, such as (1, 7). Others are refused, and answers at an end count as that
        or beyond, unless `scale` says otherwise: "real" takes them for numbers.
    lease : float
        Seconds that a question is waited for before it is handed out again, rounded up to whole minutes.
    notes : dict, optional
        Plain values to keep with the study, such as who is asked; `Study.notes` gives them back.

    Returns
    -------
    Study

    Examples
    --------
    >>> import mixsense as ms, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> study = ms.create_study(f"{folder.name}/tea.db", "tea", n=3, sigma=1.0, seed=1)
    >>> question = study.ask()
    >>> study.tell(question.id, 6.5)
    'taken'
    >>> study.progress().answered
    1
    >>> study.close(); folder.cleanup()
    """
    draft = draft_study(name, n, units=units, answer_range=answer_range, lease=lease, notes=notes, **arguments)
    database = Database(url, create=True)
    upgrade(database, create=True)
    insert_study(database, draft.name, draft.text, draft.asking, draft.first)
    try:
        return Study(database, draft.name)
    except StudyError as error:
        raise StudyError(f"the study {draft.name!r} was created, load it later; now {error}") from None


def load_study(url: str | PathLike[str], name: str) -> Study:
    """Load a study that was created before, in this process or in another one.

    Parameters
    ----------
    url : str or path
        The database; see `create_study`.
    name : str
        Name of the study.

    Examples
    --------
    >>> import mixsense as ms, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> ms.create_study(f"{folder.name}/tea.db", "tea", n=3, sigma=1.0, seed=1).close()
    >>> study = ms.load_study(f"{folder.name}/tea.db", "tea")
    >>> study.progress().state
    'asking'
    >>> study.close(); folder.cleanup()
    """
    database = _opened(url)
    return Study(database, settings.checked_name(name))


def list_studies(url: str | PathLike[str]) -> list[str]:
    """Return the names of the studies in a database."""
    return study_names(_opened(url))


def delete_study(url: str | PathLike[str], name: str) -> None:
    """Remove a study and all its answers, for good.

    Raises
    ------
    StudyError
        It was removed, but somebody reads the SQLite file, whose write-ahead log still holds it; or nothing was
        removed, as the message says.
    """
    database = _opened(url)
    remove_study(database, find_study(database, settings.checked_name(name)))


def _opened(url: str | PathLike[str]) -> Database:
    database = Database(url)
    upgrade(database)
    return database
