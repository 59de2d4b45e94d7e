"""The transactions of one study: each looks first whether the study is still the one that was loaded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from mixsense.checks import one_line
from mixsense.errors import MixsenseError, StudyError
from mixsense.studies.storage.database import Database
from mixsense.studies.storage.tables import answers, of_study, sa, studies

MISSHAPEN = (
    *(ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError),
    sa.exc.InvalidRequestError,
)
"""What Python, NumPy and SQLAlchemy raise over stored rows that are not as they were written."""


class Misshapen(ValueError):
    """What we say of such rows ourselves, without what is stored in them."""


@dataclass(frozen=True, slots=True)
class StudyRow:
    """A study as it is stored: its number, name and key, and two JSON texts."""

    study: int
    name: str
    key: str
    problem: str
    asking: str


class Access:
    """One study in a database: what begins its transactions, and says which study an error is about.

    Parameters
    ----------
    database : Database
        Where the study is.
    row : StudyRow
        The study as it was loaded. Its number and its key are compared in each transaction: a study of the same name
        that was created after this one was deleted is another one.
    """

    def __init__(self, database: Database, row: StudyRow) -> None:
        self.database = database
        self.row = row
        self.study = row.study

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """Begin a transaction that only reads, and makes something of the rows: what that raises is damage."""
        with self.database.reading() as connection:
            self._check(connection)
            with self.undamaged():
                yield connection

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """Begin a transaction that no other writer of this study disturbs; `undamaged` goes around what it reads."""
        with self.database.writing() as connection:
            self._check(connection, lock=True)
            try:
                yield connection
                return
            except sa.exc.StatementError as error:
                if isinstance(error, sa.exc.DBAPIError):
                    raise
                failure = self._damaged(type(error.orig).__name__)  # a row that is written again, as it was found
            except Misshapen as error:
                failure = self._damaged(error)
            raise failure from None

    def _check(self, connection: sa.Connection, lock: bool = False) -> None:
        mine = sa.select(studies.c.study).where(studies.c.study == self.study, studies.c.key == self.row.key)
        if connection.execute(mine.with_for_update() if lock else mine).first() is None:
            raise StudyError(f"the study {self._called} has been deleted: create it again, or load another one")

    @contextmanager
    def undamaged(self, of_ours: bool = False) -> Iterator[None]:
        """Say in one line that the stored rows are damaged where they cannot be read; `of_ours`: our errors, too."""
        try:
            yield
        except MixsenseError as error:
            if not of_ours:
                raise
            raise self._damaged(error) from None
        except Misshapen as error:
            raise self._damaged(error) from None
        except MISSHAPEN as error:  # whose text may hold an answer
            raise self._damaged(type(error).__name__) from None

    def _damaged(self, reason: Any) -> StudyError:
        return StudyError(
            f"the study {self._called} is damaged, what is stored of it cannot be read ({one_line(reason, 120)}): "
            "take a copy from before"
        )

    @property
    def _called(self) -> str:
        return f"{self.row.name!r} in {self.database.shown}"

    def of(self, table: sa.Table, *conditions: Any) -> sa.Select[Any]:
        """Return the statement that selects the rows of this study."""
        return of_study(self.study, table, *conditions)


class OfStudy:
    """A part of what one study stores: the shorthands of all of them."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._study = access.study
        self._of = access.of

    def _any(self, connection: sa.Connection, table: sa.Table, *conditions: Any) -> bool:
        """Return whether the study has such a row."""
        return connection.execute(self._of(table, *conditions)).first() is not None

    def _used(self, *conditions: Any) -> tuple[Any, ...]:
        """Return the conditions of an answer that counts."""
        return answers.c.study == self._study, sa.not_(answers.c.surplus), *conditions


def as_numbers(stored: Iterable[Any]) -> list[int]:
    """Return whole numbers as they were stored, or raise Misshapen."""
    found = list(stored)
    if not all(isinstance(number, int) for number in found):
        raise Misshapen("what should be a whole number is not")
    return found
