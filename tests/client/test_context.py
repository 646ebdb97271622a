"""What model calls were shown, through the SDK."""

from aster.client import AsterClient


async def test_calls_one_and_two_compared(client: AsterClient, task: str) -> None:
    for number in (1, 2):
        async for _ in client.execute(f"[[text={number}]]", task):
            pass
    page = await client.context.calls(task, limit=1)
    rest = await client.context.calls(task, before=page.next)
    newest, oldest = page.calls[0], rest.calls[0]
    shown = await client.context.call(task, newest.call)
    blocks = [block.block for block in shown.blocks]
    assert (blocks[0], blocks[-1]) == ("system", "message")
    assert blocks.index("tools") < blocks.index("history")
    assert shown.total_tokens == newest.total_tokens
    compared = await client.context.diff(task, oldest.call, newest.call)
    assert (compared.moved, compared.before.call, compared.after.call) == (None, oldest.call, newest.call)
    changes = {named.block: one.change for one in compared.blocks if (named := one.after or one.before) is not None}
    assert (changes["system"], changes["history"], changes["message"]) == ("same", "added", "changed")
