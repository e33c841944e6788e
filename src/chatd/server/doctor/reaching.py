"""Whether others answer: the server itself, hints, other replicas, providers of models."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Sequence
from typing import Final, cast
from uuid import UUID

import aiohttp

from chatd.clock import Clock
from chatd.core.access import OPERATOR
from chatd.core.errors import ChatdError, NotFound, StartRefused
from chatd.minting import uuid7
from chatd.providers.hosts.demo import is_demo
from chatd.providers.network import trust
from chatd.server.doctor.findings import Finding, bad, doubtful, good
from chatd.server.providers import Providers
from chatd.server.relay.address import address_of
from chatd.server.relay.credentials import SECRET_NAME, issue, name_of
from chatd.server.relay.frames import VERSION, FrameRefused, Hello, Welcome, frame, read_told
from chatd.server.settings import Settings
from chatd.store.examine import FoundReplica
from chatd.store.hints import Gap, Hint, open_hints
from chatd.store.queries import ListProvidersRow
from chatd.store.store import Store
from chatd.wire.models import TestSavedProvider

SECONDS: Final = 5.0  # what answers at all does so in a fraction of one
_ELSEWHERE: Final = (
    "A replica runs. If it was started with options such as --port, give them here as variables (CHATD_PORT); else "
    "check CHATD_PUBLIC_URL, the proxy and the firewall."
)
_MOST_FRAME: Final = 1024  # bytes of a greeting


async def check_http(settings: Settings, replicas: Sequence[FoundReplica], clock: Clock) -> AsyncIterator[Finding]:
    """By the URL that people use, from this machine."""
    if settings.public_url is None:
        return
    runs = any(one.is_live for one in replicas)
    url = f"{settings.public_url}/readyz"
    try:
        async with (
            clock.timeout(SECONDS, timer="doctor"),
            aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=trust(settings.outbound_ca))) as http,
            http.get(url, allow_redirects=False) as answer,
        ):
            status = answer.status
    except (aiohttp.ClientConnectorCertificateError, aiohttp.ClientConnectorSSLError) as error:
        yield bad("server", f"{url}: {_why(error)}", "Renew the certificate of the proxy, or correct the URL.")
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        said = f"Nobody answers at {url} from here: {_why(error)}"
        if runs:
            yield doubtful("server", said, _ELSEWHERE)
        else:
            yield doubtful("server", said, "Start it with `chatd serve`.")
    else:
        if status == 200:
            yield good("server", f"{settings.public_url} is ready")
        else:
            yield bad("server", f"{url} answers {status}", "Its log says why; a proxy may lead elsewhere.")


def _why(error: Exception) -> str:
    """Without what the client says of itself."""
    cause = cast("Exception", getattr(error, "os_error", None) or getattr(error, "certificate_error", None) or error)
    said = cause.strerror if isinstance(cause, OSError) and not isinstance(cause, ssl.SSLError) else None
    return said or str(cause) or type(error).__name__


async def check_hints(settings: Settings, dsn: str, clock: Clock) -> AsyncIterator[Finding]:
    """One hint to ourselves."""
    by = "NATS" if settings.hints_url else "Postgres"
    url = settings.hints_url.reveal() if settings.hints_url else None
    heard = asyncio.Event()

    def receive(what: Hint | Gap) -> None:
        if isinstance(what, Hint):
            heard.set()

    try:
        async with clock.timeout(SECONDS, timer="doctor"), open_hints(url, dsn=lambda: dsn, clock=clock) as hints:
            topic = f"doctor:{uuid7(clock.now())}"
            hints.subscribe(topic, receive)
            await hints.wait_connected()
            started = clock.monotonic()
            hints.publish(topic)
            await heard.wait()
            took = (clock.monotonic() - started) * 1000
    except TimeoutError:
        advice = "Check CHATD_HINTS_URL and that the server runs." if url else "No pooler may be in between."
        yield bad("hints", f"None came back over {by} within {SECONDS:.0f} s", advice)
    except (ChatdError, OSError, ValueError) as error:
        yield bad("hints", f"{by}: {error}", "Check CHATD_HINTS_URL.")
    else:
        yield good("hints", f"Over {by}, back in {took:.1f} ms")


async def check_relay(store: Store, replicas: Sequence[FoundReplica], clock: Clock) -> AsyncIterator[Finding]:
    """Each live replica, as another one would ask it."""
    live = [one for one in replicas if one.is_live]
    if not live:
        return
    authority = await store.get_secret(name=SECRET_NAME)
    if authority is None:
        yield doubtful("relay", "Replicas have no way to know each other yet", "The next `chatd serve` makes it.")
        return
    try:
        context = issue(authority, uuid7(clock.now())).dialling
    except (StartRefused, ValueError) as error:
        yield bad("relay", f"The secret that replicas know each other by can't be used: {error}")
        return
    for one in live:
        yield await _relay_of(one, context, clock)


async def _relay_of(replica: FoundReplica, context: ssl.SSLContext, clock: Clock) -> Finding:
    if not replica.url:
        return doubtful("relay", f"{replica.host} has no address", "Its chats are not live elsewhere. Upgrade it.")
    try:
        async with clock.timeout(SECONDS, timer="doctor"):
            version = await _greeted(replica.id, replica.url, context)
    except (OSError, EOFError, TimeoutError, FrameRefused) as error:
        return bad(
            "relay",
            f"{replica.host} does not answer at {replica.url} from here: {error or type(error).__name__}",
            "Others must reach it there: check CHATD_RELAY_HOST, CHATD_RELAY_URL and the firewall.",
        )
    if version != VERSION:
        return doubtful("relay", f"{replica.url} speaks another version", "Fine during an upgrade. Finish it.")
    return good("relay", f"{replica.url} answers")


async def _greeted(id: UUID, url: str, context: ssl.SSLContext) -> int:
    host, port = address_of(url)
    reader, writer = await asyncio.open_connection(host, port, ssl=context, server_hostname=name_of(id))
    try:
        writer.write(frame(Hello(VERSION)))
        size = int.from_bytes(await reader.readexactly(4), "big")
        told = read_told(await reader.readexactly(min(size, _MOST_FRAME)))
        return told.version if isinstance(told, Welcome) else 0
    finally:
        writer.transport.abort()


async def check_providers(store: Store, providers: Providers, *, asks: bool) -> AsyncIterator[Finding]:
    """What is configured; `asks` makes one small call to each, which costs a few tokens."""
    rows = await store.list_providers()
    models = [one for one in await store.list_model_configs() if one.enabled]
    enabled = [row for row in rows if row.enabled]
    if not enabled or not any(one.provider_id in {row.id for row in enabled} for one in models):
        yield doubtful("models", "There is no model to talk to", "Add a provider and a model: docs/models.md.")
    for row in enabled:
        mine = [one.model for one in models if one.provider_id == row.id]
        named = f"{row.name} ({row.kind}): {', '.join(mine) or 'no model'}"
        if not mine:
            yield doubtful("models", named, "Add one of its models, or switch it off.")
        elif is_demo(row.base_url):
            yield good("models", f"{named}; it runs within the server")
        elif asks:
            yield await _asked(row, named, providers)
        else:
            yield good("models", f"{named}; not asked, --models does")


async def _asked(row: ListProvidersRow, named: str, providers: Providers) -> Finding:
    try:
        model, result = await providers.test(row.id, TestSavedProvider(), OPERATOR)
    except NotFound:
        return doubtful("models", f"{named}: it was deleted just now")
    except ChatdError as error:
        return bad("models", f"{named}: {error.message}", error.detail or "")
    if result.failure is not None:
        return bad("models", f"{named}: {model}: {result.failure.message}", result.failure.detail)
    return good("models", f"{named}: {model} answers after {result.first_event_ms} ms")
