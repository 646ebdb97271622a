"""Traces to an OpenTelemetry collector over OTLP/HTTP; the only module that imports OpenTelemetry.

Spans are batched and sent by a thread of the SDK, so the loop never waits for the collector. A collector that
is down costs spans, never a turn. No prompt, answer, tool input or output is ever put on a span, and no secret.
"""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Final, TypeAlias

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import SpanKind, Status, StatusCode
from opentelemetry.util.types import AttributeValue

from aster.contracts.errors import EngineError
from aster.contracts.llm import TokenUsage
from aster.infra.secrets import PROCESS
from aster.raven import semconv
from aster.raven.traces import Span, Traces

SEND_TIMEOUT: Final = 3.0
AGENT: Final = "aster"

Facts: TypeAlias = dict[str, AttributeValue | None]


class OtlpSpan(Span):
    """A span that is recorded."""

    def __init__(self, raw: trace.Span) -> None:
        self._raw = raw

    def set(
        self,
        *,
        seq: int | None = None,
        usage: TokenUsage | None = None,
        cost_usd: float | None = None,
        model: str | None = None,
        finish_reason: str | None = None,
        first_token_seconds: float | None = None,
        ok: bool | None = None,
        error: str | None = None,
    ) -> None:
        if ok is False and error is None:
            error = "_OTHER"
        known: Facts = {
            semconv.SEQ: seq,
            semconv.COST: cost_usd,
            semconv.RESPONSE_MODEL: model,
            semconv.FINISH_REASONS: (finish_reason,) if finish_reason else None,
            semconv.FIRST_CHUNK: first_token_seconds,
            semconv.ERROR_TYPE: error,
        }
        if usage is not None:
            known |= {
                semconv.INPUT_TOKENS: usage.input_total,
                semconv.OUTPUT_TOKENS: usage.output,
                semconv.CACHE_READ_TOKENS: usage.cache_read,
                semconv.CACHE_WRITE_TOKENS: usage.cache_write,
            }
        self._raw.set_attributes(_present(known))
        if error is not None:
            self._raw.set_status(Status(StatusCode.ERROR))


class OtlpTraces(Traces):
    """Traces to `endpoint`, the base address of a collector (`http://127.0.0.1:4318`)."""

    def __init__(self, endpoint: str, *, version: str = "") -> None:
        ours = Resource({"service.name": AGENT, "service.version": version})
        self._provider = TracerProvider(resource=ours.merge(OTELResourceDetector().detect()))
        exporter = OTLPSpanExporter(endpoint=f"{endpoint.rstrip('/')}/v1/traces", timeout=SEND_TIMEOUT)
        self._provider.add_span_processor(BatchSpanProcessor(exporter))
        self._tracer = self._provider.get_tracer("aster", version, schema_url=semconv.SCHEMA_URL)

    @contextmanager
    def turn_span(self, task_id: str, turn_id: str, segment: int = 0) -> Generator[Span, None, None]:
        facts: Facts = {
            semconv.OPERATION: semconv.INVOKE_AGENT,
            semconv.AGENT_NAME: AGENT,
            semconv.SEGMENT: segment,
        }
        with self._span(semconv.INVOKE_AGENT, AGENT, SpanKind.INTERNAL, task_id, turn_id, facts) as span:
            yield span

    @contextmanager
    def model_span(
        self, model: str, task_id: str, turn_id: str, *, step: int | None = None, provider: str | None = None
    ) -> Generator[Span, None, None]:
        facts: Facts = {
            semconv.OPERATION: semconv.CHAT,
            semconv.REQUEST_MODEL: model,
            semconv.PROVIDER: provider,
            semconv.STEP: step,
        }
        with self._span(semconv.CHAT, model, SpanKind.CLIENT, task_id, turn_id, facts) as span:
            yield span

    @contextmanager
    def tool_span(
        self, tool: str, task_id: str, turn_id: str, *, step: int | None = None, call_id: str | None = None
    ) -> Generator[Span, None, None]:
        facts: Facts = {
            semconv.OPERATION: semconv.EXECUTE_TOOL,
            semconv.TOOL_NAME: tool,
            semconv.TOOL_CALL: call_id,
            semconv.TOOL_TYPE: "function",
            semconv.STEP: step,
        }
        with self._span(semconv.EXECUTE_TOOL, tool, SpanKind.INTERNAL, task_id, turn_id, facts) as span:
            yield span

    def close(self) -> None:
        self._provider.force_flush(int(SEND_TIMEOUT * 1000))
        self._provider.shutdown()

    @contextmanager
    def _span(
        self, operation: str, subject: str, kind: SpanKind, task_id: str, turn_id: str, facts: Facts
    ) -> Generator[Span, None, None]:
        ids: Facts = {semconv.CONVERSATION: task_id, semconv.TASK: task_id, semconv.TURN: turn_id}
        with self._tracer.start_as_current_span(
            PROCESS.clean(f"{operation} {subject}", "trace", shapes=True),
            kind=kind,
            attributes=_present(facts | ids),
            record_exception=False,
            set_status_on_exception=False,
        ) as raw:
            span = OtlpSpan(raw)
            try:
                yield span
            except Exception as error:
                # The class alone: a message may quote what a user wrote.
                span.set(error=error.code.value if isinstance(error, EngineError) else type(error).__name__)
                raise


def _present(facts: Facts) -> dict[str, AttributeValue]:
    return {name: _clean(value) for name, value in facts.items() if value is not None}


def _clean(value: AttributeValue) -> AttributeValue:
    return PROCESS.clean(value, "trace", shapes=True) if isinstance(value, str) else value
