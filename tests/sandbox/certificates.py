"""A certificate authority for one test, and a server certificate it has signed."""

import datetime
import ssl
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


@dataclass(frozen=True)
class Signed:
    authority: Path
    context: ssl.SSLContext


def authority(directory: Path, host: str) -> Signed:
    """Files in `directory`: the authority to trust, and a server's context for `host`."""
    now = datetime.datetime.now(datetime.UTC)
    root_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    root_name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "test authority")])
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])

    def certificate(subject: x509.Name, public: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(root_name)
            .public_key(public)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(days=1))
            .not_valid_after(now + datetime.timedelta(days=1))
        )

    ca = x509.BasicConstraints(ca=True, path_length=None)
    root = certificate(root_name, root_key.public_key()).add_extension(ca, critical=True)
    alternative = x509.SubjectAlternativeName([x509.DNSName(host)])
    leaf = certificate(name, key.public_key()).add_extension(alternative, critical=False)
    pem = serialization.Encoding.PEM
    trusted, served = directory / "authority.pem", directory / "server.pem"
    trusted.write_bytes(root.sign(root_key, hashes.SHA256()).public_bytes(pem))
    plain, nothing = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    served.write_bytes(
        leaf.sign(root_key, hashes.SHA256()).public_bytes(pem) + key.private_bytes(pem, plain, nothing)
    )
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(served)
    return Signed(trusted, context)
