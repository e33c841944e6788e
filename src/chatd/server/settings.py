"""The settings of a server: one declaration each, from which parsing, help, printing and documentation follow.

Weakest first: defaults, a TOML file, the environment, flags.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final, Literal, cast, get_args, get_type_hints
from urllib.parse import urlsplit

import msgspec

from chatd.core.model_options import MOST_SECONDS
from chatd.core.secret import Secret
from chatd.server.middleware.body_limit import BODY_LIMIT
from chatd.server.middleware.host import LOOPBACK_HOSTS
from chatd.server.setting_kinds import (
    AccountName,
    ApiKey,
    AskedHost,
    Certificates,
    Choice,
    ClampedNumber,
    Contact,
    EmailAddress,
    EncryptionKeyText,
    EngineUrl,
    FilePath,
    Folder,
    Hidden,
    Host,
    HostPattern,
    Kind,
    ListOf,
    Network,
    Password,
    Url,
    WholeNumber,
)
from chatd.server.setting_sources import SettingSpec, SettingsRefused, Sources
from chatd.server.setting_texts import settings_page, show_value

__all__ = [
    "SETTINGS",
    "LoadedSettings",
    "Setting",
    "SettingRow",
    "SettingSpec",
    "Settings",
    "SettingsRefused",
    "load_settings",
    "settings_markdown",
]

DEFAULT = "default"  # the origin of what nobody chose
_ANY_ADDRESS = ("0.0.0.0", "::", "")  # noqa: S104  compared with, not listened on
_HTTP = ("http", "https")
_DATA_DIR = Path(".chatd")
_MOST_INT32 = 2**31 - 1  # the largest number that the database counts rows with
_MOST_CHATS = 1_000_000  # more than one deployment runs at once


class Setting(msgspec.Struct, frozen=True):
    """What a field of `Settings` carries beside its type and default."""

    kind: Kind
    help: str
    default_text: str | None = None  # for a default that is worked out
    file_key: str | None = None  # in the TOML file, when it is not the name: in a table
    flag: bool = True  # not for what must not stand on a command line, where every user of the machine reads it


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Everything an operator can choose, checked. Secrets are `Secret`; paths are absolute."""

    host: Annotated[str, Setting(Host(), "The address to listen on; 0.0.0.0 is every address of the machine.")] = (
        "127.0.0.1"
    )
    port: Annotated[int, Setting(WholeNumber(0, 65535), "The port to listen on; 0 takes any free one.")] = 7080
    public_url: Annotated[
        str | None,
        Setting(
            Url(_HTTP, path=False),
            "Where people find this server, as they type it.",
            default_text="http, with host and port",
        ),
    ] = None
    allowed_hosts: Annotated[
        tuple[str, ...],
        Setting(
            ListOf(HostPattern(), may_be_empty=False),
            "Host names that requests may use; * allows any and gives up the protection against DNS rebinding.",
            default_text="the host of public_url, localhost, 127.0.0.1, [::1]",
        ),
    ] = ()
    trusted_proxies: Annotated[
        tuple[str, ...],
        Setting(ListOf(Network()), "Proxies whose X-Forwarded-For and X-Forwarded-Proto are believed."),
    ] = ()
    data_dir: Annotated[
        Path, Setting(FilePath(), "The folder of the embedded Postgres, the key file and other local files.")
    ] = _DATA_DIR
    database_url: Annotated[
        Secret | None,
        Setting(
            Hidden(Url(("postgresql", "postgres"), credentials=True)),
            "A Postgres (15 or newer) to use.",
            default_text="an embedded Postgres in data_dir",
        ),
    ] = None
    postgres_binaries: Annotated[
        Path | None,
        Setting(
            Folder(),
            "The folder with postgres and initdb for the embedded Postgres.",
            default_text="those that came with chatd, else the system's",
        ),
    ] = None
    pool_size: Annotated[int, Setting(WholeNumber(1, 500), "Database connections of one replica.")] = 10
    hints_url: Annotated[
        Secret | None,
        Setting(
            Hidden(Url(("nats", "tls"), credentials=True, several=True)),
            "A NATS server (or several with commas) that carries hints between replicas.",
            default_text="the database carries them",
        ),
    ] = None
    replicas: Annotated[int, Setting(WholeNumber(1, 64), "Processes that share the port.")] = 1
    relay_host: Annotated[
        str,
        Setting(
            Host(),
            "The address on which other replicas ask this one for what its chats stream. The default is enough for "
            "replicas on one machine.",
        ),
    ] = "127.0.0.1"
    relay_port: Annotated[
        int,
        Setting(
            WholeNumber(0, 65535),
            "The port for that; 0 is any free one. With several replicas it is the first of as many ports.",
        ),
    ] = 0
    relay_url: Annotated[
        str | None,
        Setting(
            Url(("tls",), path=False),
            "Where other replicas are told to reach this one, such as tls://10.0.0.5:7081.",
            default_text="relay_host and the port",
        ),
    ] = None
    encryption_keys: Annotated[
        tuple[Secret, ...],
        Setting(
            ListOf(Hidden(EncryptionKeyText()), may_be_empty=False),
            "Keys for the secrets in the database; the first encrypts, all decrypt.",
            default_text="the key file in data_dir, made at the first start",
            flag=False,
        ),
    ] = ()
    bootstrap_admin_email: Annotated[
        str | None,
        Setting(EmailAddress(), "Makes this owner when there is no user yet; needs bootstrap_admin_password."),
    ] = None
    bootstrap_admin_password: Annotated[
        Secret | None, Setting(Hidden(Password()), "The password of that first owner.", flag=False)
    ] = None
    session_lifetime_hours: Annotated[int, Setting(WholeNumber(1, 8760, "hours"), "How long a login lasts.")] = 24 * 7
    token_cache_seconds: Annotated[
        int,
        Setting(
            WholeNumber(0, 300, "seconds"), "How long a checked token is believed when no replica reports a change."
        ),
    ] = 10
    requests_per_minute: Annotated[
        int,
        Setting(
            WholeNumber(0, 1_000_000),
            "Requests that one user may make in a minute; 0 is no limit, also not on the kinds of requests below.",
        ),
    ] = 1200
    inference_per_minute: Annotated[
        int,
        Setting(
            WholeNumber(0, 1_000_000),
            "Messages, new chats, edits, compactions and titles that one user may ask for in a minute; 0 is no limit.",
        ),
    ] = 120
    uploads_per_minute: Annotated[
        int, Setting(WholeNumber(0, 1_000_000), "Files that one user may upload in a minute; 0 is no limit.")
    ] = 60
    upload_bytes_per_minute: Annotated[
        int,
        Setting(WholeNumber(0, 1 << 40, "bytes"), "How much one user may upload in a minute; 0 is no limit."),
    ] = 200 * 1024 * 1024
    searches_per_minute: Annotated[
        int,
        Setting(WholeNumber(0, 1_000_000), "Searches in the text of chats for one user in a minute; 0 is no limit."),
    ] = 60
    exports_per_minute: Annotated[
        int, Setting(WholeNumber(0, 1_000_000), "Chats that one user may export in a minute; 0 is no limit.")
    ] = 20
    audit_retention_days: Annotated[
        int,
        Setting(WholeNumber(0, 36_500, "days"), "How long the audit log keeps an entry; 0 is for ever."),
    ] = 365
    body_limit: Annotated[
        int, Setting(WholeNumber(1024, 1 << 30, "bytes"), "The largest request body, uploads apart.")
    ] = BODY_LIMIT
    drain_seconds: Annotated[
        int, Setting(WholeNumber(0, 3600, "seconds"), "How long a stopping server lets requests finish.")
    ] = 30
    outbound_proxy: Annotated[
        Secret | None,
        Setting(
            Hidden(Url(_HTTP, credentials=True)),
            "The proxy for requests to model providers and other servers.",
            default_text="the variable HTTPS_PROXY, else none",
        ),
    ] = None
    outbound_no_proxy: Annotated[
        tuple[str, ...],
        Setting(
            ListOf(AskedHost()),
            "Hosts that are asked without that proxy; this machine always is.",
            default_text="the variable NO_PROXY, else none",
        ),
    ] = ()
    outbound_ca: Annotated[
        Path | None,
        Setting(Certificates(), "Certificates for those requests, trusted besides the system's.", default_text="none"),
    ] = None
    outbound_private_networks: Annotated[
        tuple[str, ...],
        Setting(
            ListOf(Network()),
            "Networks that requests may go to although they are not public, where a user gave the address: that of a "
            "push service.",
            default_text="none",
        ),
    ] = ()
    push_contact: Annotated[
        str | None,
        Setting(
            Contact(),
            "Whom push services can write to about this server; some refuse messages without a real one.",
            default_text="public_url if it is https, else webmaster at its host",
        ),
    ] = None
    model_catalogue: Annotated[
        Path | None,
        Setting(
            FilePath(allowed="a TOML file", metavar="FILE"),
            "A TOML file of models that replaces and extends the catalogue that came with chatd.",
            default_text="none",
        ),
    ] = None
    anthropic_api_key: Annotated[
        Secret | None,
        Setting(
            Hidden(ApiKey()),
            "Makes a provider with Anthropic's models when there is no provider yet; ANTHROPIC_API_KEY does too.",
            default_text="the variable ANTHROPIC_API_KEY, else none",
            flag=False,
        ),
    ] = None
    openai_api_key: Annotated[
        Secret | None,
        Setting(
            Hidden(ApiKey()),
            "Makes a provider with OpenAI's models when there is no provider yet; OPENAI_API_KEY does too.",
            default_text="the variable OPENAI_API_KEY, else none",
            flag=False,
        ),
    ] = None
    openai_base_url: Annotated[
        str | None,
        Setting(
            Url(_HTTP),
            "Where the provider is that openai_api_key makes, when it is not OpenAI itself.",
            default_text="the variable OPENAI_BASE_URL, else OpenAI's own",
        ),
    ] = None
    gemini_api_key: Annotated[
        Secret | None,
        Setting(
            Hidden(ApiKey()),
            "Makes a provider with Google's models when there is no provider yet; GEMINI_API_KEY does too.",
            default_text="the variable GEMINI_API_KEY, else none",
            flag=False,
        ),
    ] = None
    demo_model: Annotated[
        Literal["auto", "off"],
        Setting(
            Choice(("auto", "off")),
            "A model for trying chatd out, on this machine: auto sets it up when there is no provider and no key, off "
            "never does.",
        ),
    ] = "auto"
    local_workspaces: Annotated[
        Literal["confined", "unconfined", "off"],
        Setting(
            Choice(("confined", "unconfined", "off")),
            "Workspaces on this machine: confined by bubblewrap; unconfined, where commands run with the server's own "
            "rights; or off for none.",
        ),
    ] = "confined"
    workspace_user: Annotated[
        str | None,
        Setting(
            AccountName(),
            "The user of this machine that runs local workspaces where the server is root.",
            default_text="chatd-workspace, which is made",
        ),
    ] = None
    workspace_private_networks: Annotated[
        tuple[str, ...],
        Setting(
            ListOf(Network()),
            "Networks that local workspaces may reach although they are not public, if their template's list has the "
            "host.",
            default_text="none",
        ),
    ] = ()
    docker_url: Annotated[
        str | None,
        Setting(
            EngineUrl(),
            "An engine with Docker's API that makes workspaces as containers. Over tcp it is not encrypted.",
            default_text="none: there are no such workspaces",
        ),
    ] = None
    docker_connect: Annotated[
        Literal["socket", "port"],
        Setting(
            Choice(("socket", "port")),
            "How agents in containers are reached: by a socket in a folder of this machine, or by a port that the "
            "engine publishes, which all replicas can reach.",
        ),
    ] = "socket"
    docker_publish_on: Annotated[
        str,
        Setting(Host(), "With docker_connect port: the address of the engine's machine on which ports are published."),
    ] = "127.0.0.1"
    docker_reach_at: Annotated[
        str | None,
        Setting(
            Host(),
            "With docker_connect port: where replicas reach these ports.",
            default_text="docker_publish_on",
        ),
    ] = None
    workspaces_per_user: Annotated[
        int,
        Setting(
            WholeNumber(0, 100_000, "workspaces"),
            "How many workspaces one user may have, deleted ones aside; 0 sets no limit.",
        ),
    ] = 20
    workspace_upload_limit: Annotated[
        int,
        Setting(WholeNumber(1, 1 << 40, "bytes"), "The largest file that can be put into a workspace over the API."),
    ] = 100 << 20
    terminals_per_user: Annotated[
        int,
        Setting(
            WholeNumber(0, 10_000, "terminals"),
            "How many terminals one user may have open at a time, on each replica; 0 sets no limit.",
        ),
    ] = 32
    agents_at_stop: Annotated[
        Literal["end", "keep"],
        Setting(
            Choice(("end", "keep")),
            "What becomes of this machine's workspaces when its last server stops: end stops what runs in them, keep "
            "leaves it running for some minutes, for a server that comes back.",
        ),
    ] = "end"
    model_first_event_seconds: Annotated[
        int,
        Setting(
            WholeNumber(1, MOST_SECONDS, "seconds"),
            "How long to wait for a model's first sign of life, for models that say nothing else.",
        ),
    ] = 60
    model_silence_seconds: Annotated[
        int,
        Setting(
            WholeNumber(1, MOST_SECONDS, "seconds"),
            "How long a model may be silent in the middle of an answer, for models that say nothing else.",
        ),
    ] = 300
    log_format: Annotated[
        Literal["auto", "text", "json"],
        Setting(Choice(("auto", "text", "json")), "How log lines look; auto is text on a terminal, else JSON."),
    ] = "auto"
    log_level: Annotated[
        Literal["debug", "info", "warning", "error"],
        Setting(Choice(("debug", "info", "warning", "error")), "The least important lines that are logged."),
    ] = "info"
    otlp_endpoint: Annotated[
        str | None,
        Setting(
            Url(_HTTP),
            "Where a collector takes traces by OTLP over HTTP, like http://localhost:4318; needs chatd[traces].",
            default_text="no traces",
        ),
    ] = None
    chat_acquire_batch_size: Annotated[
        int,
        Setting(
            ClampedNumber(1, _MOST_INT32),
            "Chats that a replica takes at once when they wait to be run.",
            file_key="chat.acquire_batch_size",
        ),
    ] = 10
    chat_root_capacity: Annotated[
        int | None,
        Setting(
            WholeNumber(1, _MOST_CHATS),
            "Chats that may generate at the same time in the whole deployment, child chats apart.",
            default_text="no limit",
            file_key="chat.root_capacity",
        ),
    ] = None
    chat_child_capacity: Annotated[
        int | None,
        Setting(
            WholeNumber(1, _MOST_CHATS),
            "Child chats that may generate at the same time in the whole deployment.",
            default_text="no limit",
            file_key="chat.child_capacity",
        ),
    ] = None
    experiments: Annotated[
        tuple[str, ...],
        Setting(ListOf(Choice(("agents",))), "Experiments that are switched on; empty for none."),
    ] = ("agents",)


