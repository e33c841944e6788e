"""The kinds of model providers that chatd can talk to."""

from enum import StrEnum


class ProviderKind(StrEnum):
    """Named as in the database and on the wire."""

    ANTHROPIC = "anthropic"
    OPENAI = "openai"
    AZURE = "azure"
    BEDROCK = "bedrock"
    GOOGLE = "google"
    VERTEX = "vertex"
    OPENAI_COMPAT = "openai-compat"
    OPENROUTER = "openrouter"
    VERCEL = "vercel"
