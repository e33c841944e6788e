"""What a host is made from, and what it is."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final, Protocol, TypeVar
from urllib.parse import urlsplit

import msgspec

from chatd.core.errors import InvalidRequest, Validation
from chatd.core.failure import FailureSignals, Fault, classify
from chatd.core.model import ModelRequest
from chatd.core.provider_kind import ProviderKind
from chatd.core.secret import Secret
from chatd.providers.protocols.protocol import VendorProtocol
from chatd.providers.stream import Framing, ModelCallFailed
from chatd.providers.transport import OutboundRequest

_NO_DATE: Final = datetime.min.replace(tzinfo=UTC)  # for failures without headers, in which no date is compared


class ProviderAccess(msgspec.Struct, frozen=True):
    """A configured provider. `base_url` is empty for the vendor's own; `options` is JSON, read by its kind of host."""

    kind: ProviderKind
    name: str  # empty before it has one
    base_url: str = ""
    api_key: Secret | None = None
    options: str = "{}"

    @property
    def called(self) -> str:
        """As within a sentence."""
        return f"the provider {self.name}" if self.name else "the new provider"

    @property
    def subject(self) -> str:
        """As at the beginning of one."""
        return f"T{self.called[1:]}"

    def __repr__(self) -> str:
        return f"ProviderAccess({self.kind.value!r}, {self.name!r}, {self.base_url!r})"  # options may hold keys too


class Host(Protocol):
    """Turns a request into one that is addressed and signed.

    Raises InvalidRequest when something is not configured, ModelCallFailed when whoever gives out credentials can't be
    asked now.
    """

    @property
    def framing(self) -> Callable[[], Framing]: ...

    def protocol(self, model: str) -> VendorProtocol:
        """Some hosts speak several, by model."""
        ...

    async def prepare(self, request: ModelRequest) -> OutboundRequest: ...


def required_key(access: ProviderAccess) -> str:
    if access.api_key is None or not access.api_key.reveal():
        raise InvalidRequest(f"{access.subject} has no API key.", validations=[Validation("api_key", "missing")])
    return access.api_key.reveal()


def required_url(access: ProviderAccess) -> str:
    if not access.base_url:
        raise InvalidRequest(f"{access.subject} needs an address.", validations=[Validation("base_url", "missing")])
    return access.base_url.rstrip("/")


def not_installed(access: ProviderAccess, package: str) -> InvalidRequest:
    return InvalidRequest(
        f"{access.subject} needs the package {package}, which is not installed.",
        detail=f"Install it where chatd runs: pip install {package}",
    )


def unreachable(access: ProviderAccess, error: Exception) -> ModelCallFailed:
    """The service that gives out credentials could not be asked; it may well answer a moment later."""
    signals = FailureSignals(fault=Fault.CONNECT_FAILED, provider=access.name, text=str(error))
    return ModelCallFailed(classify(signals, _NO_DATE))


def with_path(base_url: str, path: str) -> str:
    """The base URL without a slash at its end; one that is only a server gets the path that the vendor's own has."""
    url = base_url.rstrip("/")
    return url if urlsplit(url).path else url + path


Options = TypeVar("Options")


def read_options(access: ProviderAccess, kind: type[Options]) -> Options:
    try:
        return msgspec.json.decode(access.options, type=kind)
    except (msgspec.ValidationError, msgspec.DecodeError) as error:
        raise InvalidRequest(
            f"The options of {access.called} can't be read.", validations=[Validation("options", str(error))]
        ) from error


def json_headers(**more: str) -> dict[str, str]:
    return {"Content-Type": "application/json", **more}
