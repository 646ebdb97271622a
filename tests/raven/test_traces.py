"""Traces sent to a real OTLP/HTTP receiver on loopback, and nothing at all without one."""

import gzip
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, Span, Status

from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.llm import TokenUsage
from aster.infra.secrets import PROCESS
from aster.raven import semconv
from aster.raven.raven import Raven
from aster.raven.traces import Traces, connect


class Collector:
    """An OTLP/HTTP receiver that keeps what it is sent."""

    def __init__(self) -> None:
        kept: list[ResourceSpans] = []
        self.received = kept
        self.paths: list[str] = []
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.headers.get("Content-Encoding") == "gzip":
                    body = gzip.decompress(body)
                collector.paths.append(self.path)
                kept.extend(ExportTraceServiceRequest.FromString(body).resource_spans)
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *args: object) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
                return

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()
        self.endpoint = f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def spans(self) -> dict[str, Span]:
        return {
            span.name: span for resource in self.received for scope in resource.scope_spans for span in scope.spans
        }


@pytest.fixture
def collector() -> Iterator[Collector]:
    running = Collector()
    yield running
    running.close()


def attributes(span: Span) -> dict[str, object]:
    found: dict[str, object] = {}
    for item in span.attributes:
        kind = item.value.WhichOneof("value")
        if kind == "array_value":
            found[item.key] = [value.string_value for value in item.value.array_value.values]
        elif kind is not None:
            found[item.key] = getattr(item.value, kind)
    return found


def test_a_turn_arrives_with_its_calls_as_children(collector: Collector) -> None:
    traces = connect(collector.endpoint, version="1.2.3")
    raven = Raven(lambda observation: None, traces=traces)
    with raven.turn_span("task", "turn-1", 2) as turn:
        with raven.model_span("m-1", "task", "turn-1", step=1, provider="acme") as call:
            call.set(
                seq=7,
                usage=TokenUsage(input=10, output=5, cache_read=100, cache_write=20),
                cost_usd=0.5,
                model="m-1-2026",
                finish_reason="tool_use",
                first_token_seconds=0.25,
            )
        with raven.tool_span("bash", "task", "turn-1", step=1, call_id="call-1") as tool:
            tool.set(seq=9, ok=True)
        turn.set(seq=12)
    raven.close()

    assert set(collector.paths) == {"/v1/traces"}
    spans = collector.spans
    assert set(spans) == {"invoke_agent aster", "chat m-1", "execute_tool bash"}
    turn_span, model_span, tool_span = spans["invoke_agent aster"], spans["chat m-1"], spans["execute_tool bash"]
    assert model_span.parent_span_id == tool_span.parent_span_id == turn_span.span_id
    assert {span.trace_id for span in spans.values()} == {turn_span.trace_id}
    assert model_span.kind == Span.SPAN_KIND_CLIENT
    assert turn_span.kind == tool_span.kind == Span.SPAN_KIND_INTERNAL
    ids = {"gen_ai.conversation.id": "task", "aster.task_id": "task", "aster.turn_id": "turn-1"}
    assert attributes(turn_span) == {
        **ids,
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "aster",
        "aster.segment": 2,
        "aster.seq": 12,
    }
    assert attributes(model_span) == {
        **ids,
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "m-1",
        "gen_ai.provider.name": "acme",
        "gen_ai.response.model": "m-1-2026",
        "gen_ai.response.finish_reasons": ["tool_use"],
        "gen_ai.response.time_to_first_chunk": 0.25,
        "gen_ai.usage.input_tokens": 130,
        "gen_ai.usage.output_tokens": 5,
        "gen_ai.usage.cache_read.input_tokens": 100,
        "gen_ai.usage.cache_creation.input_tokens": 20,
        "aster.cost_usd": 0.5,
        "aster.step": 1,
        "aster.seq": 7,
    }
    assert attributes(tool_span) == {
        **ids,
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "bash",
        "gen_ai.tool.call.id": "call-1",
        "gen_ai.tool.type": "function",
        "aster.step": 1,
        "aster.seq": 9,
    }
    (resource, *_) = collector.received
    about = {item.key: item.value.string_value for item in resource.resource.attributes}
    assert about["service.name"] == "aster"
    assert about["service.version"] == "1.2.3"
    assert resource.scope_spans[0].schema_url == semconv.SCHEMA_URL


