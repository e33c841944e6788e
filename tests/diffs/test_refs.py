"""Which repository on which host a workspace's remote is: what is said in a workspace may be anything."""

import pytest

from chatd.diffs.refs import refs_of
from chatd.wire.agent.git import Remote, Repositories, Repository


def seen(owner: str, repository: str, host: str = "GitHub.test") -> Repositories:
    remote = Remote(name="origin", url="o", host=host, owner=owner, repository=repository)
    return Repositories(version="1", repositories=(Repository(root="/r", branch="b", remotes=(remote,)),))


@pytest.mark.parametrize("owner", ["team", "team/group/sub", "team.x", "a-b_c", "..team", "..."])
def test_a_repository_is_known_by_its_host_and_path(owner: str):
    found = refs_of(seen(owner, "project"))

    assert found is not None
    assert (found.host, found.path) == ("github.test", f"{owner}/project")


@pytest.mark.parametrize(
    ("owner", "repository"),
    [("..", "user"), ("team/..", "project"), (".", "x"), ("team", ".."), ("", ".."), ("team//x", "y"), ("/team", "x")],
)
def test_a_path_that_leads_elsewhere_on_a_host_is_on_no_host(owner: str, repository: str):
    """Else a workspace could have any address of the host's API asked with the administrator's token."""
    found = refs_of(seen(owner, repository))

    assert found is not None
    assert (found.host, found.path) == ("", "")
    assert (found.branch, found.origin) == ("b", "o")