class SettingRow(msgspec.Struct, frozen=True):
    """A setting as it is printed: secrets are masked."""

    name: str
    value: str
    origin: str


class LoadedSettings(msgspec.Struct, frozen=True):
    """The settings in force; `origins` says for each name where its value came from, or why it did not."""

    settings: Settings
    origins: Mapping[str, str]

    def describe(self) -> list[SettingRow]:
        rows: list[SettingRow] = []
        for spec in SETTINGS:
            value = getattr(self.settings, spec.name)
            unset = value in (None, ()) and self.origins[spec.name].startswith(DEFAULT)
            rows.append(
                SettingRow(spec.name, spec.default_text if unset else show_value(value), self.origins[spec.name])
            )
        return rows


def load_settings(*, environ: Mapping[str, str], flags: Mapping[str, object], cwd: Path) -> LoadedSettings:
    """Settings out of a TOML file, `CHATD_*` variables and flags (by setting name, and `config` for the file).

    Reads files and nothing else of the machine. SettingsRefused names everything that is wrong, at once.
    """
    sources = Sources(SETTINGS, cwd)
    for name, (variables, tidy) in _FALLBACKS.items():
        if not environ.get(f"CHATD_{name.upper()}") and not flags.get(name):
            sources.read_fallback(environ, name, variables, tidy)
    sources.read_file(environ, flags, default_data_dir=_DATA_DIR)
    sources.read_environ(environ)
    sources.read_flags(flags)

    values: dict[str, Any] = {"data_dir": cwd / _DATA_DIR}
    origins = dict.fromkeys((spec.name for spec in SETTINGS), DEFAULT)
    origins |= {name: f"{DEFAULT} ({note})" for name, note in sources.ignored.items()}
    for given, value in sources.parsed():
        values[given.name] = value
        origins[given.name] = given.origin
    settings = _completed(Settings(**values))
    problems = [*sources.problems, *_contradictions(settings)]
    if problems:
        raise SettingsRefused(problems)
    return LoadedSettings(settings, origins)


