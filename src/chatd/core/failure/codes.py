"""The vendors' own codes, in lower case: what stands under `type`, `code`, `status`, `reason` or `__type` in an error.

From the documentation of Anthropic, OpenAI, Azure, Google and Bedrock, and from recorded answers.
"""

from typing import Final

USAGE_LIMIT: Final = frozenset(
    (
        "insufficient_quota",
        "billing_hard_limit_reached",
        "billing_not_active",
        "credit_balance_exhausted",
        "organization_spend_limit_exceeded",
        "project_spend_limit_exceeded",
        "billing_error",  # Anthropic
        "enforced_spend_limit_reached",
        "billing_disabled",  # Google, as the reason of a PERMISSION_DENIED
        "exceeded_current_quota_error",  # Moonshot, with 429
        "servicequotaexceededexception",  # Bedrock, with 400: a limit of the account, not of the minute
    )
)
CONTEXT_TOO_LONG: Final = frozenset(
    (
        "context_length_exceeded",
        "context_exceeded",
        "exceed_context_size_error",  # llama.cpp
    )
)
TOO_LARGE: Final = frozenset(("request_too_large",))
CONTENT_FILTER: Final = frozenset(
    (
        "content_filter",  # Azure, and as an error of compatible servers
        "responsibleaipolicyviolation",
        "content_policy_violation",
        "image_content_policy_violation",
        "invalid_prompt",  # OpenAI: the prompt was flagged
        "bio_policy",
        "misalignment_policy_violation",
        "prohibited_content",  # Gemini, and all that follow
        "safety",
        "recitation",
        "blocklist",
        "spii",
        "model_armor",
        "jailbreak",
        "image_safety",
        "image_prohibited_content",
        "image_recitation",
    )
)
MODEL: Final = frozenset(
    (
        "model_not_found",
        "unsupported_model",
        "unsupported_value",
        "unsupported_parameter",
        "deploymentnotfound",  # Azure
        "resourcenotfoundexception",  # Bedrock
        "ftuformnotfilled",  # Bedrock: the form for a vendor's models was not filled in
    )
)
AUTH: Final = frozenset(
    (
        "invalid_api_key",
        "account_deactivated",
        "authentication_error",
        "permission_error",
        "api_key_invalid",  # Google, as the reason of an INVALID_ARGUMENT
        "unauthenticated",
        "permission_denied",
        "accessdeniedexception",  # Bedrock, and all that follow
        "unrecognizedclientexception",
        "expiredtokenexception",
        "expiredtoken",
        "invalidclienttokenid",
        "signaturedoesnotmatch",
        "invalidsignatureexception",
        "incompletesignature",
        "missingauthenticationtoken",
    )
)
OVERLOADED: Final = frozenset(
    (
        "overloaded_error",
        "server_is_overloaded",
        "slow_down",
        "capacity_exceeded",  # Groq, with 498
        "service_tier_capacity_exceeded",  # Mistral, with 429
        "engine_overloaded_error",  # Moonshot, with 429
        "modelnotreadyexception",
    )
)
RATE_LIMIT: Final = frozenset(
    (
        "rate_limit_error",
        "rate_limit_exceeded",
        "too_many_requests",
        "resource_exhausted",  # Gemini says "quota" for limits of a minute too
        "throttlingexception",
        "toomanyrequestsexception",
    )
)
UNAVAILABLE: Final = frozenset(
    (
        "timeout_error",
        "unavailable",
        "deadline_exceeded",
        "serviceunavailableexception",
        "modeltimeoutexception",
    )
)
BAD_TOOL_CALL: Final = frozenset(("tool_use_failed",))
SERVER_ERROR: Final = frozenset(
    (
        "api_error",
        "server_error",
        "internal",
        "internal_error",
        "internal_server_error",
        "internalserverexception",
        "internalfailure",
        "modelerrorexception",
        "modelstreamerrorexception",
    )
)
# These say only that the request was refused; the words beside them may say why.
REFUSED: Final = frozenset(
    (
        "invalid_request_error",
        "not_found_error",
        "invalid_argument",
        "failed_precondition",
        "not_found",
        "validationexception",  # Bedrock, also for an input that is too long
    )
)
