"""The model itself: what it takes for alike, and what happens when its file is not the one we know."""

from pathlib import Path

import numpy as np
import pytest

from aster.memory.embeddings.embedder import EmbeddingsUnavailable
from aster.memory.embeddings.minilm import PACKAGE, MiniLM

PAIRS = [
    ("The cat sat on the mat.", "A feline rested on a rug."),
    ("Restart the server after changing its configuration.", "Reboot the machine once settings are edited."),
    ("She bought a used car last week.", "A few days ago she purchased a second-hand automobile."),
    ("delete old log files", "remove outdated logs"),
    ("The meeting was moved to Friday.", "They rescheduled the appointment for the end of the week."),
    ("How do I reset my password?", "I forgot my login credentials and need new ones."),
]


@pytest.fixture(scope="module")
def model() -> MiniLM:
    return MiniLM()


async def test_what_means_the_same_is_nearest(model: MiniLM) -> None:
    first = await model.embed([one for one, _ in PAIRS])
    second = await model.embed([other for _, other in PAIRS])
    assert (first @ second.T).argmax(axis=1).tolist() == list(range(len(PAIRS)))


async def test_vectors_have_length_one_and_keep_their_order(model: MiniLM) -> None:
    texts = [f"{'word ' * (number % 50)}number {number}" for number in range(40)]
    together = await model.embed(texts)
    assert together.shape == (40, model.dimensions)
    assert together.dtype == np.float32
    assert np.allclose(np.linalg.norm(together, axis=1), 1.0, atol=1e-5)
    for number in (0, 17, 39):
        alone = await model.embed([texts[number]])
        assert float(alone[0] @ together[number]) > 0.99
    assert (await model.embed([])).shape == (0, model.dimensions)


async def test_odd_texts_have_vectors_too(model: MiniLM) -> None:
    odd = await model.embed(["", "\x00\x07", "\ud800", "x" * 100_000, "雪" * 1000])
    assert np.isfinite(odd).all()


async def test_another_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / PACKAGE
    package.mkdir()
    (package / "__init__.py").write_text("raise RuntimeError('the package was imported')")
    (package / "model.onnx").write_bytes(b"something else")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(EmbeddingsUnavailable, match="not the one that was pinned"):
        await MiniLM().embed(["a"])
