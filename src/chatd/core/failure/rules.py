"""The table that says what a failure is. The first rule that matches decides; nothing else does.

Evidence is weighed in this order, and within it from the narrow to the wide:

  1. what we did ourselves: cancelled, stopped by our deadline, an answer that the vendor filtered
  2. the vendor's code, which tells an empty account from a busy minute under the same status
  3. a status that settles the matter: 3xx, 401, 402, 407, 408, 409, 413, 424, 425, 429, 498, 499, 5xx
  4. what the transport saw, unless the vendor had refused the request already
  5. words of a refusal: when a request was refused (any other 4xx, a wide code) they tell why
  6. the refusal itself
  7. words of trouble that passes, if there is nothing but words

So words never decide against a code, a status or a fault (but for 429, see words_spent), and a refused request is
never retried for its words.
"""

from typing import Final

import msgspec

from chatd.core.failure import codes, phrases
from chatd.core.failure.evidence import Evidence
from chatd.core.failure.phrases import Phrase
from chatd.core.failure.signals import FailureKind as Kind
from chatd.core.failure.signals import Fault
from chatd.core.failure.texts import Wording

_REFUSED: Final = range(400, 500)  # the statuses that find fault with the request
_HTTP2_RETRYABLE: Final = frozenset((0, 2, 7, 8, 11))  # NO_ERROR INTERNAL_ERROR REFUSED_STREAM CANCEL ENHANCE_YOUR_CALM
_TRANSPORT: Final = frozenset(
    (
        Fault.CONNECT_FAILED,
        Fault.CONNECTION_RESET,
        Fault.USE_OF_CLOSED_CONNECTION,
        Fault.DNS,
        Fault.TIMED_OUT,
        Fault.GOAWAY,
    )
)
# The vendor's words name items by ids, which help nobody.
_HISTORY_DETAIL: Final = "history_rejected: a call, a result or a reasoning item stands without the one it belongs to."


class Rule(msgspec.Struct, frozen=True):
    """What is given must all match, each by one of its members. `detail` stands in for the vendor's own words."""

    name: str
    kind: Kind
    wording: Wording
    is_retryable: bool = False
    detail: str = ""
    faults: frozenset[Fault] = frozenset()
    http2_codes: frozenset[int] = frozenset()
    codes: frozenset[str] = frozenset()
    statuses: frozenset[int] = frozenset()
    unless_refused: bool = False
    content_type: str = ""  # how it begins
    phrases: tuple[Phrase, ...] = ()
    unless_explained: bool = False

    def matches(self, evidence: Evidence) -> bool:
        return (
            (not self.faults or evidence.fault in self.faults)
            and (not self.http2_codes or evidence.http2_code in self.http2_codes)
            and (not self.codes or not self.codes.isdisjoint(evidence.codes))
            and (not self.statuses or evidence.status in self.statuses)
            and (not self.unless_refused or not _is_refused(evidence))
            and evidence.content_type.startswith(self.content_type)
            and not (self.unless_explained and evidence.is_explained)
            and (not self.phrases or any(phrase.is_in(evidence.words) for phrase in self.phrases))
        )


def _is_refused(evidence: Evidence) -> bool:
    return evidence.status in _REFUSED or not codes.REFUSED.isdisjoint(evidence.codes)


_OURS: Final = (
    Rule("cancelled", Kind.UNKNOWN, Wording.CANCELLED, faults=frozenset({Fault.CANCELLED})),
    Rule("our_deadline", Kind.TIMEOUT, Wording.OUR_DEADLINE, faults=frozenset({Fault.OUR_DEADLINE})),
    Rule("content_filter", Kind.CONTENT_FILTER, Wording.CONTENT_FILTER, faults=frozenset({Fault.CONTENT_FILTER})),
    Rule("credentials", Kind.CONFIG, Wording.CREDENTIALS, faults=frozenset({Fault.CREDENTIALS})),
)

