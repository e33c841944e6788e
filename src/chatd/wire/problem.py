"""The one shape of every error that a client sees."""

import msgspec

from chatd.core.errors import Validation


class Problem(msgspec.Struct, frozen=True, omit_defaults=True):
    """`message` and `detail` are for people, `validations` name wrong fields; code reads the status."""

    message: str
    detail: str | None = None
    validations: tuple[Validation, ...] = ()
