"""Settings as people read them: values with secrets masked, and the page of documentation."""

from collections.abc import Sequence
from typing import cast
from urllib.parse import urlsplit

from chatd.core.secret import Secret
from chatd.observe.redact import DOTS
from chatd.server.setting_sources import SettingSpec

_HEAD = """\
# Settings

<!-- Generated from src/chatd/server/settings.py by `make gen`. -->

A setting is taken from the first of these that has it:

1. a flag of `chatd serve`: `--port 8080`;
2. the environment: `CHATD_PORT=8080`;
3. a TOML file: `port = 8080`. It is the one named by `--config` or `CHATD_CONFIG`, else `./chatd.toml`,
   else `chatd.toml` in the data directory;
4. the default.

Lists are written with commas, in TOML as arrays. Relative paths start from the current folder, in a TOML file
from the file's. Unknown names and unfit values are refused at the start, all at once. `chatd settings` prints
what is in force and where it came from, with secrets masked. Settings without a flag are secrets that do not
belong on a command line; nor does a URL with a password in it, which a flag refuses.
"""


def settings_page(specs: Sequence[SettingSpec]) -> str:
    """Markdown with a section for each setting."""
    return _HEAD + "".join(_section(spec) for spec in specs)


def show_value(value: object) -> str:
    """The value for a person. Of a secret URL the host stays visible, of other secrets nothing."""
    match value:
        case None | ():
            return "none"
        case Secret():
            return _show_secret(value.reveal())
        case tuple():
            return ", ".join(show_value(item) for item in cast("tuple[object, ...]", value))
        case _:
            return str(value)


def _section(spec: SettingSpec) -> str:
    names = [f"`{name}`" for name in (spec.env, spec.flag) if name]
    if spec.file_key != spec.name:
        names.append(f"in the file `{spec.file_key}`")
    secret = " A secret." if spec.secret else ""
    return (
        f"\n## {spec.name}\n\n{spec.help}{secret}\n\n"
        f"- names: {', '.join(names)}\n- value: {spec.allowed}\n- default: {spec.default_text}\n"
    )


def _show_secret(text: str) -> str:
    shown: list[str] = []
    for one in text.split(","):
        try:
            parts = urlsplit(one)
        except ValueError:
            return DOTS
        who, at, where = parts.netloc.rpartition("@")
        # A password with a raw / or # ends up in other parts: then nothing is sure, and nothing is shown.
        if not parts.netloc or "@" in who + parts.path + parts.query + parts.fragment:
            return DOTS
        mask, query = f"{DOTS}@" if at else "", f"?{DOTS}" if parts.query else ""
        shown.append(f"{parts.scheme}://{mask}{where}{parts.path}{query}")
    return ",".join(shown)
