"""The list of hosts to which a workspace may connect."""

import pytest

from chatd.core.workspaces.egress import HostRule, is_listed, parse_rule


@pytest.mark.parametrize(
    ("entry", "host", "port", "listed"),
    [
        ("example.org", "example.org", 443, True),
        ("example.org", "EXAMPLE.org.", 80, True),
        ("example.org", "example.org", 22, False),
        ("example.org", "www.example.org", 443, False),
        ("example.org", "example.org.evil.net", 443, False),
        ("*.example.org", "www.example.org", 443, True),
        ("*.example.org", "a.b.example.org", 443, True),
        ("*.example.org", "example.org", 443, False),
        ("*.example.org", ".example.org", 443, False),
        ("*.example.org", "badexample.org", 443, False),
        ("example.org:8080", "example.org", 8080, True),
        ("example.org:8080", "example.org", 443, False),
        ("*", "anything.at.all", 443, True),
        ("*", "anything.at.all", 25, False),
        ("*:22", "anything.at.all", 22, True),
        ("1.2.3.4", "1.2.3.4", 443, True),
        ("[2001:db8::1]:8443", "[2001:DB8::1]", 8443, True),
    ],
)
def test_an_entry_has_the_hosts_and_ports_that_it_says(entry: str, host: str, port: int, listed: bool):
    assert is_listed([parse_rule(entry)], host, port) is listed


@pytest.mark.parametrize(
    "entry",
    ["", " ", "http://example.org", "example.org/", "*example.org", "a.*.org", "example.org:0", "x:99999", "a b"],
)
def test_what_is_no_host_is_refused(entry: str):
    with pytest.raises(ValueError, match=r"is not a host|has no port"):
        parse_rule(entry)


def test_an_empty_list_has_no_host():
    assert not is_listed([], "example.org", 443)
    assert parse_rule(" Example.ORG. ") == HostRule("example.org")
