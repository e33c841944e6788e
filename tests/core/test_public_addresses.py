"""Which addresses may be asked by people and models."""

from ipaddress import ip_network

import pytest

from chatd.core.public_addresses import gives_credentials, is_public, may_be_asked, meant


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.0.1", "169.254.1.1", "0.0.0.1", "100.64.0.1", "224.0.0.1"),
        *("::1", "::", "fe80::1%eth0", "fd00::1", "ff02::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::"),
        *("::7f00:1", "64:ff9b:1::7f00:1", "fec0::1", "5f00::1", "4000::1"),
    ],
)
def test_what_is_not_public_is_not_asked(address: str):
    assert not is_public(address)
    assert not may_be_asked(address)


@pytest.mark.parametrize(
    "address", ["1.1.1.1", "93.184.216.34", "2606:4700::1111", "::ffff:1.1.1.1", "64:ff9b::101:101"]
)
def test_public_addresses_are_asked(address: str):
    assert may_be_asked(address)


def test_networks_of_the_operator_are_asked_too():
    networks = [ip_network("10.0.0.0/8")]

    assert may_be_asked("10.1.2.3", networks)
    assert may_be_asked("::ffff:10.1.2.3", networks)
    assert not may_be_asked("192.168.0.1", networks)


@pytest.mark.parametrize(
    "address", ["169.254.169.254", "::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe", "fd00:ec2::254"]
)
def test_where_clouds_give_out_credentials_is_never_asked(address: str):
    assert gives_credentials(address)
    assert not may_be_asked(address, [ip_network("0.0.0.0/0"), ip_network("::/0")])


def test_an_address_in_an_address_is_what_is_meant():
    assert str(meant("::ffff:1.2.3.4")) == "1.2.3.4"
    assert str(meant("64:ff9b::102:304")) == "1.2.3.4"
    assert str(meant("1.2.3.4")) == "1.2.3.4"
    with pytest.raises(ValueError, match="example"):
        meant("example.org")
