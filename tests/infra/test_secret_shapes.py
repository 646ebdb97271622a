"""Made-up secrets that must be found, and look-alikes that must not; no value here opens anything."""

import base64
import random
import string
import time
import uuid

import pytest

from aster.infra.secret_shapes import SHAPES
from aster.infra.secrets import Secrets

RANDOM = random.Random(4)
LETTERS = string.ascii_letters + string.digits


def word(size: int, alphabet: str = LETTERS) -> str:
    """A random word that has every kind of character its alphabet has."""
    kinds = (string.ascii_lowercase, string.ascii_uppercase, string.digits)
    usable = ([char for char in kind if char in alphabet] for kind in kinds)
    forced = "".join(RANDOM.choice(chars) for chars in usable if chars)
    return "".join(RANDOM.sample(forced + "".join(RANDOM.choices(alphabet, k=size - len(forced))), size))


HEX = string.hexdigits[:16]
LINES = "\n".join(word(64) for _ in range(12))
JWT = ".".join(
    (base64.urlsafe_b64encode(b'{"alg":"HS256","typ":"JWT"}').decode().rstrip("="), f"eyJ{word(40)}", word(43))
)

SECRETS: list[tuple[str, str]] = [
    ("api key", f"sk-ant-api03-{word(93)}AA"),
    ("api key", f"sk-ant-admin01-{word(90)}"),
    ("api key", f"sk-proj-{word(70)}_{word(30)}-{word(20)}"),
    ("api key", f"sk-svcacct-{word(80)}"),
    ("api key", f"sk-or-v1-{word(64, HEX)}"),
    ("api key", f"sk-{word(20)}T3BlbkFJ{word(20)}"),
    ("api key", f"sk-{word(32)}"),
    ("engine key", f"ak-{word(20)}-{word(11)}_{word(10)}"),
    ("aws access key", "AKIAQX4BIPW3AHOVGN7Q"),
    ("aws access key", "ASIAQX4BIPW3AHOVGN7Q"),
    ("aws access key", "AKIAIOSFODNN7EXAMPLE"),
    ("github token", f"ghp_{word(36)}"),
    ("github token", f"gho_{word(36)}"),
    ("github token", f"github_pat_{word(22)}_{word(59)}"),
    ("gitlab token", f"glpat-{word(20)}"),
    ("slack token", f"xoxb-{word(12, string.digits)}-{word(12, string.digits)}-{word(24)}"),
    ("slack token", f"xoxp-{word(11, string.digits)}-{word(32, HEX)}"),
    ("stripe key", f"sk_live_{word(24)}"),
    ("stripe key", f"rk_live_{word(24)}"),
    ("webhook secret", f"whsec_{word(32)}"),
    ("google key", f"AIza{word(35)}"),
    ("google secret", f"GOCSPX-{word(28)}"),
    ("google token", f"ya29.{word(120)}"),
    ("npm token", f"npm_{word(36)}"),
    ("pypi token", f"pypi-AgEIcHlwaS5vcmc{word(60)}"),
    ("huggingface token", f"hf_{word(34, string.ascii_letters)}"),
    ("api key", f"gsk_{word(52)}"),
    ("sendgrid key", f"SG.{word(22)}.{word(43)}"),
    ("digitalocean token", f"dop_v1_{word(64, HEX)}"),
    ("age key", f"AGE-SECRET-KEY-1{word(58, string.ascii_uppercase + string.digits)}"),
    ("jwt", JWT),
    ("private key", f"-----BEGIN RSA PRIVATE KEY-----\n{LINES}\n-----END RSA PRIVATE KEY-----"),
    ("private key", f"-----BEGIN PRIVATE KEY-----\r\n{LINES}==\r\n-----END PRIVATE KEY-----"),
    ("private key", f"-----BEGIN OPENSSH PRIVATE KEY-----\n{LINES}"),
    (
        "private key",
        f"-----BEGIN EC PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: A-1\n\n{LINES}\n-----END KEY-----",
    ),
    ("private key", f"-----BEGIN PRIVATE KEY-----\\n{LINES}\\n-----END PRIVATE KEY-----".replace("\n", "\\n")),
]