_CODES: Final = (
    # Before the codes: a request above a whole minute's allowance comes as 413 with the code of a rate limit.
    Rule("status_too_large", Kind.CONFIG, Wording.REQUEST_TOO_LARGE, statuses=frozenset({413})),
    # The one case in which words refine a status: vendors and gateways use it, and a busy minute's code, for empty
    # accounts too.
    Rule("words_spent", Kind.USAGE_LIMIT, Wording.USAGE_LIMIT, statuses=frozenset({429}), phrases=phrases.SPENT),
    Rule("code_usage_limit", Kind.USAGE_LIMIT, Wording.USAGE_LIMIT, codes=codes.USAGE_LIMIT),
    Rule("code_context_too_long", Kind.CONFIG, Wording.CONTEXT_TOO_LONG, codes=codes.CONTEXT_TOO_LONG),
    Rule("code_too_large", Kind.CONFIG, Wording.REQUEST_TOO_LARGE, codes=codes.TOO_LARGE),
    Rule("code_content_filter", Kind.CONTENT_FILTER, Wording.CONTENT_FILTER, codes=codes.CONTENT_FILTER),
    Rule("code_model", Kind.CONFIG, Wording.CONFIG, codes=codes.MODEL),
    Rule("code_auth", Kind.AUTH, Wording.AUTH, codes=codes.AUTH),
    Rule("code_overloaded", Kind.OVERLOADED, Wording.OVERLOADED, is_retryable=True, codes=codes.OVERLOADED),
    Rule("code_rate_limit", Kind.RATE_LIMIT, Wording.RATE_LIMITED, is_retryable=True, codes=codes.RATE_LIMIT),
    Rule("code_unavailable", Kind.TIMEOUT, Wording.UNAVAILABLE, is_retryable=True, codes=codes.UNAVAILABLE),
    # The model's own words did not make a call. Asked again, it writes others.
    Rule("code_bad_tool_call", Kind.UNKNOWN, Wording.BAD_TOOL_CALL, is_retryable=True, codes=codes.BAD_TOOL_CALL),
)

_STATUSES: Final = (
    Rule("status_auth", Kind.AUTH, Wording.AUTH, statuses=frozenset({401})),
    Rule("status_usage_limit", Kind.USAGE_LIMIT, Wording.USAGE_LIMIT, statuses=frozenset({402})),
    Rule("status_proxy", Kind.CONFIG, Wording.PROXY, statuses=frozenset({407})),
    Rule("status_rate_limit", Kind.RATE_LIMIT, Wording.RATE_LIMITED, is_retryable=True, statuses=frozenset({429})),
    Rule("status_overloaded", Kind.OVERLOADED, Wording.OVERLOADED, is_retryable=True, statuses=frozenset({498, 529})),
    Rule(
        "status_unavailable",
        Kind.TIMEOUT,
        Wording.UNAVAILABLE,
        is_retryable=True,
        # 425 and 499: too early, and cancelled on Google's side; the last are Cloudflare's.
        statuses=frozenset((408, 425, 499, 502, 503, 504, *range(520, 528))),
    ),
    Rule("status_not_an_api", Kind.CONFIG, Wording.NOT_AN_API, statuses=frozenset((501, 505, 511))),
    Rule("redirected", Kind.CONFIG, Wording.NOT_AN_API, statuses=frozenset(range(300, 400))),
    # 409 and 424 (Bedrock: the model stumbled) are passing; the vendors' own clients try again.
    Rule(
        "status_server_error",
        Kind.UNKNOWN,
        Wording.UNEXPECTED,
        is_retryable=True,
        statuses=frozenset((409, 424, *range(500, 600))) - {501, 505, 511},
    ),
    Rule(
        "code_server_error",
        Kind.UNKNOWN,
        Wording.UNEXPECTED,
        is_retryable=True,
        codes=codes.SERVER_ERROR,
        unless_refused=True,
    ),
)

_FAULTS: Final = (
    Rule(
        "startup_timeout",
        Kind.STARTUP_TIMEOUT,
        Wording.NOT_STARTED,
        is_retryable=True,
        faults=frozenset({Fault.STARTUP_TIMEOUT}),
        unless_refused=True,
    ),
    Rule(
        "stream_silence",
        Kind.STREAM_SILENCE_TIMEOUT,
        Wording.SILENT,
        is_retryable=True,
        faults=frozenset({Fault.STREAM_SILENCE}),
        unless_refused=True,
    ),
    Rule(
        "stream_closed_early",
        Kind.TIMEOUT,
        Wording.STREAM_CLOSED,
        is_retryable=True,
        faults=frozenset({Fault.STREAM_CLOSED_EARLY}),
        unless_refused=True,
    ),
    Rule(
        "http2_reset",
        Kind.TIMEOUT,
        Wording.UNAVAILABLE,
        is_retryable=True,
        faults=frozenset({Fault.HTTP2_RESET}),
        http2_codes=_HTTP2_RETRYABLE,
        unless_refused=True,
    ),
    # Any other code says that one of us broke the protocol, and would again.
    Rule(
        "http2_reset_for_good", Kind.UNKNOWN, Wording.FAILED, faults=frozenset({Fault.HTTP2_RESET}), unless_refused=True
    ),
    Rule("transport", Kind.TIMEOUT, Wording.UNAVAILABLE, is_retryable=True, faults=_TRANSPORT, unless_refused=True),
    Rule("no_trust", Kind.CONFIG, Wording.NO_TRUST, faults=frozenset({Fault.TLS}), unless_refused=True),
    Rule("address", Kind.CONFIG, Wording.ADDRESS, faults=frozenset({Fault.ADDRESS}), unless_refused=True),
    Rule("proxy", Kind.CONFIG, Wording.PROXY, faults=frozenset({Fault.PROXY}), unless_refused=True),
    Rule(
        "web_page",
        Kind.CONFIG,
        Wording.NOT_AN_API,
        faults=frozenset({Fault.PROTOCOL}),
        content_type="text/html",
        unless_refused=True,
    ),
    # A server that can't stream would write, and charge for, the same whole answer at each attempt.
    Rule(
        "not_a_stream",
        Kind.CONFIG,
        Wording.NOT_AN_API,
        faults=frozenset({Fault.PROTOCOL}),
        content_type="application/json",
        unless_refused=True,
    ),
    # Bytes that were damaged or cut on the way look like this too, and no half answer is kept.
    Rule(
        "garbled",
        Kind.UNKNOWN,
        Wording.GARBLED,
        is_retryable=True,
        faults=frozenset({Fault.PROTOCOL}),
        unless_refused=True,
    ),
)

