"""Each dialect by itself, as the servers it comes from read it, in every cut."""
# ruff: noqa: E501 - a table of replies as they are written, one per line

from typing import Any

import pytest

from aster.herald.text_tools.formats import FORMATS
from aster.herald.text_tools.items import Call
from tests.herald.text_tools.offering import in_every_cut

BERN: dict[str, Any] = {"city": "Bern"}
UTF: dict[str, Any] = {"city": 'Zürich "Ⅱ" \\ 😀\n}])</', "days": 3, "detail": True, "options": {"a": [None, 1.5]}}
JSON = '{"name": "get_weather", "arguments": {"city": "Bern"}}'
HARD = (
    '{"name": "get_weather", "arguments": {"city": "Zürich \\"Ⅱ\\" \\\\ 😀\\n}])</", "days": 3, "detail": true, '
    '"options": {"a": [null, 1.5]}}}'
)
NOW_JSON = '{"name": "now", "arguments": {}}'
KIMI = "<|tool_call_begin|>functions.{}:{}<|tool_call_argument_begin|>{}<|tool_call_end|>"
SECTION = "<|tool_calls_section_begin|>{}<|tool_calls_section_end|>"
V3 = "<｜tool▁call▁begin｜>function<｜tool▁sep｜>{}\n```json\n{}\n```<｜tool▁call▁end｜>"
V31 = "<｜tool▁call▁begin｜>{}<｜tool▁sep｜>{}<｜tool▁call▁end｜>"
CALLS = "<｜tool▁calls▁begin｜>{}<｜tool▁calls▁end｜>"
NS = "]<]minimax[>["
XTML = '<|open|>tools<|sep|><|open|>call tool="{}" index="1"<|sep|>{}<|close|>call<|sep|><|close|>tools<|sep|>'
ARGUMENT = '<|open|>argument key="{}" type="{}"<|sep|>{}<|close|>argument<|sep|>'


def dsml(outer: str, name: str, *parameters: tuple[str, str, str]) -> str:
    inner = "".join(
        f'<｜DSML｜parameter name="{key}" string="{textual}">{value}</｜DSML｜parameter>\n'
        for key, textual, value in parameters
    )
    return f'<｜DSML｜{outer}>\n<｜DSML｜invoke name="{name}">\n{inner}</｜DSML｜invoke>\n</｜DSML｜{outer}>'


def element(open_tag: str, close: str, parameter: str, end: str, **given: str) -> str:
    inner = "".join(f"{parameter.format(key)}\n{value}\n{end}\n" for key, value in given.items())
    return f"{open_tag}\n{inner}{close}"


def qwen(name: str, **given: str) -> str:
    return element(f"<function={name}>", "</function>", "<parameter={}>", "</parameter>", **given)


def pairs(name: str, gap: str = "\n", **given: str) -> str:
    inner = "".join(
        f"<arg_key>{key}</arg_key>{gap}<arg_value>{value}</arg_value>{gap}" for key, value in given.items()
    )
    return f"<tool_call>{name}{gap}{inner}</tool_call>"


