"""Where a vendor is and how it wants to be asked: address, headers, signature."""

from chatd.core.errors import InvalidRequest
from chatd.providers.hosts.access import Host, ProviderAccess, ProviderKind
from chatd.providers.hosts.anthropic import AnthropicHost
from chatd.providers.hosts.bedrock import BedrockHost
from chatd.providers.hosts.demo import DemoHost, is_demo
from chatd.providers.hosts.google import GoogleHost
from chatd.providers.hosts.openai import AzureHost, CompatibleHost, OpenAIHost
from chatd.providers.hosts.outbound import NO_PROXY, Outbound
from chatd.providers.hosts.vertex import VertexHost

__all__ = ["Host", "Outbound", "ProviderAccess", "ProviderKind", "host_of"]


def host_of(access: ProviderAccess, outbound: Outbound = NO_PROXY) -> Host:
    """Raises InvalidRequest when the provider is not configured so that it can be asked."""
    match access.kind:
        case ProviderKind.ANTHROPIC:
            return AnthropicHost(access)
        case ProviderKind.OPENAI:
            return OpenAIHost(access)
        case ProviderKind.AZURE:
            return AzureHost(access)
        case ProviderKind.GOOGLE:
            return GoogleHost(access)
        case ProviderKind.BEDROCK:
            return BedrockHost(access)
        case ProviderKind.VERTEX:
            return VertexHost(access, outbound)
        case ProviderKind.OPENAI_COMPAT if is_demo(access.base_url):
            return DemoHost(access, outbound.find_demo)
        case ProviderKind.OPENAI_COMPAT | ProviderKind.OPENROUTER | ProviderKind.VERCEL:
            return CompatibleHost(access)
        case _:
            raise InvalidRequest(f"There is no provider of type {access.kind}.")
