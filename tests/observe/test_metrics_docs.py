"""docs/operate/metrics.md names the metrics that there are, with their labels, and no others."""

import re
from pathlib import Path

import pytest
from prometheus_client.metrics import MetricWrapperBase

from chatd.observe.metrics import Metrics

PAGE = (Path(__file__).parents[2] / "docs" / "operate" / "metrics.md").read_text("utf-8")
ROW = re.compile(r"^\| `(chatd_\w+)` \| (\w+) \|([^|]*)\|", re.MULTILINE)


def declared() -> dict[str, tuple[str, frozenset[str]]]:
    metrics = Metrics()
    found = {one.name: (one.kind, frozenset(one.labels)) for one in metrics.engine.board.metrics}
    for one in set(metrics.registry._collector_to_names):
        if isinstance(one, MetricWrapperBase) and one._name.startswith("chatd_"):
            kind = str(one._type)
            shown = {"counter": f"{one._name}_total", "info": f"{one._name}_info"}.get(kind, str(one._name))
            found[shown] = (kind, frozenset(one._labelnames))
    return found


def documented() -> dict[str, tuple[str, frozenset[str]]]:
    return {name: (kind, frozenset(re.findall(r"\w+", labels))) for name, kind, labels in ROW.findall(PAGE)}


@pytest.mark.behaviour("SIDE-4")
def test_every_metric_is_documented_with_its_kind_and_labels():
    metrics, written = declared(), documented()
    metrics["chatd_process_info"] = ("info", written["chatd_process_info"][1])  # its labels are values of the process

    assert written == metrics
