"""How often a login may fail before it must wait: by account and address together, by address, by account."""

import hashlib
from datetime import timedelta
from typing import Final

import msgspec

FORGET_AFTER: Final = timedelta(hours=24)  # a day without a failure clears the count
LONGEST_PAUSE: Final = timedelta(minutes=15)  # slow enough to stop guessing, short enough to wait out

FREE_PER_PAIR: Final = 5  # a person who mistypes
FREE_PER_ADDRESS: Final = 30  # an office behind one address
FREE_PER_ACCOUNT: Final = 100  # high, or anyone could lock anyone out


class LoginSubjects(msgspec.Struct, frozen=True):
    """What one login attempt counts against."""

    pair: str
    address: str
    account: str

    @property
    def all(self) -> list[str]:
        return [self.pair, self.address, self.account]

    @property
    def free_failures(self) -> list[int]:
        return [FREE_PER_PAIR, FREE_PER_ADDRESS, FREE_PER_ACCOUNT]

    @property
    def cleared_by_success(self) -> list[str]:
        return [self.pair, self.account]


def login_subjects(login: str, address: str) -> LoginSubjects:
    """The account is hashed: the table must not become a list of what people typed into the name field."""
    account = hashlib.sha256(login.strip().lower().encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return LoginSubjects(f"pair:{account}:{address}", f"address:{address}", f"account:{account}")
