"""What providers and models must look like, where no database and no vendor is needed to tell."""

import pytest

from chatd.core.model_checks import same_address


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://api.example.com", "https://api.example.com:443/v1"),
        ("http://api.example.com:80", "http://api.example.com/"),
        ("https://API.example.com/v1", "https://api.example.com/v2"),
        ("https://[::1]:443", "https://[::1]"),
    ],
)
def test_a_server_is_the_same_by_any_path_case_or_default_port(one: str, other: str):
    assert same_address(one, other)
    assert same_address(other, one)


@pytest.mark.parametrize(
    "other",
    [
        "http://api.example.com",
        "http://api.example.com:443",
        "https://api.example.com:80",
        "https://api.example.com:8443",
        "https://api.example.org",
        "",
    ],
)
def test_a_key_is_for_one_scheme_host_and_port(other: str):
    assert not same_address("https://api.example.com", other)