def settings_markdown() -> str:
    """The text of docs/settings.md."""
    return settings_page(SETTINGS)


def _completed(settings: Settings) -> Settings:
    """With the defaults that follow from other settings."""
    public_url = settings.public_url.rstrip("/") if settings.public_url else None
    if public_url is None and settings.port != 0:
        host = "localhost" if settings.host in _ANY_ADDRESS else settings.host
        public_url = f"http://{f'[{host}]' if ':' in host else host}:{settings.port}"
    hosts = settings.allowed_hosts
    if not hosts:
        named = urlsplit(public_url).hostname if public_url else None
        own = [f"[{named}]" if ":" in named else named] if named else []
        hosts = tuple(dict.fromkeys([*own, *LOOPBACK_HOSTS]))
    return msgspec.structs.replace(settings, public_url=public_url, allowed_hosts=hosts)


def _contradictions(settings: Settings) -> list[str]:
    if (settings.bootstrap_admin_email is None) != (settings.bootstrap_admin_password is None):
        return ["CHATD_BOOTSTRAP_ADMIN_EMAIL and CHATD_BOOTSTRAP_ADMIN_PASSWORD: set both or neither"]
    return []


def _with_scheme(proxy: str) -> str:
    return proxy if "://" in proxy else f"http://{proxy}"


