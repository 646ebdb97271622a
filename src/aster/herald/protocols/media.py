"""Documents that are text, for the protocols that take text as text."""

import base64
import binascii

from aster.contracts.blocks import Base64Source
from aster.herald.failure import FailureKind, HeraldError


def plain_text(source: Base64Source) -> str:
    """The text of a document whose media type says that it is text."""
    try:
        return base64.b64decode(source.data).decode("utf-8", "replace")
    except binascii.Error:
        raise HeraldError(FailureKind.REFUSED_MEDIA, "a document is not valid base64") from None
