"""Which addresses count as inside, however they are written."""

from ipaddress import ip_address, ip_network

import pytest

from aster.sandbox.addresses import what_is_inside


@pytest.mark.parametrize(
    ("address", "kind"),
    [
        ("127.0.0.1", "loopback"),
        ("127.255.255.254", "loopback"),
        ("0.0.0.0", "this machine"),
        ("0.1.2.3", "this machine"),
        ("10.0.0.1", "private"),
        ("172.16.0.1", "private"),
        ("172.31.255.255", "private"),
        ("192.168.1.1", "private"),
        ("100.64.0.1", "carrier-private"),
        ("169.254.1.1", "link-local"),
        ("169.254.169.254", "metadata"),
        ("168.63.129.16", "metadata"),
        ("100.100.100.200", "metadata"),
        ("224.0.0.1", "multicast"),
        ("255.255.255.255", "reserved"),
        ("198.18.0.1", "reserved"),
        ("::", "this machine"),
        ("::1", "loopback"),
        ("fe80::1", "link-local"),
        ("fc00::1", "private"),
        ("fd00:ec2::254", "metadata"),
        ("fec0::1", "private"),
        ("ff02::1", "multicast"),
        ("::ffff:127.0.0.1", "loopback"),
        ("::ffff:10.0.0.1", "private"),
        ("::ffff:169.254.169.254", "metadata"),
        ("::127.0.0.1", "reserved"),
        ("64:ff9b::7f00:1", "loopback"),
        ("64:ff9b::a9fe:a9fe", "metadata"),
        ("64:ff9b:1::1", "reserved"),
        ("2002:7f00:1::", "loopback"),
        ("2002:a9fe:a9fe::1", "metadata"),
        ("2002:c0a8:101::1", "private"),
        ("2001:0:7f00:1::1", "reserved"),
        ("2600::5efe:10.0.0.1", "private"),
        ("2001:db8::1", "reserved"),
        ("100::1", "reserved"),
        ("5f00::1", "reserved"),
    ],
)
def test_inner_addresses_are_known(address: str, kind: str) -> None:
    assert what_is_inside(ip_address(address)) == kind


@pytest.mark.parametrize(
    "address", ["1.1.1.1", "172.32.0.1", "11.0.0.1", "2606:4700::1111", "::ffff:1.1.1.1", "64:ff9b::101:101"]
)
def test_public_addresses_may_be_reached(address: str) -> None:
    assert what_is_inside(ip_address(address)) is None


def test_what_is_opened_may_be_reached_and_nothing_more() -> None:
    opened = (ip_network("10.0.0.0/8"), ip_network("127.0.0.1"))
    assert what_is_inside(ip_address("10.1.2.3"), opened) is None
    assert what_is_inside(ip_address("::ffff:127.0.0.1"), opened) is None
    assert what_is_inside(ip_address("127.0.0.2"), opened) == "loopback"
    assert what_is_inside(ip_address("192.168.0.1"), opened) == "private"


def test_a_metadata_address_is_only_opened_by_itself() -> None:
    metadata = ip_address("169.254.169.254")
    assert what_is_inside(metadata, (ip_network("0.0.0.0/0"),)) == "metadata"
    assert what_is_inside(metadata, (ip_network("169.254.169.254/32"),)) is None
