"""The pure decisions of the middleware: hosts, origins, proxies, buckets, ids, limits."""

from ipaddress import ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatd.core.errors import InvalidRequest, Throttled
from chatd.server.middleware.body_limit import announced_length, limit_for
from chatd.server.middleware.host import host_allowed, host_name, pattern_name
from chatd.server.middleware.origin import origin_allowed, parse_origin
from chatd.server.middleware.proxies import find_client, parse_networks
from chatd.server.middleware.rate_limit import Bucket, Buckets, address_key, take
from chatd.server.middleware.request_id import valid_request_id
from chatd.server.middleware.security_headers import headers_for
from chatd.testing.fake_clock import FakeClock

LABEL = st.from_regex(r"[a-z]([a-z0-9\-]{0,10}[a-z0-9])?", fullmatch=True)
NAME = st.lists(LABEL, min_size=1, max_size=4).map(".".join)


@pytest.mark.parametrize(
    ("host", "name"),
    [
        ("Example.COM", "example.com"),
        ("example.com:8080", "example.com"),
        ("example.com.", "example.com"),
        ("127.0.0.1:1", "127.0.0.1"),
        ("[::1]:8080", "[::1]"),
        ("[FE80::1]", "[fe80::1]"),
        ("::1", None),
        ("", None),
        (".", None),
        ("a b", None),
        ("evil.example/x", None),
        ("user@evil.example", None),
        ("example.com:port", None),
        ("a" * 300, None),
    ],
)
def test_a_host_header_is_read_as_a_name(host: str, name: str | None):
    assert host_name(host) == name


@pytest.mark.parametrize(
    ("host", "pattern", "allowed"),
    [
        ("anything.example", "*", True),
        ("a.example.com", "*.example.com", True),
        ("a.b.example.com", "*.example.com", True),
        ("a.example.com", "*.example.com:8080", True),
        ("example.com", "*.example.com", False),
        ("evilexample.com", "*.example.com", False),
        ("example.com", "Example.com:443", True),
        ("[::1]", "::1", True),
        ("example.com.evil.example", "example.com", False),
    ],
)
def test_hosts_match_exactly_or_by_a_wildcard(host: str, pattern: str, allowed: bool):
    assert host_allowed(host, [pattern_name(pattern)]) is allowed


@given(NAME, NAME)
def test_a_host_matches_a_name_only_if_it_is_that_name(host: str, name: str):
    assert host_allowed(host_name(host) or "", [pattern_name(name)]) is (host == name)


@given(NAME, LABEL, st.integers(1, 65535))
def test_ports_and_case_do_not_matter_for_hosts(parent: str, label: str, port: int):
    assert host_allowed(host_name(f"{label}.{parent}:{port}".upper()) or "", [f"*.{parent}"])


@pytest.mark.parametrize(
    ("text", "origin"),
    [
        ("https://Example.com", "https://example.com"),
        ("https://example.com:443/path?x", "https://example.com"),
        ("http://example.com:8080", "http://example.com:8080"),
        ("ws://[::1]:80", "http://[::1]"),
        ("null", None),
        ("", None),
        ("file:///x", None),
        ("https://", None),
        ("https://user@example.com", None),
        ("http://example.com:99999", None),
        ("http://[::1", None),
    ],
)
def test_an_origin_is_compared_without_case_and_default_port(text: str, origin: str | None):
    assert parse_origin(text) == origin


@given(NAME, NAME)
def test_only_the_own_and_the_configured_origins_are_allowed(name: str, other: str):
    allowed = frozenset({"https://configured.example"})

    assert origin_allowed(f"https://{other}", own=f"https://{name}", allowed=allowed) is (
        other in (name, "configured.example")
    )
    assert not origin_allowed(f"http://{name}", own=f"https://{name}", allowed=allowed)


TRUSTED = parse_networks(["10.0.0.0/8", "::1"])


