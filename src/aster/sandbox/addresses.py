"""Which IP addresses may be reached: the public internet, and nothing that is only reachable from inside.

An address is judged by what a packet to it would reach, so an IPv4 address wrapped in an IPv6 one is unwrapped
first. Addresses that hand out a cloud machine's credentials are named and stay closed unless opened one by one.
"""

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TypeAlias

Address: TypeAlias = IPv4Address | IPv6Address
Network: TypeAlias = IPv4Network | IPv6Network

_METADATA = frozenset(
    map(ip_address, ("169.254.169.254", "169.254.170.2", "100.100.100.200", "192.0.0.192", "168.63.129.16"))
) | {ip_address("fd00:ec2::254"), ip_address("fd20:ce::254")}
_NOT_PUBLIC: tuple[tuple[Network, str], ...] = tuple(
    (ip_network(network), what)
    for network, what in (
        ("0.0.0.0/8", "this machine"),
        ("127.0.0.0/8", "loopback"),
        ("10.0.0.0/8", "private"),
        ("172.16.0.0/12", "private"),
        ("192.168.0.0/16", "private"),
        ("100.64.0.0/10", "carrier-private"),
        ("169.254.0.0/16", "link-local"),
        ("192.0.0.0/24", "reserved"),
        ("192.0.2.0/24", "reserved"),
        ("192.88.99.0/24", "reserved"),
        ("198.18.0.0/15", "reserved"),
        ("198.51.100.0/24", "reserved"),
        ("203.0.113.0/24", "reserved"),
        ("224.0.0.0/4", "multicast"),
        ("240.0.0.0/4", "reserved"),
        ("::/128", "this machine"),
        ("::1/128", "loopback"),
        ("fc00::/7", "private"),
        ("fe80::/10", "link-local"),
        ("fec0::/10", "private"),
        ("ff00::/8", "multicast"),
        ("2001::/23", "reserved"),
        ("2001:db8::/32", "reserved"),
        ("3fff::/20", "reserved"),
    )
)
_PUBLIC_V6 = IPv6Network("2000::/3")
_NAT64 = IPv6Network("64:ff9b::/96")
_LOW_32 = 0xFFFFFFFF
_ISATAP = (0x00005EFE, 0x02005EFE)


def what_is_inside(address: Address, opened: tuple[Network, ...] = ()) -> str | None:
    """What kind of inner address this is (`loopback`, `private` …); None when it may be reached.

    `opened` are networks the operator lends on purpose; a metadata address must be among them by itself.
    """
    reached = _carried(address) or address
    for each in (reached, *_tunnelled(reached)):
        by_itself = any(network.num_addresses == 1 and each in network for network in opened)
        if each in _METADATA and not by_itself:
            return "metadata"
        kind = _kind(each)
        if kind is not None and not any(each in network for network in opened):
            return kind
    return None


def _kind(address: Address) -> str | None:
    for network, what in _NOT_PUBLIC:
        if address in network:
            return what
    return "reserved" if isinstance(address, IPv6Address) and address not in _PUBLIC_V6 else None


def _carried(address: Address) -> IPv4Address | None:
    """The IPv4 address that the kernel or a gateway talks to in place of this one."""
    if isinstance(address, IPv4Address):
        return None
    return IPv4Address(int(address) & _LOW_32) if address in _NAT64 else address.ipv4_mapped


def _tunnelled(address: Address) -> Iterator[IPv4Address]:
    """IPv4 addresses a router would send this IPv6 address through (6to4, ISATAP; Teredo is reserved as such)."""
    if isinstance(address, IPv4Address):
        return
    if address.sixtofour is not None:
        yield address.sixtofour
    if int(address) >> 32 & _LOW_32 in _ISATAP:
        yield IPv4Address(int(address) & _LOW_32)
