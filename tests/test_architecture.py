"""The rules of the house, checked on the source itself, so that no reviewer has to repeat them.

Arrows between rooms point one way, providers are known in one room, nothing happens at import, nothing grows
beyond what can be read at a sitting.
"""

import ast
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

import pytest

ROOT = Path(__file__).parents[1]
LONGEST_FILE = 450
LONGEST_FUNCTION = 70

LAYERS: tuple[frozenset[str], ...] = (
    frozenset({"contracts"}),
    frozenset({"infra"}),
    frozenset({"brain", "raven"}),
    frozenset({"herald", "memory", "sandbox"}),
    frozenset({"skills"}),
    frozenset({"utility_directory", "asset_directory"}),
    frozenset({"catalog", "media"}),
    frozenset({"work"}),
    frozenset({"engine_core"}),
    frozenset({"learning_centre"}),
    frozenset({"server"}),
    frozenset({"cli"}),
    frozenset({"reference"}),
)
"""A room imports only rooms of the layers before its own."""

ASIDE = frozenset({"client", "testing"})
"""These know the contracts and nothing else; rooms from the herald up may use them."""

OWNERS: dict[str, tuple[str, ...]] = {
    "opentelemetry": ("raven/otlp.py",),
    "prometheus_client": ("raven/metrics.py",),
    "pydantic": ("infra/settings", "server/", "cli/", "reference/"),
    "fastapi": ("server/",),
    "starlette": ("server/",),
    "uvicorn": ("server/", "cli/"),
    "numpy": ("memory/",),
    "mcp": ("asset_directory/",),
    "mcp_types": ("asset_directory/",),
    "cryptography": ("asset_directory/vault.py",),
    "PIL": ("media/picture_worker.py",),
    "sqlite3": ("brain/", "memory/", "infra/migrations.py", "server/keys.py", "cli/doctor/"),
    "psycopg": ("brain/postgres/", "brain/moving/", "engine_core/cluster/"),
    "tree_sitter": ("sandbox/",),
    "rich": ("cli/",),
    "prompt_toolkit": ("cli/",),
    "argparse": ("cli/", "reference/", "testing/"),
}
"""Who may import a library: few places each, so that replacing it stays a small change."""

PROVIDER = re.compile(r"anthropic|openai|gemini", re.IGNORECASE)
PROVIDER_ROOMS = ("herald/", "testing/", "infra/settings.py")
ABOUT_PROVIDERS = re.compile(r"openai[_-]compatible|LLM_PROVIDER(=| \()[\w ]+", re.IGNORECASE)
"""A wire format that many speak, and a sentence about the setting: neither is knowledge of a provider."""

MACHINE_PATH = re.compile(
    r"(?<![\w.])/(?:work(?!/(?:items|boards|edges|claim)\b)|root|home/\w+|Users/\w+)/(?!\.\.\.)"
)
"""A directory of one machine; the routes of the work graph are none."""

WORLD = {
    *("open", "connect", "run", "Popen", "check_output", "system", "socket", "getenv", "getpid", "getuid"),
    *("read_text", "read_bytes", "exists", "is_file", "iterdir", "mkdir", "stat", "which", "files", "cwd", "home"),
    *("now", "time", "time_ns", "monotonic", "perf_counter", "urandom", "token_bytes", "token_hex", "new_id"),
    *("FastAPI", "CollectorRegistry", "Metrics", "Raven", "Settings", "Engine", "Thread", "Lock", "Queue", "Event"),
    *("basicConfig", "configure", "register", "import_module", "get_event_loop", "load", "sleep", "print"),
}
"""What may not be called while a module is imported: it looks at the world, or changes it."""