@pytest.mark.parametrize(
    ("peer", "forwarded", "client"),
    [
        ("192.0.2.1", ["198.51.100.7"], "192.0.2.1"),
        ("10.0.0.1", ["198.51.100.7"], "198.51.100.7"),
        ("10.0.0.1", ["1.1.1.1, 198.51.100.7"], "198.51.100.7"),
        ("10.0.0.1", ["198.51.100.7", "10.0.0.2"], "198.51.100.7"),
        ("10.0.0.1", ["198.51.100.7:4711, [::1]:80"], "198.51.100.7"),
        ("10.0.0.1", ["not an address"], "10.0.0.1"),
        ("10.0.0.1", [], "10.0.0.1"),
        ("10.0.0.1", ["10.0.0.3"], "10.0.0.3"),
        ("::ffff:10.0.0.1", ["2001:db8::1"], "2001:db8::1"),
        ("", ["198.51.100.7"], ""),
    ],
)
def test_the_client_is_the_nearest_address_that_is_no_proxy_of_ours(peer: str, forwarded: list[str], client: str):
    assert find_client(peer, forwarded, TRUSTED) == client


@given(st.ip_addresses(v=4).map(str), st.lists(st.text(max_size=30), max_size=5))
def test_a_stranger_can_not_choose_an_address(peer: str, forwarded: list[str]):
    trusted = [network for network in TRUSTED if ip_address(peer) not in network]

    assert find_client(peer, forwarded, trusted) == peer


@given(st.lists(st.floats(0, 100), max_size=60), st.floats(0.1, 50), st.integers(1, 20))
def test_a_bucket_never_lets_more_through_than_its_rate_and_burst(gaps: list[float], per_second: float, burst: int):
    bucket, now, let_through = Bucket(burst, 0.0), 0.0, 0
    for gap in gaps:
        now += gap
        bucket, wait_seconds = take(bucket, now=now, per_second=per_second, burst=burst)
        let_through += wait_seconds == 0
        assert 0 <= bucket.tokens <= burst

    assert let_through <= burst + now * per_second + 1e-6


@given(st.floats(0, 0.99), st.floats(0.1, 50))
def test_who_waits_as_told_is_let_through(tokens: float, per_second: float):
    bucket, wait_seconds = take(Bucket(tokens, 0.0), now=0.0, per_second=per_second, burst=5)
    _, again = take(bucket, now=wait_seconds * 1.0001, per_second=per_second, burst=5)

    assert wait_seconds > 0
    assert again == 0


async def test_buckets_are_bounded_and_fill_with_time():
    clock = FakeClock()
    buckets = Buckets(clock=clock, per_minute=60, burst=1, limit=3)
    for key in "abcde":
        buckets.charge(key)
    assert len(buckets) == 3

    with pytest.raises(Throttled) as refused:
        buckets.charge("e")
    assert refused.value.retry_after_seconds == pytest.approx(1.0)

    await clock.advance(1.0)
    buckets.charge("e")


@pytest.mark.parametrize(
    ("address", "key"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", "unknown"),
    ],
)
def test_addresses_of_one_customer_share_a_bucket(address: str, key: str):
    assert address_key(address) == key


@given(st.text(max_size=100))
def test_a_request_id_can_not_break_a_header_or_a_line(text: str):
    if valid_request_id(text):
        assert 0 < len(text) <= 64
        assert text.isascii()
        assert text.isprintable()
        assert " " not in text


def test_the_longest_prefix_decides_the_body_limit():
    longer = {"/api/files": 100, "/api/files/big": 1000}

    assert limit_for("/api/files/big/x", limit=10, longer=longer) == 1000
    assert limit_for("/api/files/1", limit=10, longer=longer) == 100
    assert limit_for("/api/users", limit=10, longer=longer) == 10


@pytest.mark.parametrize("values", [["-1"], ["x"], ["1", "2"], [""], ["²"]])
def test_a_content_length_that_is_no_number_is_refused(values: list[str]):
    with pytest.raises(InvalidRequest):
        announced_length(values)


def test_plain_http_is_ruled_out_only_when_the_public_url_is_https():
    assert b"strict-transport-security" in dict(headers_for(api=False, https=True))
    assert b"strict-transport-security" not in dict(headers_for(api=False, https=False))
    assert b"cache-control" not in dict(headers_for(api=False, https=False))
