"""Addresses of remotes: alike for SSH and HTTPS, and never with a secret."""

import pytest

from chatd.agent.git.remotes import remote


@pytest.mark.parametrize(
    "url",
    [
        "git@github.com:owner/name.git",
        "github.com:owner/name",
        "ssh://git@github.com/owner/name.git",
        "ssh://git@github.com:22/owner/name.git/",
        "git+ssh://git@GitHub.com/owner/name",
        "https://github.com/owner/name",
        "https://github.com/owner/name.git",
        "https://user:secret@github.com/owner/name.git",
        "https://secret@github.com:443/owner/name.git?token=secret#x",
        "http://user:se@cret/@github.com/owner/name",
        "git://github.com/owner/name.git",
        "ssh://git:secret@github.com/owner/name.git",
    ],
)
def test_the_same_repository_is_the_same_however_it_is_reached(url: str):
    parsed = remote("origin", url)

    assert (parsed.host, parsed.owner, parsed.repository) == ("github.com", "owner", "name")
    assert "secret" not in parsed.url
    assert "cret" not in parsed.url


def test_groups_stay_in_the_owner_and_short_names_are_written_out():
    parsed = remote("o", "gl:group/sub/name.git", [("gl:", "git@gitlab.com:"), ("g", "https://wrong/")])

    assert (parsed.host, parsed.owner, parsed.repository) == ("gitlab.com", "group/sub", "name")


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("/srv/git/name.git", "/srv/git/name.git"),
        ("../name", "../name"),
        ("file:///srv/name.git", "file:///srv/name.git"),
        ("ext::sh -c secret", "ext::"),
        ("https://[bad/x", "https://[bad/x"),
    ],
)
def test_what_is_on_no_host_has_none(url: str, shown: str):
    parsed = remote("origin", url)

    assert (parsed.url, parsed.host, parsed.owner, parsed.repository) == (shown, "", "", "")
