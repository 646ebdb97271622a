"""`aster dev`: every line in gives one line out."""

import json

from tests.cli.program import Home

TOOL = {
    "name": "now",
    "description": "",
    "parameters": {"type": "object", "properties": {"zone": {"type": "string"}}},
}


def test_replies_are_read_line_by_line(home: Home) -> None:
    replies = [
        {
            "format": "hermes",
            "chunks": ["Hi. <tool_", 'call>{"name": "now", "arguments": {}}</tool_call>'],
            "tools": [TOOL],
        },
        {
            "format": "qwen3_coder",
            "chunks": ["<function=now><parameter=zone>\nUTC\n</parameter></function>"],
            "tools": [{"type": "function", "function": TOOL}],
        },
        {"format": "nobody knows", "chunks": ["[now(zone='é')]"], "tools": [TOOL]},
        {"chunks": ["just text"]},
        {"format": None, "chunks": ["<tool_call>now</tool", "_call>"], "tools": None},
    ]
    done = home.call("dev", "parse-toolcalls", said="\n".join(map(json.dumps, replies)) + "\n\n")
    assert done.returncode == 0
    assert [json.loads(line) for line in done.stdout.splitlines()] == [
        {"content": "Hi. ", "calls": [{"name": "now", "arguments": {}}]},
        {"content": "", "calls": [{"name": "now", "arguments": {"zone": "UTC"}}]},
        {"content": "", "calls": [{"name": "now", "arguments": {"zone": "é"}}]},
        {"content": "just text", "calls": []},
        {"content": "", "calls": [{"name": "now", "arguments": {}}]},
    ]


def test_a_line_that_is_no_reply_is_said_in_its_place(home: Home) -> None:
    lines = ["nonsense", '{"chunks": ["ok"]}', '{"chunks": [], "tools": [{"no": "name"}]}', '{"chunks": "no"}']
    done = home.call("dev", "parse-toolcalls", said="\n".join(lines))
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [sorted(answer) for answer in answers] == [["error"], ["calls", "content"], ["error"], ["error"]]
    assert done.returncode == 1
