"""The words by which a failure is known when nothing better is, each with a text in which they occur.

These are the last resort: most of what arrives as bare text comes from proxies, gateways and libraries. Phrases are in
lower case and are searched for as they stand; a test sends each example through the classifier.
"""

import re
from typing import Final

import msgspec


class Phrase(msgspec.Struct, frozen=True):
    """`is_word`: not as part of a longer word."""

    words: str
    example: str
    is_word: bool = False

    def is_in(self, lowered: str) -> bool:
        if self.words not in lowered:
            return False
        return not self.is_word or bool(re.search(rf"(?<![a-z0-9]){re.escape(self.words)}(?![a-z0-9])", lowered))


INTERRUPTED: Final = (
    Phrase("chat interrupted", "generate: chat interrupted"),
    Phrase("request interrupted", "request interrupted by user"),
    Phrase("operation interrupted", "operation interrupted"),
)
# Items that belong together were sent apart. Sending the same again can't help, and the ids in such texts help nobody.
HISTORY: Final = (
    Phrase("no tool output found for function call", "No tool output found for function call call_Xk2."),
    Phrase(
        "without its required", "Item 'rs_01' of type 'reasoning' was provided without its required following item."
    ),
    Phrase(
        "were found without `tool_result` blocks", "messages.2: `tool_use` ids were found without `tool_result` blocks"
    ),
    Phrase(
        "unexpected `tool_use_id` found", "messages.4.content.0: unexpected `tool_use_id` found in `tool_result` blocks"
    ),
    Phrase(
        "must be followed by tool messages", "An assistant message with 'tool_calls' must be followed by tool messages"
    ),
)
STREAM_CLOSED: Final = (
    Phrase("stream ended before message_stop", "anthropic stream ended before message_stop"),
    Phrase("stream ended before terminal event", "openai responses stream ended before terminal event"),
    Phrase("stream closed before", "stream closed before response.completed"),
    Phrase(
        "incomplete chunked read",
        "peer closed connection without sending complete message body (incomplete chunked read)",
    ),
    Phrase("response payload is not completed", "Response payload is not completed"),
    Phrase("without sending complete message body", "peer closed connection without sending complete message body"),
)
OVERLOADED: Final = (
    Phrase("overloaded", "The model is overloaded. Please try again later."),
    Phrase("over capacity", "This model is currently over capacity."),
    Phrase("experiencing high demand", "The system is currently experiencing high demand."),
)
# These say the same under any status that a limit may have: nothing but money or the next month helps.
SPENT: Final = (
    Phrase("insufficient_quota", "stream error: insufficient_quota"),
    Phrase("ai budget of", "You have used up your AI budget of 20 USD."),
    Phrase("specified api usage limits", "You have reached your specified API usage limits."),
)
USAGE_LIMIT: Final = (
    Phrase("quota", "You exceeded your current quota."),
    Phrase("billing", "This operation needs billing to be enabled on the project."),
    Phrase("payment required", "Payment Required"),
    Phrase("credit balance is too low", "Your credit balance is too low to access the API."),
    Phrase("insufficient credits", "Insufficient credits. Add more to go on."),
    Phrase("insufficient balance", "Insufficient Balance"),
    Phrase("key limit exceeded", "Key limit exceeded (monthly limit)."),
)
CONTENT_FILTER: Final = (
    Phrase(
        "content management policy",
        "The response was filtered because the prompt triggered our content management policy.",
    ),
    Phrase("content filtering policy", "Output blocked by content filtering policy"),
    Phrase("requires moderation", "The chosen model requires moderation and the input was flagged."),
    Phrase("flagged as potentially violating", "The prompt was flagged as potentially violating our usage policy."),
)
AUTH: Final = (
    Phrase("authentication", "Authentication Fails (no such user)"),
    Phrase("unauthorized", "Unauthorized"),
    Phrase("unauthenticated", "Request is unauthenticated."),
    Phrase("invalid api key", "Invalid API Key"),
    Phrase("invalid_api_key", "failed: invalid_api_key"),
    Phrase("incorrect api key", "Incorrect API key provided."),
    Phrase("api key not valid", "API key not valid. Please pass a valid API key."),
    Phrase("invalid x-api-key", "invalid x-api-key"),
)
CONTEXT_TOO_LONG: Final = (
    Phrase("context length exceeded", "context length exceeded"),
    Phrase("context_length_exceeded", "stream failed: context_length_exceeded"),
    Phrase("context_exceeded", "error: context_exceeded"),
    Phrase("maximum context length", "This model's maximum context length is 8192 tokens."),
    Phrase("exceeds the context window", "Your input exceeds the context window of this model."),
    Phrase("exceed context limit", "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000"),
    Phrase("prompt is too long", "prompt is too long: 210000 tokens > 200000 maximum"),
    Phrase("input is too long", "Input is too long for requested model."),
    Phrase("maximum prompt length", "This model's maximum prompt length is 131072 but the request has 537812 tokens."),
    Phrase("reduce the length of the messages", "Please reduce the length of the messages or completion."),
    Phrase("available context size", "the request exceeds the available context size, try increasing it"),
    Phrase("context window exceeds limit", "invalid params, context window exceeds limit"),
    Phrase("exceeded model token limit", "Your request exceeded model token limit: 262144"),
    Phrase(
        "maximum number of tokens allowed",
        "The input token count exceeds the maximum number of tokens allowed (1048576).",
    ),
)
CONFIG: Final = (
    Phrase("invalid model", "invalid model name passed in model=gpt-9"),
    Phrase("model not found", "model not found"),
    Phrase("model_not_found", "upstream said model_not_found"),
    Phrase("unsupported model", "unsupported model: gpt-9"),
    Phrase("malformed config", "malformed configuration of the provider"),
    Phrase(
        "does not exist or you do not have access", "The model gpt-9 does not exist or you do not have access to it."
    ),
)
NOT_AN_API: Final = (
    Phrase("invalid url (", "Invalid URL (POST /v1/v1/chat/completions)"),  # of a path; images have URLs too
)
CREDENTIALS: Final = (
    Phrase("resolve aws credentials", "failed to resolve AWS credentials"),
    Phrase("unable to locate credentials", "Unable to locate credentials"),
    Phrase("default credentials were not found", "Your default credentials were not found."),
)
FORBIDDEN: Final = (
    Phrase("forbidden", "Forbidden"),
    Phrase("permission denied", "Permission denied on resource project demo."),
)
RATE_LIMIT: Final = (
    Phrase("rate limit", "Rate limit reached for requests"),
    Phrase("rate-limit", "the model is temporarily rate-limited upstream"),
    Phrase("rate_limit", "got rate_limit_exceeded from upstream"),
    Phrase("ratelimit", "RateLimitReached: retry later"),
    Phrase("too many requests", "Too Many Requests"),
    Phrase("throttl", "Request was throttled. Try again."),
)
NO_TRUST: Final = (
    Phrase(
        "certificate verify failed",
        "[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: self-signed certificate",
    ),
    Phrase("certificate signed by unknown authority", "x509: certificate signed by unknown authority"),
)
UNAVAILABLE: Final = (
    Phrase("goaway", "http2: server sent GOAWAY and closed the connection; ErrCode=NO_ERROR"),
    Phrase("force closed", "http2: client connection force closed via ClientConn.Close"),
    Phrase("connection reset", "read tcp 10.0.0.7:41822->10.0.0.9:443: read: connection reset by peer"),
    Phrase("use of closed", "write tcp 10.0.0.7:41822: use of closed network connection"),
    Phrase("closing transport", "Cannot write to closing transport"),
    Phrase("server disconnected", "Server disconnected"),
    Phrase("remote end closed", "Remote end closed connection without response"),
    Phrase("connection closed", "Connection closed"),
    Phrase("connection aborted", "Connection aborted."),
    Phrase("connection refused", "connect: connection refused"),
    Phrase("connect call failed", "[Errno 111] Connect call failed ('10.0.0.9', 443)"),
    Phrase("client conn", "http2: client conn not usable"),
    Phrase("broken pipe", "[Errno 32] Broken pipe"),
    Phrase("eof", "unexpected EOF", is_word=True),
    Phrase("stream closed", "http2: stream closed"),
    Phrase("no_error; received from peer", "stream error: stream ID 5; NO_ERROR; received from peer"),
    Phrase("internal_error; received from peer", "stream error: stream ID 7; INTERNAL_ERROR; received from peer"),
    Phrase("refused_stream; received from peer", "stream error: stream ID 9; REFUSED_STREAM; received from peer"),
    Phrase("cancel; received from peer", "stream error: stream ID 429; CANCEL; received from peer"),
    Phrase("enhance_your_calm; received from peer", "stream error: stream ID 3; ENHANCE_YOUR_CALM; received from peer"),
    Phrase("deadline exceeded", "context deadline exceeded (Client.Timeout exceeded while awaiting headers)"),
    Phrase("timeout", "Gateway Timeout"),
    Phrase("timed out", "The upstream request timed out."),
    Phrase("unavailable", "Service Unavailable"),
    Phrase("bad gateway", "Bad Gateway"),
    Phrase("name resolution", "Temporary failure in name resolution"),
)
SERVER_ERROR: Final = (
    Phrase("server error", "Internal Server Error"),
    Phrase("server had an error", "The server had an error while processing your request."),
)
CANCELLED: Final = (
    Phrase("context canceled", "context canceled"),
    Phrase("request cancelled", "request cancelled"),
    Phrase("operation was canceled", "The operation was canceled."),
)
