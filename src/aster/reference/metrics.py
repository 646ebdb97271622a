"""The metrics page: every metric an engine can show, with its labels."""

from aster.raven.metrics import COUNTERS, GAUGES, Metrics
from aster.reference.markdown import code, page, table

INTRO = """\
`GET /metrics` answers in the Prometheus text format. Labels hold closed sets of words or are capped; what comes
later is counted as `other`. The process metrics of the Prometheus client (memory, CPU, files) are there too."""


def render() -> str:
    metrics = Metrics("")
    metrics.bind_gauges(dict.fromkeys((*GAUGES, *COUNTERS), _zero))
    rows = sorted(_rows(metrics))
    return page("Metrics", INTRO, table(("metric", "kind", "labels", "meaning"), rows))


def _rows(metrics: Metrics) -> list[tuple[str, str, str, str]]:
    labels = metrics.label_names
    return [
        (
            code(f"{family.name}_total" if family.type == "counter" else family.name),
            family.type,
            ", ".join(code(label) for label in labels.get(family.name, ())),
            family.documentation,
        )
        for family in metrics.registry.collect()
        if family.name.startswith("aster_")
    ]


def _zero() -> float:
    return 0.0
