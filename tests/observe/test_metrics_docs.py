"""docs/operate/metrics.md names the metrics that there are, with their labels, and no others."""

import re
from pathlib import Path

import pytest

from chatd.observe.metrics import Metrics

PAGE = (Path(__file__).parents[2] / "docs" / "operate" / "metrics.md").read_text("utf-8")
ROW = re.compile(r"^\| `(chatd_\w+)` \| (\w+) \|([^|]*)\|", re.MULTILINE)


def declared() -> dict[str, tuple[str, frozenset[str]]]:
    found: dict[str, tuple[str, frozenset[str]]] = {}
    for one in set(Metrics().registry._collector_to_names):
        name: str = getattr(one, "_name", "")
        if name.startswith("chatd_"):
            kind: str = one._type  # pyright: ignore[reportAttributeAccessIssue]
            shown = {"counter": f"{name}_total", "info": f"{name}_info"}.get(kind, name)
            labels = frozenset[str](one._labelnames)  # pyright: ignore[reportAttributeAccessIssue]
            found[shown] = (kind, labels)
    return found


def documented() -> dict[str, tuple[str, frozenset[str]]]:
    return {name: (kind, frozenset(re.findall(r"\w+", labels))) for name, kind, labels in ROW.findall(PAGE)}


@pytest.mark.behaviour("SIDE-4")
def test_every_metric_is_documented_with_its_kind_and_labels():
    metrics, written = declared(), documented()
    metrics["chatd_process_info"] = ("info", written["chatd_process_info"][1])  # its labels are values of the process

    assert written == metrics
