"""What all tests share: a Postgres database of their own, and the long ones only on request."""

import os

import pytest

pytest_plugins = ["chatd.testing.postgres", "chatd.testing.statements"]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests marked `long` run in `make test-long` only."""
    if os.environ.get("CHATD_TEST_LONG"):
        return
    long = [item for item in items if item.get_closest_marker("long")]
    if long:
        config.hook.pytest_deselected(items=long)
        items[:] = [item for item in items if item not in long]
