"""Which addresses are public: what people and models may aim requests at."""

import ipaddress
from collections.abc import Sequence
from typing import Final

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

# Not all that is link-local: Podman has the host's own address there.
_METADATA: Final = tuple(
    ipaddress.ip_network(network)
    for network in (
        "169.254.169.0/24",  # Amazon, Google, Azure, Oracle and most others
        "169.254.170.0/24",  # Amazon, for containers
        "169.254.0.23/32",  # Tencent
        "100.100.100.200/32",  # Alibaba
        "fd00:ec2::/32",  # Amazon
        "fe80::a9fe:a9fe/128",  # OpenStack
    )
)
_NAT64: Final = ipaddress.ip_network("64:ff9b::/96")
_GLOBAL_UNICAST: Final = ipaddress.ip_network("2000::/3")  # all that was ever given out of IPv6
_V4_BITS: Final = 0xFFFF_FFFF


def meant(address: str) -> Address:
    """The address that is reached: that of IPv4 in one of IPv6, where that is what it is. Raises ValueError."""
    asked = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(asked, ipaddress.IPv4Address):
        return asked
    if asked in _NAT64:
        return ipaddress.IPv4Address(int(asked) & _V4_BITS)
    return asked.ipv4_mapped or asked.sixtofour or asked


def gives_credentials(address: str) -> bool:
    """Whether a cloud gives out the credentials of its machines there: never asked, whatever is allowed."""
    asked = meant(address)
    return any(asked in network for network in _METADATA)


def is_public(address: str) -> bool:
    asked = meant(address)
    if isinstance(asked, ipaddress.IPv6Address) and asked not in _GLOBAL_UNICAST:
        return False
    return asked.is_global and not asked.is_multicast


def may_be_asked(address: str, allowed: Sequence[Network] = ()) -> bool:
    """Public ones, and those of the operator's networks; none that gives out credentials."""
    if gives_credentials(address):
        return False
    asked = meant(address)
    return any(asked in network for network in allowed) or is_public(address)
