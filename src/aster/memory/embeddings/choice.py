"""Who makes the vectors, by the settings; None and a reason when nobody does.

Choosing loads nothing: it only looks whether the parts are there.
"""

from importlib.util import find_spec
from typing import assert_never

from aster.contracts.errors import EngineError, ErrorCode
from aster.infra.settings import Settings
from aster.memory.embeddings.cached import CachedEmbedder
from aster.memory.embeddings.embedder import Embedder
from aster.memory.embeddings.endpoint import EmbeddingsEndpoint
from aster.memory.embeddings.minilm import MISSING, NEEDED, MiniLM


def embedder(settings: Settings) -> Embedder | str:
    """The embedder, or why there is none."""
    match settings.embeddings_provider:
        case "off":
            return "EMBEDDINGS_PROVIDER is off"
        case "local":
            return CachedEmbedder(MiniLM()) if _installed(*NEEDED) else MISSING
        case "openai_compatible":
            base = settings.embeddings_base_url
            if not base:
                message = "EMBEDDINGS_BASE_URL: say where the endpoint is, or set EMBEDDINGS_PROVIDER=local."
                raise EngineError(ErrorCode.CONFIGURATION_INVALID, message, {"EMBEDDINGS_BASE_URL": "missing"})
            key = settings.embeddings_api_key
            found = EmbeddingsEndpoint(base, settings.embeddings_model, key.get_secret_value() if key else None)
            return CachedEmbedder(found) if _installed("numpy") else MISSING
        case _:
            assert_never(settings.embeddings_provider)


def made_by(fingerprint: str) -> Embedder | None:
    """Who made vectors with this fingerprint, if that can be had without any setting."""
    return CachedEmbedder(MiniLM()) if fingerprint == MiniLM.fingerprint and _installed(*NEEDED) else None


def _installed(*packages: str) -> bool:
    return all(find_spec(name) is not None for name in packages)