WITHIN: list[tuple[str, str, str]] = [
    ("password in a url", "postgres://aster:", "Tr0ub4dor&3"),
    ("password in a url", "mongodb+srv://root:", "s3cr3t-Pa55"),
    ("password in a url", "redis://:", "p4ssw0rdOfRedis"),
    ("password in a url", "https://x-access-token:", word(20)),
    ("aws secret key", "aws_secret_access_key = ", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
    ("aws secret key", 'AWS_SECRET_ACCESS_KEY="', word(40)),
    ("aws secret key", '"SecretAccessKey": "', word(40)),
    ("slack webhook", "https://hooks.slack.com/services/", "T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX"),
    ("bearer token", "Authorization: Bearer ", word(40)),
    ("bearer token", "-H 'authorization: bearer ", f"{word(20)}.{word(20)}=="),
]


@pytest.mark.parametrize(("kind", "secret"), SECRETS)
@pytest.mark.parametrize(
    "frame", ["{}", "KEY={}\n", '{{"key": "{}"}}', "see `{}`, please", "a\\n{}\\nb", "?key={}&x=1"]
)
def test_a_secret_is_found_in_its_surroundings(kind: str, secret: str, frame: str) -> None:
    shown = Secrets().clean(frame.format(secret), "tool", shapes=True)
    assert shown == frame.format(f"[redacted: {kind}]")


@pytest.mark.parametrize(("kind", "before", "secret"), WITHIN)
def test_only_the_secret_part_goes(kind: str, before: str, secret: str) -> None:
    after = "@db.internal:5432/main" if "url" in kind else '"'
    assert Secrets().clean(before + secret + after, "tool", shapes=True) == f"{before}[redacted: {kind}]{after}"


def test_every_shape_has_an_example() -> None:
    assert {shape.kind for shape in SHAPES} == {kind for kind, *_ in (*SECRETS, *WITHIN)}


PIXELS = RANDOM.randbytes(60_000)
LOOK_ALIKES = [
    word(40, HEX),
    *(str(uuid.UUID(int=RANDOM.getrandbits(128))) for _ in range(200)),
    *(f"sha512-{base64.b64encode(RANDOM.randbytes(64)).decode()}" for _ in range(300)),
    *(f"sha256:{RANDOM.randbytes(32).hex()}" for _ in range(300)),
    f"data:image/png;base64,{base64.b64encode(PIXELS).decode()}",
    base64.encodebytes(PIXELS).decode(),
    base64.urlsafe_b64encode(PIXELS).decode(),
    PIXELS.hex(),
    f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{word(43)} joe@host",
    f"-----BEGIN PUBLIC KEY-----\n{LINES}\n-----END PUBLIC KEY-----",
    f"-----BEGIN CERTIFICATE-----\n{LINES}\n-----END CERTIFICATE-----",
    'if "-----BEGIN PRIVATE KEY-----" in text and "-----END PRIVATE KEY-----" in text: raise ValueError',
    "-----BEGIN RSA PRIVATE KEY-----\n...\n-----END RSA PRIVATE KEY-----",
    ".sk-fading-circle .sk-circle12:before{-webkit-animation-delay:-.1s}.sk-chasing-dots{margin:100px auto}",
    "task-1234567890abcdef1234567890abcdef risk-assessment-framework-for-large-organisations-2024-edition",
    f"mask-{word(40)} disk-{word(40)} ask_{word(40)}",
    "sk-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "sk-ant-... sk-proj-... ghp_... AKIA... $OPENAI_API_KEY ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "postgres://user:password@localhost/db mysql://root:${DB_PASSWORD}@db redis://:<password>@host http://u:***@h",
    "https://abc:xyz@example.com docker://alpine:3.18.4@sha256:abc http://[::1]:8080/@me git@github.com:a/b.git",
    "http://localhost:8000/a/b@c ws://127.0.0.1:5173 https://a.b/c:d@e/f s3://bucket/key",
    "Authorization: Bearer YOUR_API_KEY_GOES_RIGHT_IN_HERE Bearer authentication.is.described.below Bearer <token>",
    'token = "eyJ" + rest; const x = "eyJhbGciOiJIUzI1NiJ9"',
    "!function(e,t){var n=e.sk,r=t.gh,a='xoxo-love';return n?r(a):AKIA(n)}(this,{ghp_:1,npm_config_registry:2});",
    "npm_config_user_agent npm_lifecycle_event hf_hub_download hf_transfer AIza SG.1 ya29. whsec_ glpat- pypi-AgE",
    "aws_secret_access_key = YOUR_SECRET_KEY SecretAccessKey: string; secretAccessKey?: string",
    f"pkg:npm/%40babel/core@7.22.0 h1:{word(43)}= go.sum github.com/a/b v1.2.3/go.mod h1:{word(43)}=",
    "\n".join(f"{RANDOM.randbytes(20).hex()} refs/tags/v{n}" for n in range(300)),
    "AKIA is Finnish; ASIATICSOCIETYOFBENGAL is not a key; ASIAPACIFICREGIONALS",
]


@pytest.mark.parametrize("text", LOOK_ALIKES, ids=lambda text: repr(text[:24]))
def test_a_look_alike_stays(text: str) -> None:
    assert Secrets().clean(text, "tool", shapes=True) is text


@pytest.mark.parametrize(
    "hostile",
    [
        "-----BEGIN PRIVATE KEY-----",
        "eyJ",
        "eyJ.",
        "sk-",
        "://a:",
        "Bearer ",
        "xoxb-1-",
        "-----BEGIN ",
        "eyJaaaaaaaaaaa.eyJ",
    ],
)
def test_no_text_makes_the_search_slow(hostile: str) -> None:
    text = hostile * (200_000 // len(hostile))
    began = time.perf_counter()
    Secrets().clean(text, "tool", shapes=True)
    assert time.perf_counter() - began < 2.0
