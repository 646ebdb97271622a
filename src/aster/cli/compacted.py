"""What became of a request to compact a task, in a sentence."""

from aster.cli.screen.clean import one_line
from aster.client.records import Compacted

_WIDTH = 200


def sentence(done: Compacted) -> str:
    match done.status:
        case "requested":
            return "It is compacted before its next model call."
        case "unchanged":
            return f"Nothing was changed: {one_line(done.reason or '', _WIDTH)}"
        case _:
            return f"{done.before_tokens:,} tokens are {done.after_tokens:,} now."