def test_a_failure_is_named_by_its_code_and_never_by_its_message(collector: Collector) -> None:
    traces = connect(collector.endpoint)
    with (
        pytest.raises(EngineError),
        traces.turn_span("task", "turn-1"),
        traces.model_span("m-1", "task", "turn-1"),
    ):
        raise EngineError(ErrorCode.LLM_TIMEOUT, "what the user wrote")
    with pytest.raises(ZeroDivisionError), traces.tool_span("bash", "task", "turn-1"):
        raise ZeroDivisionError("what the user wrote")
    with traces.tool_span("grep", "task", "turn-1") as span:
        span.set(ok=False, error="timeout")
    with traces.tool_span("find", "task", "turn-1") as span:
        span.set(ok=False)
    traces.close()

    spans = collector.spans
    named = {name: attributes(span).get("error.type") for name, span in spans.items()}
    assert named == {
        "invoke_agent aster": "LLM_TIMEOUT",
        "chat m-1": "LLM_TIMEOUT",
        "execute_tool bash": "ZeroDivisionError",
        "execute_tool grep": "timeout",
        "execute_tool find": "_OTHER",
    }
    assert all(span.status.code == Status.STATUS_CODE_ERROR for span in spans.values())
    assert not any(b"user wrote" in span.SerializeToString() for span in spans.values())


def test_a_secret_is_on_no_span(collector: Collector) -> None:
    PROCESS.register("value-of-a-key-in-a-name", "THE_KEY")
    traces = connect(collector.endpoint)
    with traces.turn_span("task value-of-a-key-in-a-name", "turn-1") as turn:
        turn.set(error="refused ghp_16C7e42F292c6912E7710c838347Ae178B4a")
        with traces.tool_span("value-of-a-key-in-a-name", "t", "turn-1", call_id="c"):
            pass
    traces.close()
    sent = b"".join(resource.SerializeToString() for resource in collector.received)
    assert b"value-of-a-key-in-a-name" not in sent
    assert b"ghp_16C7e42F" not in sent
    assert {"invoke_agent aster", "execute_tool [redacted: THE_KEY]"} == set(collector.spans)


def test_a_cancelled_turn_is_not_a_failure(collector: Collector) -> None:
    class Suspended(BaseException):
        pass

    traces = connect(collector.endpoint)
    with pytest.raises(Suspended), traces.turn_span("task", "turn-1"):
        raise Suspended
    traces.close()
    (span,) = collector.spans.values()
    assert span.status.code == Status.STATUS_CODE_UNSET


def test_a_collector_that_is_down_fails_nothing() -> None:
    gone = Collector()
    gone.close()
    traces = connect(gone.endpoint)
    with traces.turn_span("task", "turn-1") as span:
        span.set(seq=1)
    traces.close()


@pytest.mark.parametrize("endpoint", [None, ""])
def test_without_an_endpoint_spans_go_nowhere(endpoint: str | None) -> None:
    traces = connect(endpoint)
    assert type(traces) is Traces
    with traces.turn_span("task", "turn-1") as turn, traces.model_span("m", "task", "turn-1") as call:
        call.set(seq=1, usage=TokenUsage())
        turn.set(seq=2)
    with pytest.raises(KeyError), traces.tool_span("bash", "task", "turn-1"):
        raise KeyError
    traces.close()


def run(script: str) -> str:
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return done.stdout


def test_opentelemetry_is_not_imported_unless_asked_for() -> None:
    script = (
        "import sys; import aster.raven.raven; from aster.raven.traces import connect; connect(None)\n"
        "print([name for name in sys.modules if name.startswith('opentelemetry')])"
    )
    assert run(script).strip() == "[]"


def test_without_the_extra_one_line_says_what_to_install() -> None:
    script = (
        "import sys; sys.modules['opentelemetry'] = None\n"
        "from aster.infra.logging import configure; configure()\n"
        "from aster.raven.traces import connect\n"
        "traces = connect('http://127.0.0.1:9')\n"
        "with traces.turn_span('t', 'u') as span: span.set(seq=1)\n"
        "print(type(traces).__name__)"
    )
    line, kind = run(script).splitlines()
    assert "aster-engine[otel]" in line
    assert kind == "Traces"


def test_the_pinned_names_are_those_of_the_conventions() -> None:
    from opentelemetry.semconv._incubating.attributes import gen_ai_attributes

    published = {value for name, value in vars(gen_ai_attributes).items() if name.startswith("GEN_AI_")}
    ours = {value for value in vars(semconv).values() if isinstance(value, str) and value.startswith("gen_ai.")}
    assert ours <= published
