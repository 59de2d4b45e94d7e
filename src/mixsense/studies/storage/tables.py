"""What a study stores: the problem, the queries, the answers. No name, no address, no time of an answer.

Problems, rounds, queries, tickets, answers and ends are appended and never changed, but for the end of a study whose
answers turn out not to be trusted, and answers that came too late for the end. Unconfirmed runs come and go, and so do
leases: each says, in whole minutes, until when a question that was handed out is waited for, and is removed with the
answer, or when its round is closed. All that may be known about who answered is a number that some answers have in
common; the salt that makes it of a respondent's token goes when the study ends. Tickets and answers are kept by random
numbers, without the hidden row numbers of SQLite, and are written again among others: see `scatter`. `mixsense.studies`
explains the words.

A change of a table needs an entry in `migrations.MIGRATIONS`, and new columns stand last, where the change puts them.
"""

from __future__ import annotations

from typing import Any

from mixsense.checks import require

require("sqlalchemy", "study", "studies need")
import sqlalchemy as sa  # noqa: E402  # after the line that says how to get it

__all__ = ["sa"]  # the modules beside this one import it from here, after that line

METADATA = sa.MetaData()


def _key(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger, primary_key=True, autoincrement=False)


def _number(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger, nullable=False)


def _text(name: str, unique: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.Text, nullable=False, unique=unique)


def _maybe(name: str) -> sa.Column[int | None]:
    return sa.Column(name, sa.BigInteger, nullable=True)


def _table(name: str, *columns: sa.Column[Any], **options: Any) -> sa.Table:
    """Return a table of rows that belong to studies."""
    return sa.Table(name, METADATA, _key("study"), *columns, **options)


schema = sa.Table("mixsense_schema", METADATA, _key("version"))  # one row

migrations = sa.Table("mixsense_migrations", METADATA, sa.Column("name", sa.Text, primary_key=True))  # changes made

studies = _table(
    "mixsense_studies",
    _text("name", unique=True),
    _text("key"),  # begins the id of each of its questions, so that another study's are told apart
    _text("problem"),  # JSON: `Problem.to_dict`
    _text("asking"),  # JSON: units, range of the answers, seconds of a lease
)

rounds = _table(
    "mixsense_rounds",
    _key("round"),
    _text("label"),
    _number("size"),  # answers that the round takes: queries × repeats
    _number("repeats"),
    sa.Column("block", sa.BigInteger, nullable=False, server_default=sa.text("1")),  # queries for one respondent
    _maybe("least"),  # answers that are enough to go on; NULL: all
)

queries = _table(
    "mixsense_queries",
    _key("round"),
    _key("query"),
    sa.Column("x", sa.LargeBinary, nullable=False),  # (n,) float64, little endian; or see `packing`
)

tickets = _table(
    "mixsense_tickets",  # one for each time that a question was handed out
    _key("ticket"),  # random and negative; positive numbers were counted by an older mixsense
    _number("round"),
    _number("slot"),  # query × repeats + repeat
    _maybe("secret"),  # random, the other part of the id; NULL where an older mixsense counted
    _maybe("answer_group"),  # of the respondent that was handed the question; NULL: whoever asked gave no name
    sqlite_with_rowid=False,
)
sa.Index("mixsense_tickets_slot", tickets.c.study, tickets.c.round, tickets.c.slot)
sa.Index("mixsense_tickets_group", tickets.c.study, tickets.c.answer_group)

leases = _table(
    "mixsense_leases",
    _key("round"),
    _key("slot"),
    _number("until"),  # whole minutes
    _maybe("answer_group"),  # of who holds the question
    sqlite_with_rowid=False,
)

loose = _table(
    "mixsense_loose",  # questions that no round waits for: extra ones, and those that were out when theirs was closed
    _key("round"),
    _key("slot"),  # of an extra question: random, and beyond those of the round
    _number("query"),
    _maybe("came"),  # the round with whose answers its answer was given to the method; NULL: not yet
    sqlite_with_rowid=False,
)

closed = _table(
    "mixsense_closed",  # rounds whose answers were given to the method, or are just being given
    _key("round"),
    sqlite_with_rowid=False,
)

computing = _table(
    "mixsense_computing",  # who computes the next round; removed with that round
    _number("holder"),  # random
    _number("until"),  # whole minutes
    sqlite_with_rowid=False,
)

salts = _table(
    "mixsense_salts",  # what makes groups of respondents' tokens; removed when the study ends
    sa.Column("salt", sa.LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)

answers = _table(
    "mixsense_answers",
    _key("ticket"),
    _number("round"),
    _number("slot"),
    sa.Column("value", sa.Double, nullable=False),
    sa.Column("surplus", sa.Boolean, nullable=False),  # another answer to the same slot came first
    _maybe("answer_group"),  # answers of a study with the same number share a hidden model; NULL: by itself
    sqlite_with_rowid=False,
)
sa.Index(
    "mixsense_answers_slot",  # the database itself refuses a second answer that counts
    answers.c.study,
    answers.c.round,
    answers.c.slot,
    unique=True,
    sqlite_where=sa.not_(answers.c.surplus),
    postgresql_where=sa.not_(answers.c.surplus),
)

ends = _table(
    "mixsense_ends",
    _text("status"),  # that of the result, or "failed"
    _text("result"),  # the Recovery as JSON, or the name and the message of the error
)

unconfirmed = _table(
    "mixsense_unconfirmed",  # runs whose answers may still turn out to be wrong; removed when their oracle was closed
    _key("run"),  # random
    sqlite_with_rowid=False,
)

TABLES_OF_A_STUDY = (
    *(unconfirmed, computing, salts, ends, answers, leases, loose, tickets, closed, queries, rounds, studies),
)
"""Every table with rows of a study."""


def of_study(study: int, table: sa.Table, *conditions: Any) -> sa.Select[Any]:
    """Return the statement that selects the rows of a study."""
    return sa.select(table).where(table.c.study == study, *conditions)
