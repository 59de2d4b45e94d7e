"""Who answers, as far as that may be known: a token of the respondent's own makes a group number, one way only."""

from __future__ import annotations

import hashlib
import secrets

from mixsense.studies.storage.access import Misshapen, OfStudy
from mixsense.studies.storage.tables import ends, sa, salts

SALT_BYTES = 32
GROUP_BITS = 62
"""Groups are numbers below 2 to this, which every database holds; two respondents of a billion meet once in 10."""
COST = {"n": 2**12, "r": 8, "p": 1}
"""Work of scrypt: 4 MB and about 10 ms a token. A matter of taste: whoever has the running study's database and guesses
at tokens (telephone numbers, say) needs CPU-years for 10¹⁰ of them, and a request hardly notices."""


class People(OfStudy):
    """The respondents of one study. Stored is a random salt, which goes when the study ends, and no token."""

    def group_of(self, token: str) -> int | None:
        """Return the number of the answers of whoever has this token; None in a study that has ended."""
        salt = self._salt()
        if salt is None:
            return None
        digest = hashlib.scrypt(token.encode(), salt=salt, dklen=8, **COST)
        return int.from_bytes(digest) >> 64 - GROUP_BITS

    def _salt(self) -> bytes | None:
        with self._access.reading() as connection:
            if self._any(connection, ends):
                return None
            found = connection.execute(self._of(salts)).first()
        if found is None:
            with self._access.writing() as connection:
                found = connection.execute(self._of(salts)).first()  # another process may have been faster
                if found is None and not self._any(connection, ends):
                    row = {"study": self._study, "salt": secrets.token_bytes(SALT_BYTES)}
                    found = connection.execute(sa.insert(salts).returning(salts), row).first()
        if found is None:
            return None
        with self._access.undamaged():
            if len(found.salt) != SALT_BYTES:
                raise Misshapen(f"the salt has not {SALT_BYTES} bytes")
            return bytes(found.salt)
