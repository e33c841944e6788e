"""What is known about a failed model call, before anyone says what it means.

The transport and the protocols fill in a `FailureSignals` and judge nothing; `chatd.core.failure.classify` judges.
"""

from collections.abc import Mapping
from enum import StrEnum

import msgspec


class FailureKind(StrEnum):
    """What a failure is to the person who reads it and to the retry policy. Stored and sent under these names."""

    RATE_LIMIT = "rate_limit"
    TIMEOUT = "timeout"  # unreachable, unavailable, cut off: anything that may well work a moment later
    STARTUP_TIMEOUT = "startup_timeout"
    STREAM_SILENCE_TIMEOUT = "stream_silence_timeout"
    AUTH = "auth"
    CONFIG = "config"
    OVERLOADED = "overloaded"
    USAGE_LIMIT = "usage_limit"
    CONTENT_FILTER = "content_filter"
    UNKNOWN = "unknown"


class Fault(StrEnum):
    """What the transport saw, in place of the library's exception."""

    CONNECT_FAILED = "connect_failed"  # refused or no route
    CONNECTION_RESET = "connection_reset"  # also a broken pipe and a connection lost while reading
    USE_OF_CLOSED_CONNECTION = "use_of_closed_connection"  # a pooled connection that the peer had closed
    DNS = "dns"
    TLS = "tls"  # no trust: certificate or handshake; a connection lost in the handshake is CONNECTION_RESET
    TIMED_OUT = "timed_out"  # the network's or the vendor's time was up
    OUR_DEADLINE = "our_deadline"  # our own limit on the whole attempt
    STARTUP_TIMEOUT = "startup_timeout"  # no first event in time
    STREAM_SILENCE = "stream_silence"  # events stopped coming
    STREAM_CLOSED_EARLY = "stream_closed_early"  # it ended before its terminal event
    GOAWAY = "goaway"
    HTTP2_RESET = "http2_reset"  # the peer reset the stream; `http2_code` says why
    PROTOCOL = "protocol"  # what arrived can't be read as the vendor's stream
    ADDRESS = "address"  # no URL that can be asked, or one that must not be
    PROXY = "proxy"  # the way out is closed to us
    CREDENTIALS = "credentials"  # nothing to sign the request with
    CANCELLED = "cancelled"  # by us: an interrupt or the end of the process
    CONTENT_FILTER = "content_filter"  # the finish reason says so and there is no answer; `text` may explain


class FailureSignals(msgspec.Struct, frozen=True, kw_only=True):
    """Everything is optional. Nothing here is trusted: texts and bodies are the vendor's or a proxy's."""

    fault: Fault | None = None
    http2_code: int | None = None
    status_code: int | None = None
    headers: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])  # names in any case
    body: bytes | str = b""  # of an error response or of an error event; ignored above BODY_LIMIT
    content_type: str = ""
    provider: str = ""  # the kind of provider, or the name that an operator gave it
    text: str = ""  # an error's own words, raw
    error_type: str = ""  # the vendor's codes, where a protocol has read them already
    error_code: str = ""