CASES: list[tuple[str, str, str, list[tuple[str, dict[str, Any]]]]] = [
    ("hermes", f"<tool_call>\n{HARD}\n</tool_call>", "", [("get_weather", UTF)]),
    ("hermes", f"a <tool_call>{JSON}</tool_call>\n<tool_call>{NOW_JSON}</tool_call>", "a ", [("get_weather", BERN), ("now", {})]),
    ("hermes", f"<tool_call>{JSON}\n<tool_call>{NOW_JSON}</tool_call>", "", [("get_weather", BERN), ("now", {})]),
    ("hermes", "<tool_call>nothing</tool_call>", "<tool_call>nothing</tool_call>", []),
    ("hermes", '<tool_call>{"name": "ghost", "arguments": {}}</tool_call>', "", []),
    ("hermes", '<tool_call>{"name": "now", "argu', "", []),
    ("qwen3_coder", f"<tool_call>\n{qwen('get_weather', city='Bern', days='3', detail='true')}\n</tool_call>", "", [("get_weather", {**BERN, "days": 3, "detail": True})]),
    ("qwen3_coder", qwen("write_file", content="<a>\n\n</a>\n"), "", [("write_file", {"content": "<a>\n\n</a>\n"})]),
    ("qwen3_coder", f"<tool_call>{qwen('now')}</tool_call>\n<tool_call>{qwen('now')}</tool_call>", "", [("now", {}), ("now", {})]),
    ("qwen3_coder", "<tool_call><function=get_weather><parameter=city>Be", "", [("get_weather", {"city": "Be"})]),
    ("seed_oss", f"<seed:tool_call>{qwen('get_weather', city='Bern')}</seed:tool_call>", "", [("get_weather", BERN)]),
    ("glm4_moe", pairs("get_weather", city="Bern", days="3", near="[1]"), "", [("get_weather", {**BERN, "days": 3, "near": [1]})]),
    ("glm47_moe", f"a {pairs('get_weather', '', city='3')} b {pairs('now', '')}", "a  b ", [("get_weather", {"city": "3"}), ("now", {})]),
    ("glm47_moe", pairs("ghost", city="Bern"), "", []),
    ("glm47_moe", pairs("get_weather", "", city="\n a\n"), "", [("get_weather", {"city": "\n a\n"})]),
    ("glm47_moe", pairs("get_weather", city="a </tool_call> b"), "", [("get_weather", {"city": "a </tool_call> b"})]),
    ("poolside_v1", "<tool_call>get_weather\n<arg_key>days</arg_key><arg_key>city</arg_key>\n<arg_value>Bern</arg_value></tool_call>", "", [("get_weather", BERN)]),
    ("poolside_v1", "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Be", "", []),
    ("hunyuan", "<tool_calls>\n<tool_call>get_weather<tool_sep>\n<arg_key>city</arg_key>\n<arg_value>Bern</arg_value>\n</tool_call>\n</tool_calls>", "", [("get_weather", BERN)]),
    ("hunyuan", "<tool_calls><tool_call>get_weather<tool_sep><arg_key>city</arg_key><arg_value>\n3\n</arg_value><arg_key>more</arg_key><arg_value>3</arg_value></tool_call></tool_calls>", "", [("get_weather", {"city": "\n3\n", "more": "3"})]),
    ("hunyuan", "a <tool_calls:opensource><tool_call:opensource>get_weather<tool_sep:opensource><arg_key:opensource>city</arg_key:opensource><arg_value:opensource>Bern</arg_value:opensource></tool_call:opensource></tool_calls:opensource> b", "a", [("get_weather", BERN)]),
    ("glm47_moe", pairs("get_weather", days='"3"', more="3", near="3"), "", [("get_weather", {"days": 3, "more": 3, "near": 3})]),
    ("poolside_v1", pairs("get_weather", days="3.5", detail="True", near="('a',)"), "", [("get_weather", {"days": 3.5, "detail": True, "near": ["a"]})]),
    ("jamba", f"Sure. <tool_calls>[\n  {JSON},\n  {NOW_JSON}\n]</tool_calls>", "Sure. ", [("get_weather", BERN), ("now", {})]),
    ("longcat", f"<longcat_tool_call>{HARD}</longcat_tool_call>", "", [("get_weather", UTF)]),
    ("granite", f"<|tool_call|> [{JSON}, {NOW_JSON}]", "", [("get_weather", BERN), ("now", {})]),
    ("granite", f"<tool_call>[{JSON}]", "", [("get_weather", BERN)]),
    ("granite-20b-fc", f"Well. <function_call> {JSON} <function_call> {NOW_JSON}", "Well. ", [("get_weather", BERN), ("now", {})]),
    ("internlm", '<|action_start|><|plugin|>\n{"name": "get_weather", "parameters": {"city": "Bern"}}\n<|action_end|>', "", [("get_weather", BERN)]),
    ("internlm", "<|action_start|><|plugin|>", "", []),
    ("internlm", f"a<|action_start|> <|plugin|>\n{JSON}<|action_end|>\n<|action_start|> <|plugin|>\n{NOW_JSON}<|action_end|>b", "a", [("get_weather", BERN), ("now", {})]),
    ("phi4_mini_json", f"functools[{JSON}, {NOW_JSON}]", "", [("get_weather", BERN), ("now", {})]),
    ("phi4_mini_json", "function tools are functools, not more", "function tools are functools, not more", []),
    ("mistral", f"I see. [TOOL_CALLS] [{HARD}]", "I see. ", [("get_weather", UTF)]),
    ("mistral", '[TOOL_CALLS][{"arguments": "{\\"city\\": \\"Bern\\"}", "name": "get_weather", "id": "abc123456"}]', "", [("get_weather", BERN)]),
    ("mistral", f"I see. [TOOL_CALLS] [{JSON}]\n\n And then. ", "I see. And then.", [("get_weather", BERN)]),
    ("mistral_v11", '[TOOL_CALLS]get_weather{"city": "Bern"}[TOOL_CALLS]now{}', "", [("get_weather", BERN), ("now", {})]),
    ("mistral_v11", 'a[TOOL_CALLS]get_weather[CALL_ID]abc123456[ARGS]{"city": "Bern"} more', "a", [("get_weather", BERN)]),
    ("mistral_v11", "[TOOL_CALLS]web-search[ARGS]{}", "", [("web-search", {})]),
    ("llama3_json", f'<|python_tag|>{JSON.replace("arguments", "parameters")}<|eom_id|>', "", [("get_weather", BERN)]),
    ("llama3_json", f"{JSON}; {NOW_JSON};{JSON}", "", [("get_weather", BERN), ("now", {}), ("get_weather", BERN)]),
    ("llama3_json", '{"city": "Bern"} is {JSON}', '{"city": "Bern"} is {JSON}', []),
    ("llama3_json", f'{{"name": "now", "parameters": {{{NOW_JSON}', "", [("now", {})]),
    ("llama3_json", '<|python_tag|>get_weather.call(city="Bern")', "", [("get_weather", BERN)]),
    ("llama3_json", f"[{JSON}, {NOW_JSON}]", "", [("get_weather", BERN), ("now", {})]),
    ("json_array", f"[{JSON}, {NOW_JSON}, {{", "", [("get_weather", BERN), ("now", {})]),
    ("json_array", f"[{JSON},\n{NOW_JSON}]", "", [("get_weather", BERN), ("now", {})]),
    ("pythonic", "[get_weather(city='Bern', days=3, detail=False, options={'a': None}), now()]", "", [("get_weather", {**BERN, "days": 3, "detail": False, "options": {"a": None}}), ("now", {})]),
    ("pythonic", 'Well: [get_weather(city="it\'s [1] (2)")] ok', "Well:  ok", [("get_weather", {"city": "it's [1] (2)"})]),
    ("pythonic", "[1, 2] and [x] and ['y']", "[1, 2] and [x] and ['y']", []),
    ("pythonic", "[get_weather(city='Be", "", []),
    ("llama4_pythonic", "<|python_start|>[get_weather(city='Bern')]<|python_end|>", "", [("get_weather", BERN)]),
    ("olmo3", "<function_calls>[get_weather(city='Bern')]</function_calls>", "", [("get_weather", BERN)]),
    ("olmo3", "<function_calls>now()\nget_weather(city='Bern', detail=true, near=null)</function_calls>", "", [("now", {}), ("get_weather", {**BERN, "detail": True, "near": None})]),
    ("lfm2", "<|tool_call_start|>get_weather(city='Bern')<|tool_call_end|>", "", [("get_weather", BERN)]),
    ("lfm2", "<|tool_call_start|>get_weather city<|tool_call_end|>", "", []),
    ("lfm2", "<|tool_call_start|>[get_weather('Bern', days=3)]<|tool_call_end|>", "", [("get_weather", {**BERN, "days": 3})]),
    ("lfm2", f"a<|tool_call_start|>[{JSON}]<|tool_call_end|>b", "a", [("get_weather", BERN)]),
    ("kimi_k2", SECTION.format(KIMI.format("get_weather", 0, '{"city": "Bern"}') + KIMI.format("now", 1, "{}")), "", [("get_weather", BERN), ("now", {})]),
    ("kimi_k2", "a" + SECTION.format(KIMI.format("web-search", 12, '{"query": "x"}')), "a", [("web-search", {"query": "x"})]),
    ("kimi_k2", SECTION.format(KIMI.replace("functions.{}:{}", "0").format('{"query": "x"}')), "", [("web-search", {"query": "x"})]),
    ("kimi_k2", SECTION.format(KIMI.format("now", 0, "{not json}") + KIMI.format("now", 1, "{}")), "", [("now", {})]),
    ("kimi_k2", SECTION.format("".join(KIMI.replace("functions.{}:{}", written).format("{}") for written in ("functions_now_0", "functions(now):2.0", "now12", "now"))), "", [("now", {})] * 4),
    ("kimi_k2", SECTION.format(KIMI.replace("functions.{}:{}", "7").format('{"city": "Bern", "more": 1}')), "", [("get_weather", {**BERN, "more": 1})]),
    ("kimi_k2", SECTION.format(KIMI.replace("functions.{}:{}", "7").format('{"more": 1}') + KIMI.format("ghost", 1, "{}")), "", []),
    ("kimi_k3", f"a{XTML.format('ghost', '')}b", "a", [("ghost", {})]),
    ("kimi_k3", "<|open|>response<|sep|>Hi<|close|>response<|sep|>" + XTML.format("get_weather", ARGUMENT.format("city", "string", '"3"') + ARGUMENT.format("days", "number", "3")), "Hi", [("get_weather", {"city": '"3"', "days": 3})]),
    ("deepseek_v3", CALLS.format(V3.format("get_weather", '{"city": "Bern"}') + V3.format("now", "{}")), "", [("get_weather", BERN), ("now", {})]),
    ("deepseek_v31", "a" + CALLS.format(V31.format("get_weather", '{"city": "Bern"}') + V31.format("now", "{}")), "a", [("get_weather", BERN), ("now", {})]),
    ("deepseek_v32", dsml("function_calls", "get_weather", ("city", "true", "3"), ("days", "false", "3")), "", [("get_weather", {"city": "3", "days": 3})]),
    ("deepseek_v4", "a\n" + dsml("tool_calls", "get_weather", ("options", "false", '{"a": [1]}')), "a\n", [("get_weather", {"options": {"a": [1]}})]),
    ("deepseek_v4", '<｜DSML｜tool_calls><｜DSML｜invoke name="get_weather">{"city": "Bern"}</｜DSML｜invoke></｜DSML｜tool_calls>', "", [("get_weather", BERN)]),
    ("step3", '<｜tool_calls_begin｜><｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="get_weather"><steptml:parameter name="city">Bern</steptml:parameter></steptml:invoke><｜tool_call_end｜><｜tool_calls_end｜>', "", [("get_weather", BERN)]),
    ("step3", 'a<｜tool_calls_begin｜><｜tool_call_begin｜><steptml:invoke name="get_weather"><steptml:parameter name="city"> Bern\n</steptml:parameter></steptml:invoke><｜tool_call_end｜><｜tool_calls_end｜>b', "ab", [("get_weather", BERN)]),
    ("dots", '<dots_function_call>\n<invoke name="get_weather"><parameter name="days">3</parameter></invoke>\n</dots_function_call>', "", [("get_weather", {"days": 3})]),
    ("gemma4", '<|tool_call>call:get_weather{city:<|"|>a, {b}: "c"<|"|>,days:3,detail:true,near:[1,<|"|>x<|"|>,{y:2.5}]}<tool_call|>', "", [("get_weather", {"city": 'a, {b}: "c"', "days": 3, "detail": True, "near": [1, "x", {"y": 2.5}]})]),
    ("gemma4", '<|tool_call>call:get_weather{near:[1,}<tool_call|><|tool_call>call:get_weather{city:<|"|>Bern<tool_call|>', "", [("get_weather", {"near": [1]}), ("get_weather", BERN)]),
    ("gemma4", "<|tool_call>call:ghost{a:1}<tool_call|>", "", [("ghost", {"a": 1})]),
    ("functiongemma", "<start_function_call>call:get_weather{city:<escape>Bern<escape>}<end_function_call>", "", [("get_weather", BERN)]),
    ("gigachat3", f"Hi<|message_sep|>\n\nfunction call<|role_sep|>\n{JSON}", "Hi", [("get_weather", BERN)]),
    ("gigachat3", f"<|function_call|>{JSON}</s>", "", [("get_weather", BERN)]),
    ("minicpm5", '<function name="get_weather"><param name="city"><![CDATA[a\n<b>]]></param></function>', "", [("get_weather", {"city": "a\n<b>"})]),
    ("minicpm5", '<function name="now"><param name="x">1</param><param name="y"> a b </param></function>', "", [("now", {"x": 1, "y": "a b"})]),
    ("minimax_m2", '<minimax:tool_call>\n<invoke name="get_weather">\n<parameter name="city">Bern</parameter>\n</invoke>\n</minimax:tool_call>', "", [("get_weather", BERN)]),
    ("minimax_m3", f"a{NS}<tool_call>\n{NS}<invoke name=\"get_weather\">{NS}<city>Bern{NS}</city>{NS}<near>{NS}<item>1{NS}</item>{NS}<item>2{NS}</item>{NS}</near>{NS}</invoke>{NS}</tool_call>", "a", [("get_weather", {**BERN, "near": ["1", "2"]})]),
    ("minimax_m3", f"{NS}<tool_call>{NS}<invoke name=\"get_weather\">{NS}<days>3.0{NS}</days>{NS}<near>{NS}</near>{NS}<more>{NS}<a>x{NS}</a>{NS}<a>y{NS}</a>{NS}</more>{NS}</invoke>{NS}</tool_call>", "", [("get_weather", {"days": "3.0", "near": [], "more": {"a": ["x", "y"]}})]),
    ("command_r7b", '<|START_THINKING|>now <|START_ACTION|><|END_THINKING|><|START_ACTION|>[\n {"tool_call_id": "0", "tool_name": "now", "parameters": {}}\n]<|END_ACTION|>', "", [("now", {})]),
    ("command_r7b", "<|START_RESPONSE|>Hello.<|END_RESPONSE|>", "Hello.", []),
    ("solar_open", '<|think|>hm<|end|><|begin|>assistant<|tool_calls|><|tool_call:begin|>a1<|tool_call:name|>get_weather<|tool_call:args|>{"city": "Bern"}<|tool_call:end|><|calls|>', "", [("get_weather", BERN)]),
    ("functionary_v31", '<function=get_weather>{"city": "Bern"}</function>', "", [("get_weather", BERN)]),
    ("gpt_oss", '<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{"city": "Bern"}<|call|>', "", [("get_weather", BERN)]),
    ("gpt_oss", "<|channel|>final<|message|>Hello.<|return|>", "Hello.", []),
    ("apertus", '<|tools_prefix|>[{"get_weather": {"city": "Bern"}}]<|tools_suffix|>', "", [("get_weather", BERN)]),
    ("nemotron", f"<TOOLCALL>[{JSON}]</TOOLCALL>", "", [("get_weather", BERN)]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "content", "calls"), CASES)