def _tidy_hosts(hosts: str) -> str:
    return ",".join(dict.fromkeys(hosts.replace(",", " ").split()))


# Variables that other programs share with us, and what they need to be settings.
_FALLBACKS: Final[Mapping[str, tuple[Sequence[str], Callable[[str], str]]]] = {
    "outbound_proxy": (("HTTPS_PROXY", "https_proxy"), _with_scheme),
    "outbound_no_proxy": (("NO_PROXY", "no_proxy"), _tidy_hosts),
    "anthropic_api_key": (("ANTHROPIC_API_KEY",), str),
    "openai_api_key": (("OPENAI_API_KEY",), str),
    "openai_base_url": (("OPENAI_BASE_URL",), str),
    "gemini_api_key": (("GEMINI_API_KEY",), str),
}


def _specs() -> tuple[SettingSpec, ...]:
    hints = get_type_hints(Settings, include_extras=True)
    specs: list[SettingSpec] = []
    for field in msgspec.structs.fields(Settings):
        of_type, setting = cast("tuple[object, Setting]", get_args(hints[field.name]))
        specs.append(
            SettingSpec(
                name=field.name,
                kind=setting.kind,
                default=field.default,
                help=setting.help,
                secret=of_type in (Secret | None, tuple[Secret, ...]),
                flag="--" + field.name.replace("_", "-") if setting.flag else None,
                default_text=setting.default_text or show_value(field.default),
                file_key=setting.file_key or field.name,
            )
        )
    return tuple(specs)


SETTINGS: tuple[SettingSpec, ...] = _specs()
