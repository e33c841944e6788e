"""A browser's subscription to push messages, as its page sends it. The names are those of the reference."""

from typing import Annotated, Final

import msgspec
from msgspec import Meta

ENDPOINT_LONGEST: Final = 2048  # characters; those of the known push services have 200 to 700
_KEY_LONGEST: Final = 128  # characters; the longer of the two keys has 88

Endpoint = Annotated[
    str, Meta(min_length=1, max_length=ENDPOINT_LONGEST, description="`endpoint` of the subscription.")
]
_Key = Annotated[str, Meta(min_length=1, max_length=_KEY_LONGEST, description="Base64url.")]


class CreatePushSubscription(msgspec.Struct, forbid_unknown_fields=True):
    """`keys` of a PushSubscription are `auth_key` and `p256dh_key` here."""

    endpoint: Endpoint
    auth_key: _Key
    p256dh_key: _Key


class DeletePushSubscription(msgspec.Struct, forbid_unknown_fields=True):
    endpoint: Endpoint
