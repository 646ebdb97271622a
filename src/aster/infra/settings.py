"""Settings: everything an operator may choose, read once from `.env` and the environment (the latter wins).

A wrong value stops the start with a sentence that names the variable; nothing is silently corrected. The
reference page `docs/reference/settings.md` is generated from this class.
"""

import os
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from dotenv import dotenv_values
from pydantic import ConfigDict, Field, SecretStr, ValidationError, field_validator

from aster.contracts.errors import EngineError, ErrorCode
from aster.infra.settings_agents import AgentSettings
from aster.infra.settings_database import DatabaseSettings
from aster.infra.settings_files import secret_files
from aster.infra.settings_flag import Flag
from aster.infra.settings_learning import LearningSettings
from aster.infra.settings_reach import ReachSettings
from aster.infra.settings_work import WorkSettings

NO_CLOCK = "off"
"""The time zone of an engine that does not tell models the time."""


def _default_brain() -> Path:
    base = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return Path(base) / "aster" / "brain.sqlite"


def _default_provider() -> Literal["local", "demo"]:
    """A model of one's own where it can run at all (the `local` extra is installed), else the script."""
    return "local" if find_spec("xllamacpp") is not None else "demo"


class Settings(AgentSettings, DatabaseSettings, LearningSettings, ReachSettings, WorkSettings):
    """One field per variable; the variable's name is the field's name in capitals."""

    model_config = ConfigDict(frozen=True, extra="ignore", str_strip_whitespace=True)

    host: str = Field("127.0.0.1", description="Address to listen on. Anything but loopback needs a key.")
    port: int = Field(8000, ge=0, le=65535, description="Port to listen on; 0 picks a free one.")
    console_dir: Path | None = Field(
        None,
        description="Folder with a console built by yourself, served in place of the one that comes with Aster.",
    )
    open_browser: Flag = Field(
        True,
        description="Open the console in a browser when `aster serve` first starts at a screen of this machine.",
    )

    llm_provider: Literal["demo", "openai", "anthropic", "gemini", "openai_compatible", "local"] = Field(
        default_factory=_default_provider,
        description="Who answers: a provider's protocol; `local`, a small model on this machine that needs no key; "
        "or `demo`, a built-in script.",
    )
    llm_model: str = Field("", description="The model to ask for; empty takes the provider's usual one.")
    llm_api_key: SecretStr | None = Field(None, description="The provider's key.")
    gemini_api_key: SecretStr | None = Field(
        None, description="The key for `LLM_PROVIDER=gemini`, where `LLM_API_KEY` is not set."
    )
    llm_openai_api: Literal["auto", "chat", "responses"] = Field(
        "auto",
        description="Which of OpenAI's protocols is spoken: `auto` takes Responses on OpenAI's own endpoint for "
        "models that think beside tools only there, and Chat Completions everywhere else.",
    )
    llm_base_url: str | None = Field(
        None, description="Another endpoint of the same protocol (Ollama, vLLM, llama.cpp, a gateway)."
    )
    llm_text_tools: Literal["auto", "true", "false"] = Field(
        "auto",
        description="Offer tools as text in the prompt and read calls from the reply: `true` for models without"
        " tools of their own, `false` never, `auto` where the endpoint has none: known before, or refused once.",
    )
    fallback_model: str = Field(
        "", description="The model a turn goes on with when its own is overloaded, out of quota or keeps failing."
    )
    planner_model: str = Field(
        "",
        description="The model that plans: it drafts plans and answers turns in permission mode `plan`; empty is the"
        " usual one.",
    )
    llm_allowed_models: str = Field(
        "", description="Models a message may ask for in place of the usual one, comma-separated."
    )
    llm_pool_foreground: str = Field(
        "",
        description="Who answers people: `url|model` nodes, comma-separated, asked in turn. A node speaks"
        " openai_compatible unless it begins with another provider (`provider:url|model`; without a url at its"
        " own address). Empty is the one endpoint of LLM_PROVIDER.",
    )
    llm_pool_worker: str = Field(
        "", description="Nodes for work behind the scenes, such as naming tasks; empty is the foreground."
    )
    llm_pool_coding: str = Field(
        "", description="Nodes for turns that are about code, by their first message; empty is the foreground."
    )
    llm_pool_critic: str = Field("", description="Nodes that check answers; empty is the foreground.")
    llm_pool_vision: str = Field(
        "", description="Nodes that see images: messages with images go there and never to another pool."
    )
    llm_pool_api_key: SecretStr | None = Field(
        None, description="The key for nodes of the pools; LLM_API_KEY only goes to the host it belongs to."
    )
    local_model: str = Field(
        "", description="Which model `LLM_PROVIDER=local` runs (`aster model list`); empty takes the first it gets."
    )
    local_model_path: Path | None = Field(
        None, description="A GGUF file of your own for `LLM_PROVIDER=local`; nothing is downloaded then."
    )
    local_model_dir: Path | None = Field(
        None, description="Where downloaded models are kept; unset is `models` beside the brain."
    )
    local_model_context: int = Field(
        16_384, ge=512, description="Tokens of conversation a local model holds; more takes more memory."
    )
    llm_first_byte_timeout: float = Field(120.0, gt=0, description="Seconds to wait for an answer to begin.")
    llm_idle_timeout: float = Field(60.0, gt=0, description="Seconds of silence allowed within an answer.")
    max_tokens: int = Field(4096, ge=1, description="Most output tokens of one model call.")
    context_window: int | None = Field(
        None,
        ge=1024,
        description="Most tokens a prompt and its answer may be together; empty is what the model holds.",
    )
    media_presend_validation_enabled: Flag = Field(
        False, description="Fetch and look into what is attached before a model sees it: type by content, size."
    )
    media_image_resize_enabled: Flag = Field(
        False, description="Make images smaller: 2048 pixels at most, below 5 MB (needs the `media` extra)."
    )
    media_error_recovery_enabled: Flag = Field(
        True, description="Go on once without an image or a document that the model provider refuses, and say so."
    )
    content_ingestion_enabled: Flag = Field(
        False, description="Keep long texts and documents of a message in parts that the model looks up with tools."
    )
    content_ingestion_chars: int = Field(
        40_000, ge=2_000, description="From how many characters on a text or a document is ingested."
    )
    planning: Literal["auto", "off"] = Field(
        "auto",
        description="Whether a message that asks for several steps is planned before the work begins (by PLANNER_MODEL,"
        " the worker pool or the usual model): `auto` when it needs it, `off` never. A message with `direct` is not.",
    )
    uncertainty: Literal["ask", "note", "off"] = Field(
        "ask",
        description="What weighty things the agent does not know lead to: `ask` puts them to a person before the next"
        " change, `note` only sums them up after the answer, `off` does neither and does not look for hedges.",
    )
    provider_token_counts: Flag = Field(
        True,
        description="Ask the provider how long a prompt is when it may be near the limit and only an estimate is known,"
        " where it offers that.",
    )
    time_zone: str = Field(
        "UTC",
        description="In which time zone models are told when a message was said, such as `Europe/Berlin`; `off` does"
        " not tell them.",
    )
    workspace_instructions: Flag = Field(
        True, description="Give models the AGENTS.md of the directories they work in, marked as what it is."
    )
    cached_snip: Flag = Field(
        True, description="Mark the unchanging beginning of prompts for the provider's cache, where it takes marks."
    )
    cache_hit_monitor_enabled: Flag = Field(
        True, description="Raise an alert when a call reads much less from the provider's cache than it should."
    )
    token_budget_enabled: Flag = Field(
        False, description="Go on by itself when an answer is cut off at `MAX_TOKENS`."
    )
    reactive_compact_enabled: Flag = Field(
        True, description="Compact conversations that grow too long; otherwise they end with `CONTEXT_OVERFLOW`."
    )
    max_turns: int = Field(100, ge=1, description="Most model calls of one turn; then it ends with `max_turns`.")
    light_model: str = Field(
        "",
        description="A cheaper model, for calls once 80 % of a budget are used, and for naming tasks, summarising"
        " conversations and checking answers where there is no LLM_POOL_WORKER; empty stays with the usual one.",
    )
    task_titles: Flag = Field(
        True,
        description="Have a model name a task after its first turn, where LLM_POOL_WORKER or LIGHT_MODEL is set.",
    )
    verifier: Literal["off", "auto", "always"] = Field(
        "auto",
        description="Hold answers against what the tools returned: `auto` by checks that cost nothing, and by a model"
        " where LLM_POOL_CRITIC, LLM_POOL_WORKER or LIGHT_MODEL is set; `always` by the usual model too; or `off`.",
    )
    verifier_mode: Literal["inline", "after"] = Field(
        "inline",
        description="When a model verifies: before the turn ends, so that a wrong answer is written again; or `after`"
        " it, without delay, and what was wrong is corrected at the start of the task's next turn.",
    )
    model_facts_path: Path | None = Field(
        None, description="A JSON file with prices and facts of model families, merged over the built-in ones."
    )
    budget_user_day_usd: float | None = Field(
        None, ge=0, allow_inf_nan=False, description="Most USD a user may spend on models in a day (UTC)."
    )
    budget_task_usd: float | None = Field(
        None, ge=0, allow_inf_nan=False, description="Most USD a task may spend on models."
    )
    budget_turn_usd: float | None = Field(
        None, ge=0, allow_inf_nan=False, description="Most USD a turn may spend on models before a person is asked."
    )
    system_prompt: str = Field("", description="The operator's instructions, in place of the stock prompt.")

    sqlite_db_path: Path = Field(default_factory=_default_brain, description="The brain: one SQLite file.")
    engine_api_key: SecretStr | None = Field(None, description="The engine's key in the clear (development).")
    engine_key_hash: str | None = Field(None, description="SHA-256 of the engine's key, in hex (production).")
    bap_key_rotation_min_overlap_seconds: int = Field(
        0, ge=0, description="After a rotation the old key keeps working this long."
    )
    bap_key_rotation_max_overlap_seconds: int = Field(
        300, ge=0, description="Until then the old key is answered with KEY_ROTATION_PENDING, later INVALID_KEY."
    )
    allowed_origins: str = Field("", description="Web origins that may call the engine, comma-separated.")
    max_request_bytes: int = Field(25_000_000, ge=1024, description="Largest request body accepted.")
    upload_max_bytes: int = Field(
        100_000_000, ge=1024, description="Largest file or workspace archive that may be uploaded."
    )
    workspace_max_bytes: int = Field(
        500_000_000, ge=1024, description="Most bytes of files that a workspace archive may hold, uncompressed."
    )

    task_slots: int = Field(512, ge=1, description="Turns that may run at the same time.")
    user_slots: int = Field(
        0,
        ge=0,
        description="Turns of one user that may run at the same time, over all replicas; 0: all slots.",
    )
    crash_limit: int = Field(
        3,
        ge=1,
        description="How often the engine may die over the same part of a turn before the turn is given up with"
        " TURN_CRASHED instead of being gone on with.",
    )
    runner: Literal["auto", "local", "dbos"] = Field(
        "auto",
        description="Who runs turns: `local` this process alone, `dbos` several replicas that share the database of"
        " DATABASE_URL; `auto` is dbos with DATABASE_URL and local without.",
    )
    replica_silence_seconds: float = Field(
        10.0,
        ge=1,
        description="How long a replica may be silent, though connected, before the others take its turns.",
    )
    drain_seconds: float = Field(25.0, ge=0, description="How long SIGTERM lets running turns go on.")
    heartbeat_seconds: float = Field(10.0, gt=0, description="Silence after which a stream gets a heartbeat.")
    channel_state_ttl_active: int = Field(
        10_800, ge=1, description="Seconds that deltas and snapshots of a finished turn are kept (3 h)."
    )
    channel_state_ttl_hitl: int = Field(
        259_200, ge=1, description="Seconds that the snapshot of a suspended turn is kept (72 h)."
    )
    observability_days: int = Field(30, ge=1, description="Days that `observability_events` rows are kept.")
    slow_tool_seconds: float = Field(10.0, gt=0, description="A tool slower than this is noted.")

    allowed_roots: str = Field(
        "",
        description="Absolute paths tools may see, comma-separated; empty gives each user a workspace of its own.",
    )
    workspace: Literal["task", "user"] = Field(
        "task",
        description="Where tools work when ALLOWED_ROOTS is empty: each task in an empty directory of its own, or all"
        " tasks of a user in the same one.",
    )
    workspace_keep: Flag = Field(
        False, description="Keep the directory of a task when the task is deleted (with WORKSPACE=task)."
    )
    sandbox: Literal["auto", "bubblewrap", "landlock", "sandlock", "docker", "off"] = Field(
        "auto",
        description="How tools are isolated. `auto` takes the strongest that works here; one that is named and does not"
        " work is refused; `off` runs tools unprotected and has to be said.",
    )
    sandbox_docker_image: str = Field(
        "debian:stable-slim", description="The image commands run in with SANDBOX=docker; it must have /bin/bash."
    )
    sandbox_memory_mb: int = Field(
        4096, ge=16, description="Memory a command may use, each process and all of them together."
    )
    sandbox_processes: int = Field(256, ge=4, description="Processes and threads a command may have at once.")
    sandbox_file_mb: int = Field(
        2048, ge=1, description="Largest file a command may write; in all it may write four times that."
    )
    bash_timeout_seconds: float = Field(120.0, gt=0, description="Longest a shell command may run.")
    bash_background_seconds: float = Field(
        3600.0, gt=0, description="Longest a shell command may run in the background, behind its turn."
    )
    bash_background_limit: int = Field(
        5, ge=0, description="Background commands a user may have running at once; 0 allows none."
    )
    claude_code_max_tool_use_concurrency: int = Field(10, ge=1, description="Tool calls run side by side.")

    embeddings_provider: Literal["local", "openai_compatible", "off"] = Field(
        "local",
        description="Who turns texts into vectors, for search by meaning: `local`, a small model on this machine;"
        " an endpoint, which then sees the texts; or nobody: keywords alone.",
    )
    embeddings_base_url: str | None = Field(
        None,
        description="The endpoint for `EMBEDDINGS_PROVIDER=openai_compatible`, such as http://127.0.0.1:8080/v1.",
    )
    embeddings_model: str = Field("", description="The model the embeddings endpoint is asked for.")
    embeddings_api_key: SecretStr | None = Field(None, description="The key for the embeddings endpoint.")
    memory_enabled: Flag = Field(
        True,
        description="Whether turns look into the user's memory before they begin, and models get the `memory_*` tools.",
    )
    memory_tokens: int = Field(
        1500, ge=0, description="How much of a user's memory a turn is given at most, in tokens; 0 is none."
    )
    memory_journal: Flag = Field(
        True,
        description="Remember what was said in a turn when it ends, so that later tasks can find it; without it memory"
        " holds what it is told to.",
    )
    file_search_seconds: float = Field(
        10.0,
        gt=0,
        description="How long a `file_search` may spend on bringing its index of the workspace up to date.",
    )

    catalog_dir: Path | None = Field(
        None,
        description="A directory of the operator's with tools declared as JSON in `tools/`, MCP servers in `mcp/` and"
        " skills in `skills/`, outside of what tools can write (docs/catalog.md, docs/connectors.md, docs/skills.md).",
    )

    permission_mode: Literal["default", "plan", "auto", "bypass"] = Field(
        "default",
        description="How careful a turn is when its message does not say: `default` asks before what could destroy"
        " something, `plan` changes nothing, `auto` asks before every change, `bypass` never asks.",
    )
    permission_bypass_allowed: Flag = Field(
        False, description="Whether a turn may run in the mode `bypass`, where only denials hold."
    )
    permission_rules_path: Path | None = Field(
        None, description="A JSON file with the operator's permission rules; they hold for every user."
    )
    unattended_policy: Literal["park", "deny"] = Field(
        "park",
        description="What a turn marked `unattended` does with a call that a person should be asked about: `park`"
        " waits for one, `deny` refuses the call and goes on.",
    )

    secret_patterns: Literal["on", "off"] = Field(
        "on",
        description="Take out of tool output and logs what looks like a secret (a provider's key, a private key, a"
        " token). The engine's own keys are taken out of everything, whatever is set here.",
    )
    hooks_path: Path | None = Field(
        None, description="A JSON file with the operator's hooks, outside of what tools can write (docs/hooks.md)."
    )
    hooks_settings_load_enabled: Flag = Field(True, description="Read HOOKS_PATH at all.")
    pre_tool_hooks_enabled: Flag = Field(
        True, description="Ask hooks before tools run and before a person is asked."
    )
    post_tool_hooks_enabled: Flag = Field(True, description="Tell hooks what tools came to.")
    stop_hooks_enabled: Flag = Field(True, description="Ask hooks before a turn ends.")

    engine_log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field("INFO", description="Log floor.")
    engine_log_format: Literal["json", "text"] = Field("json", description="Log lines as JSON or for people.")
    otel_exporter_otlp_endpoint: str | None = Field(
        None, description="Send traces there (needs the `otel` extra); unset sends nothing anywhere."
    )

    @field_validator("allowed_roots")
    @classmethod
    def _roots_absolute(cls, value: str) -> str:
        for part in value.split(","):
            if part.strip() and not Path(part.strip()).is_absolute():
                raise ValueError(f"{part.strip()!r} is not an absolute path")
        return value

    @field_validator("time_zone")
    @classmethod
    def _zone_known(cls, value: str) -> str:
        if value not in (NO_CLOCK, "UTC"):
            try:
                ZoneInfo(value)
            except (ZoneInfoNotFoundError, ValueError, OSError):
                raise ValueError(f"{value!r} is no time zone such as Europe/Berlin, nor `off`") from None
        return value

    @field_validator("engine_key_hash")
    @classmethod
    def _hash_is_hex(cls, value: str | None) -> str | None:
        if value and (len(value) != 64 or any(c not in "0123456789abcdefABCDEF" for c in value)):
            raise ValueError("must be 64 hexadecimal digits (SHA-256)")
        return value.lower() if value else None

    @property
    def roots(self) -> tuple[Path, ...]:
        return tuple(Path(part.strip()) for part in self.allowed_roots.split(",") if part.strip())

    @property
    def secrets(self) -> dict[str, SecretStr]:
        """Every value that must never be shown, by the name of its variable."""
        values = {variable(name): getattr(self, name) for name in type(self).model_fields}
        return {name: value for name, value in values.items() if isinstance(value, SecretStr)}

    @property
    def allowed_models(self) -> tuple[str, ...]:
        return tuple(part.strip() for part in self.llm_allowed_models.split(",") if part.strip())

    @property
    def data_dir(self) -> Path:
        return self.sqlite_db_path.parent

    @property
    def models_dir(self) -> Path:
        return self.local_model_dir or self.data_dir / "models"

    @property
    def origins(self) -> frozenset[str]:
        return frozenset(part.strip() for part in self.allowed_origins.split(",") if part.strip())


def variable(field: str) -> str:
    """The environment variable of a settings field."""
    return field.upper()


def load(environ: Mapping[str, str] | None = None, env_file: Path | None = Path(".env"), **chosen: Any) -> Settings:
    """Read the settings; `chosen` (command-line options) wins over the environment, it over the file."""
    source = os.environ if environ is None else environ
    read: dict[str, str] = {}
    if env_file is not None and env_file.is_file():
        read |= {key: value for key, value in dotenv_values(env_file).items() if value is not None}
    read |= source
    read |= secret_files(read, Settings.model_fields)
    values: dict[str, Any] = {
        field: read[variable(field)] for field in Settings.model_fields if read.get(variable(field), "") != ""
    }
    values |= {field: value for field, value in chosen.items() if value is not None}
    try:
        return Settings(**values)
    except ValidationError as error:
        problems = {variable(str(item["loc"][0])): item["msg"] for item in error.errors() if item["loc"]}
        sentence = "; ".join(f"{name}: {problem}" for name, problem in problems.items())
        raise EngineError(
            ErrorCode.CONFIGURATION_INVALID, f"Set these variables right and start again. {sentence}", problems
        ) from None
