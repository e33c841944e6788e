"""Names of workspaces."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatd.core.workspaces.lifetime import lifetime
from chatd.core.workspaces.names import another_name, is_name, workspace_name


@pytest.mark.parametrize(
    ("asked", "template", "name"),
    [
        ("mine", "local", "mine"),
        ("", "local", "local-ab12"),
        ("My Fix!", "local", "my-fix-ab12"),
        ("---", "local", "local-ab12"),
        ("日本", "日本", "workspace-ab12"),
        ("a" * 40, "local", "a" * 27 + "-ab12"),
    ],
)
def test_a_name_is_as_asked_for_or_made_of_it(asked: str, template: str, name: str):
    assert workspace_name(asked, template, "ab12") == name


@given(st.text(), st.text())
def test_every_name_that_is_made_is_one(asked: str, template: str):
    name = workspace_name(asked, template, "00ff")

    assert is_name(name)
    assert is_name(another_name(name, "00ff"))


@pytest.mark.parametrize(
    ("own", "default", "allows", "hours"), [(None, 1, True, 1), (2, 1, True, 2), (0, 1, True, None), (2, 1, False, 1)]
)
def test_whose_ttl_counts(own: int | None, default: int, allows: bool, hours: int | None):
    found = lifetime(
        ttl_ms=None if own is None else own * 3_600_000,
        default_ttl_ms=default * 3_600_000,
        allows_user_autostop=allows,
        max_lifetime_ms=0,
    )

    assert (found.ttl and found.ttl.total_seconds() / 3600) == hours
    assert found.longest is None
