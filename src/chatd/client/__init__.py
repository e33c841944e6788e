"""A client of chatd for Python programs: `Client`, typed events, errors by what went wrong. docs/client.md."""

from chatd.client.client import Client
from chatd.client.errors import (
    BadRequest,
    Missing,
    NotAllowed,
    RequestRefused,
    ServerFailed,
    SignInNeeded,
    TooLong,
    TooMany,
    Unexpected,
    Unreachable,
    WrongState,
)

__all__ = [
    "BadRequest",
    "Client",
    "Missing",
    "NotAllowed",
    "RequestRefused",
    "ServerFailed",
    "SignInNeeded",
    "TooLong",
    "TooMany",
    "Unexpected",
    "Unreachable",
    "WrongState",
]
