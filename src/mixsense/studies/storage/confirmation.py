"""Runs whose answers are not confirmed: what asked may still show that they are wrong, until it was closed."""

from __future__ import annotations

import secrets

from mixsense.studies.storage.access import OfStudy
from mixsense.studies.storage.tables import unconfirmed

RUNS = 2**62
"""Runs are named by random numbers below this one: they tell nothing, and none is used twice."""


class Confirmation(OfStudy):
    """The runs of one study that are not confirmed. While there is one, the study certifies nothing.

    A run that was killed stays: nobody saw whether its last answers were followed by something that makes them wrong.
    """

    def begin(self) -> int:
        """Note a run, before any of its answers is stored; returns its name."""
        run = secrets.randbelow(RUNS)
        with self._access.writing() as connection:
            connection.execute(unconfirmed.insert().values(study=self._study, run=run))
        return run

    def confirm(self, run: int) -> None:
        """Forget a run: what it asked was closed, and nothing speaks against its answers."""
        with self._access.writing() as connection:
            here = unconfirmed.c.study == self._study, unconfirmed.c.run == run
            connection.execute(unconfirmed.delete().where(*here))
