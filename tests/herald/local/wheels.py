"""A registry of one's own: a directory with tiny packages, built on the fly, that pip downloads from."""

import hashlib
import io
import os
import tarfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

from aster.herald.local.sources import Piece, Source

RUN_MARK = "was_run"


@dataclass(frozen=True, slots=True)
class Registry:
    """Packages that leave a mark in `directory` when any code of theirs is run."""

    directory: Path

    @property
    def environ(self) -> dict[str, str]:
        return {**os.environ, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(self.directory)}

    @property
    def code(self) -> str:
        return f"from pathlib import Path\nPath({str(self.directory / RUN_MARK)!r}).touch()\n"

    @property
    def was_run(self) -> bool:
        return (self.directory / RUN_MARK).exists()

    def wheel(self, name: str, data: bytes, version: str = "1.0") -> Piece:
        """Publish a package that holds this data."""
        module = name.replace("-", "_")
        member, info = f"{module}/data.bin", f"{module}-{version}.dist-info"
        with zipfile.ZipFile(self.path(name, version), "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(f"{module}/__init__.py", self.code)
            archive.writestr(member, data)
            archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
            archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            archive.writestr(f"{info}/RECORD", "")
        return Piece(name, version, member, len(data), hashlib.sha256(data).hexdigest())

    def sdist(self, name: str, version: str = "1.0") -> None:
        """Publish a package that would have to be built, which runs its code."""
        with tarfile.open(self.directory / f"{name}-{version}.tar.gz", "w:gz") as archive:
            for file, text in (("setup.py", self.code), ("PKG-INFO", f"Name: {name}\nVersion: {version}\n")):
                entry = tarfile.TarInfo(f"{name}-{version}/{file}")
                entry.size = len(text)
                archive.addfile(entry, io.BytesIO(text.encode()))

    def path(self, name: str, version: str = "1.0") -> Path:
        return self.directory / f"{name.replace('-', '_')}-{version}-py3-none-any.whl"


def model_of(*pieces: Piece, whole: bytes) -> Source:
    digest = hashlib.sha256(whole).hexdigest()
    return Source("tiny", "Tiny", "MIT", "for tests", 512, len(whole), digest, pieces)
