"""What of the machine every command needs: its programs and libraries, and the few files they look for.

Nothing here is secret and nothing here is ever writable for a command.
"""

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")

ETC = ("alternatives", "crypto-policies", "ld.so.cache", "localtime", "pki", "ssl/certs", "ssl/openssl.cnf")
"""Below /etc. In a mount namespace each one costs a mount for every command: only what programs fail without."""


TRUSTING: dict[str, str] = {
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "safe.directory",
    "GIT_CONFIG_VALUE_0": "*",
}
"""Files of another owner are normal for tools with an identity of their own: git may trust what it can see."""


def environment(home: str, **more: str) -> dict[str, str]:
    """All the variables a command has."""
    return {"PATH": PATH, "HOME": home, "TMPDIR": "/tmp", "LANG": "C.UTF-8", "TERM": "dumb", **more}  # noqa: S108