@dataclass(frozen=True)
class Module:
    """A source file, or a text as if it stood in one; `name` is its path under the package."""

    name: str
    text: str

    @property
    def room(self) -> str:
        return self.name.split("/")[0].removesuffix(".py")

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text, self.name)

    @cached_property
    def nodes(self) -> list[ast.AST]:
        return list(ast.walk(self.tree))

    @cached_property
    def imports(self) -> list[tuple[str, int]]:
        """Every module imported anywhere in the file, inside functions too, and the line."""
        found: list[tuple[str, int]] = []
        for node in self.nodes:
            if isinstance(node, ast.Import):
                found += [(alias.name, node.lineno) for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module:
                found += [(f"{node.module}.{alias.name}", node.lineno) for alias in node.names]
        return found


def modules(place: str) -> list[Module]:
    base = ROOT / place
    return [
        Module(path.relative_to(base).as_posix(), path.read_text(encoding="utf-8"))
        for path in sorted(base.rglob("*.py"))
    ]


SOURCE = modules("src/aster")
Rule: TypeAlias = Callable[[Module], Iterator[str]]


def broken(rule: Rule, where: list[Module]) -> dict[str, list[str]]:
    """Where a rule is broken: file by file, place by place."""
    found = {module.name: list(rule(module)) for module in where}
    return {name: places for name, places in found.items() if places}


def layer(room: str) -> int:
    return next(number for number, rooms in enumerate(LAYERS) if room in rooms)


def may_import(room: str, other: str) -> bool:
    if room == other:
        return True
    if room in ASIDE:
        return other == "contracts"
    if other in ASIDE:
        return layer(room) >= layer("herald")
    return layer(other) < layer(room)


def arrows_point_one_way(module: Module) -> Iterator[str]:
    if module.room in ("__init__", "__main__"):
        return
    for name, line in module.imports:
        root, _, rest = name.partition(".")
        other = rest.split(".")[0]
        if root == "aster" and other and not other.startswith("__") and not may_import(module.room, other):
            yield f"{line}: {module.room} -> {other}"


def a_library_is_imported_by_its_owner(module: Module) -> Iterator[str]:
    for name, line in module.imports:
        owners = OWNERS.get(name.split(".")[0])
        if owners is not None and not module.name.startswith(owners):
            yield f"{line}: {name}"


def imports_are_absolute(module: Module) -> Iterator[str]:
    for node in module.nodes:
        if isinstance(node, ast.ImportFrom) and node.level:
            yield f"{node.lineno}: {ast.unparse(node)}"


def it_says_why_it_exists(module: Module) -> Iterator[str]:
    if module.text.strip() and not ast.get_docstring(module.tree):
        yield "no docstring"


def it_can_be_read_at_a_sitting(module: Module) -> Iterator[str]:
    lines = module.text.count("\n")
    if lines >= LONGEST_FILE:
        yield f"{lines} lines"
    for node in module.nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or 0) - node.lineno + 1
            if length >= LONGEST_FUNCTION:
                yield f"{node.lineno}: {node.name} has {length} lines"


def it_knows_no_provider(module: Module) -> Iterator[str]:
    if not module.name.startswith(PROVIDER_ROOMS):
        yield from PROVIDER.findall(ABOUT_PROVIDERS.sub("", module.text))
        yield from PROVIDER.findall(module.name)


def it_prints_nothing(module: Module) -> Iterator[str]:
    if module.room == "cli":
        return
    for node in module.nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print":
            yield f"{node.lineno}: {ast.unparse(node)}"


def importing_it_does_nothing(module: Module) -> Iterator[str]:
    if not module.name.endswith("__main__.py"):
        yield from effects(module.tree.body)


def effects(body: list[ast.stmt]) -> Iterator[str]:
    """What a module would do when it is imported, beyond defining names."""
    for statement in body:
        match statement:
            case ast.Import() | ast.ImportFrom() | ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                continue
            case ast.Expr(value=ast.Constant()):
                continue
            case ast.Assign() | ast.AnnAssign():
                yield from world_calls(statement)
            case ast.If(test=test) if re.search("TYPE_CHECKING|__name__", ast.unparse(test)):
                continue
            case ast.If(test=test) if re.search(r"sys\.(version_info|platform)", ast.unparse(test)):
                yield from effects([*statement.body, *statement.orelse])
            case _:
                yield f"{statement.lineno}: {ast.unparse(statement)}"


def world_calls(statement: ast.stmt) -> Iterator[str]:
    nodes = list(ast.walk(statement))
    deferred = {inner for node in nodes if isinstance(node, ast.Lambda) for inner in ast.walk(node)}
    for node in nodes:
        if isinstance(node, ast.Call) and node not in deferred:
            name = ast.unparse(node.func)
            if name.split(".")[-1] in WORLD or name.startswith(("os.", "environ.")):
                yield f"{node.lineno}: {name}()"