_WORDS_OF_REFUSAL: Final = (
    Rule("words_interrupted", Kind.UNKNOWN, Wording.CANCELLED, phrases=phrases.INTERRUPTED),
    Rule("words_history", Kind.UNKNOWN, Wording.HISTORY, detail=_HISTORY_DETAIL, phrases=phrases.HISTORY),
    Rule("words_usage_limit", Kind.USAGE_LIMIT, Wording.USAGE_LIMIT, phrases=phrases.SPENT + phrases.USAGE_LIMIT),
    Rule("words_content_filter", Kind.CONTENT_FILTER, Wording.CONTENT_FILTER, phrases=phrases.CONTENT_FILTER),
    Rule("words_auth", Kind.AUTH, Wording.AUTH, phrases=phrases.AUTH),
    Rule("words_context_too_long", Kind.CONFIG, Wording.CONTEXT_TOO_LONG, phrases=phrases.CONTEXT_TOO_LONG),
    Rule("words_config", Kind.CONFIG, Wording.CONFIG, phrases=phrases.CONFIG),
    Rule("words_not_an_api", Kind.CONFIG, Wording.NOT_AN_API, phrases=phrases.NOT_AN_API),
    Rule("words_credentials", Kind.CONFIG, Wording.CREDENTIALS, phrases=phrases.CREDENTIALS),
    Rule("words_no_trust", Kind.CONFIG, Wording.NO_TRUST, phrases=phrases.NO_TRUST),
    Rule("words_forbidden", Kind.AUTH, Wording.AUTH, phrases=phrases.FORBIDDEN),
)

_REFUSALS: Final = (
    Rule("forbidden", Kind.AUTH, Wording.AUTH, statuses=frozenset({403})),
    # A path that nobody serves, as of a base URL without its /v1. Of a model that is not there vendors say so.
    Rule("no_such_path", Kind.CONFIG, Wording.NOT_AN_API, statuses=frozenset((404, 405)), unless_explained=True),
    Rule("refused", Kind.CONFIG, Wording.CONFIG, statuses=frozenset((400, 404, 405, 410, 415, 422))),
    # Which are left here; the others had their turn above.
    Rule("refused_otherwise", Kind.UNKNOWN, Wording.UNEXPECTED, statuses=frozenset(_REFUSED)),
    Rule("code_refused", Kind.CONFIG, Wording.CONFIG, codes=codes.REFUSED),
)

_WORDS_OF_TROUBLE: Final = (
    Rule("words_stream_closed", Kind.TIMEOUT, Wording.STREAM_CLOSED, is_retryable=True, phrases=phrases.STREAM_CLOSED),
    Rule("words_overloaded", Kind.OVERLOADED, Wording.OVERLOADED, is_retryable=True, phrases=phrases.OVERLOADED),
    Rule("words_rate_limit", Kind.RATE_LIMIT, Wording.RATE_LIMITED, is_retryable=True, phrases=phrases.RATE_LIMIT),
    Rule("words_unavailable", Kind.TIMEOUT, Wording.UNAVAILABLE, is_retryable=True, phrases=phrases.UNAVAILABLE),
    Rule("words_server_error", Kind.UNKNOWN, Wording.UNEXPECTED, is_retryable=True, phrases=phrases.SERVER_ERROR),
)

_REST: Final = (
    Rule("words_cancelled", Kind.UNKNOWN, Wording.CANCELLED, phrases=phrases.CANCELLED),
    Rule("anything_else", Kind.UNKNOWN, Wording.FAILED),
)

RULES: Final = (*_OURS, *_CODES, *_STATUSES, *_FAULTS, *_WORDS_OF_REFUSAL, *_REFUSALS, *_WORDS_OF_TROUBLE, *_REST)


def first_match(evidence: Evidence) -> Rule:
    """The last rule matches everything."""
    return next(rule for rule in RULES if rule.matches(evidence))
