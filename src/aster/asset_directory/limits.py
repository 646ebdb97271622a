"""How much a server may say and how long it may take, whatever it is."""

from typing import Final

MESSAGE_BYTES: Final = 16 << 20
CONNECT_SECONDS: Final = 60.0
PARKED_SECONDS: Final = 3600.0
"""How long a server that cannot be asked again waits for a person's answer."""
ROUNDS: Final = 10
"""How often a server may ask for more before one call is over."""
SAMPLINGS: Final = 8
"""How often a server may have a model asked for one call."""
PAGES: Final = 100