def it_leaves_no_work_for_later(module: Module) -> Iterator[str]:
    yield from re.findall(r"\bTODO\b|\bFIXME\b|\bXXX\b|NotImplementedError", module.text)


RULES: list[Rule] = [
    arrows_point_one_way,
    a_library_is_imported_by_its_owner,
    imports_are_absolute,
    it_says_why_it_exists,
    it_can_be_read_at_a_sitting,
    it_knows_no_provider,
    it_prints_nothing,
    importing_it_does_nothing,
    it_leaves_no_work_for_later,
]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_every_module_keeps_the_rule(rule: Rule) -> None:
    assert broken(rule, SOURCE) == {}


BAD: dict[Rule, str] = {
    arrows_point_one_way: "from aster.server import app",
    a_library_is_imported_by_its_owner: "def f():\n    import fastapi",
    imports_are_absolute: "from . import sibling",
    it_says_why_it_exists: "X = 1",
    it_can_be_read_at_a_sitting: "def f():\n" + "    x = 1\n" * LONGEST_FUNCTION,
    it_knows_no_provider: "if provider == 'OpenAI': pass",
    it_prints_nothing: "def f():\n    print('x')",
    importing_it_does_nothing: "import os\nHOME = os.environ.get('HOME')",
    it_leaves_no_work_for_later: "# TO" + "DO: later",
}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_rule_notices_what_it_forbids(rule: Rule) -> None:
    assert list(rule(Module("brain/made_up.py", BAD[rule]))) != []


@pytest.mark.parametrize(
    ("room", "other", "allowed"),
    [
        ("brain", "infra", True),
        ("infra", "brain", False),
        ("brain", "raven", False),
        ("client", "infra", False),
        ("testing", "contracts", True),
        ("cli", "client", True),
        ("brain", "testing", False),
    ],
)
def test_the_map_is_read_right(room: str, other: str, allowed: bool) -> None:
    assert may_import(room, other) is allowed


def test_every_room_is_on_the_map() -> None:
    rooms = {module.room for module in SOURCE} - {"__init__", "__main__"}
    assert rooms <= ASIDE.union(*LAYERS)


def test_the_contracts_stand_on_msgspec_alone() -> None:
    roots = {name.split(".")[0] for module in SOURCE if module.room == "contracts" for name, _ in module.imports}
    assert roots <= {*sys.stdlib_module_names, "msgspec", "aster"}


@pytest.mark.parametrize("module", ["aster.herald.gateway", "aster.herald.pools"])
def test_the_gateway_brings_no_client_of_a_provider(module: str) -> None:
    program = "import sys; __import__(sys.argv[1]); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program, module], capture_output=True, text=True, check=True)
    brought = set(done.stdout.split())
    assert "httpx2" in brought
    assert not brought & {"anthropic", "openai", "google.genai", "mcp", "httpx", "requests", "aiohttp"}


def it_is_real(module: Module) -> Iterator[str]:
    """No mocks, no skips: a fault is caused, not patched in."""
    for name, line in module.imports:
        if name.startswith("unittest.mock"):
            yield f"{line}: {name}"
    for node in module.nodes:
        if isinstance(node, ast.Attribute) and node.attr in ("skip", "skipif", "xfail", "importorskip"):
            yield f"{node.lineno}: {node.attr}"


def test_tests_are_real() -> None:
    assert broken(it_is_real, modules("tests")) == {}


def test_no_text_names_a_machine() -> None:
    kinds = {".py", ".md", ".toml", ".json", ".sql", ".ts", ".tsx", ".css", ".html"}
    places = ("src", "tests", "docs", "benchmarks", "catalog", "web/src")
    paths = [path for place in places for path in (ROOT / place).rglob("*") if path.suffix in kinds]
    paths += [path for path in ROOT.iterdir() if path.suffix in kinds]
    named = {str(path): MACHINE_PATH.findall(path.read_text(encoding="utf-8")) for path in paths}
    assert {path: places for path, places in named.items() if places} == {}
