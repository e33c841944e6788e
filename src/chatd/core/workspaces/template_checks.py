"""What a template may be called and say: all errors are named at once."""

from typing import Final

from chatd.core.errors import InvalidRequest, Validation
from chatd.core.workspaces.names import is_name

# As the table's checks.
NAME_PATTERN: Final = r"^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$"
DISPLAY_NAME_LONGEST: Final = 128
DESCRIPTION_LONGEST: Final = 1024
ICON_LONGEST: Final = 256
README_MOST_BYTES: Final = 65_536
DEPRECATED_LONGEST: Final = 1024
CONFIG_MOST_BYTES: Final = 65_536  # of JSON: a hundred mounts and variables take a tenth of it
SHORTEST_MS: Final = 60_000  # workspaces are looked at every half minute, so that less would not be kept to
LONGEST_MS: Final = 365 * 24 * 3_600_000  # a year; who wants more wants no end, which is 0

NAME_RULE: Final = "1 to 32 lower-case letters, digits and dashes, not at the ends"
SPAN_RULE: Final = "0 for none, or from one minute to a year"


def check_template(*, name: str, display_name: str, description: str, icon: str, readme: str, deprecated: str) -> None:
    """Raises InvalidRequest."""
    lengths = (
        ("display_name", display_name, DISPLAY_NAME_LONGEST),
        ("description", description, DESCRIPTION_LONGEST),
        ("icon", icon, ICON_LONGEST),
        ("deprecated", deprecated, DEPRECATED_LONGEST),
    )
    wrong = [] if is_name(name) else [Validation("name", NAME_RULE)]
    wrong += [Validation(field, f"at most {most} characters") for field, text, most in lengths if len(text) > most]
    if len(readme.encode("utf-8", "replace")) > README_MOST_BYTES:
        wrong.append(Validation("readme", f"at most {README_MOST_BYTES} bytes"))
    texts = {"readme": readme, **{field: text for field, text, _ in lengths}}
    wrong += [Validation(field, "no NUL characters") for field, text in texts.items() if "\0" in text]
    if wrong:
        raise InvalidRequest(f"Check {', '.join(dict.fromkeys(each.field for each in wrong))}.", validations=wrong)


def check_workspace(*, name: str | None, ttl_ms: int | None, allows_ttl: bool) -> None:
    """What someone asks for; None is what is not asked for. Raises InvalidRequest."""
    wrong = [] if name is None or is_name(name) else [Validation("name", NAME_RULE)]
    if ttl_ms is not None and not allows_ttl:
        wrong.append(Validation("ttl_ms", "left out, or null: the template does not let you choose it"))
    elif ttl_ms is not None and not is_span(ttl_ms):
        wrong.append(Validation("ttl_ms", SPAN_RULE))
    if wrong:
        raise InvalidRequest(f"Check {', '.join(each.field for each in wrong)}.", validations=wrong)


def check_spans(**spans_ms: int) -> None:
    """Raises InvalidRequest."""
    wrong = [Validation(field, SPAN_RULE) for field, span in spans_ms.items() if not is_span(span)]
    if wrong:
        raise InvalidRequest(f"Check {', '.join(each.field for each in wrong)}.", validations=wrong)


def is_span(milliseconds: int) -> bool:
    return milliseconds == 0 or SHORTEST_MS <= milliseconds <= LONGEST_MS