def test_a_dialect(name: str, text: str, content: str, calls: list[tuple[str, dict[str, Any]]]) -> None:
    said, found = in_every_cut(text, name)
    assert found == [Call(tool, given) for tool, given in calls]
    assert said.strip() == content.strip()


@pytest.mark.parametrize("name", FORMATS)
def test_prose_is_prose_in_every_format(name: str) -> None:
    text = "Hello, world!\nWhat's <b>up</b>? A list: a, b (c); 1 < 2. `code`"
    assert in_every_cut(text, name) == (text, [])


@pytest.mark.parametrize("name", FORMATS)
def test_an_empty_reply_is_empty(name: str) -> None:
    assert in_every_cut("", name) == ("", [])


def test_without_named_tools_every_name_counts() -> None:
    assert in_every_cut(f"<tool_call>{JSON}</tool_call>", "hermes", ()) == ("", [Call("get_weather", BERN)])
    assert in_every_cut(qwen("anything", a="1"), "qwen3_coder", ()) == ("", [Call("anything", {"a": "1"})])


def test_strict_formats_show_what_they_refuse() -> None:
    for inner in (
        '<param name="city">a</param><param name="city">b</param>',
        "<param>a</param>",
        '<param name="x">1</param>',
    ):
        text = f'<function name="get_weather">{inner}</function>'
        assert in_every_cut(text, "minicpm5") == (text, [])
