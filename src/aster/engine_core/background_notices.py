"""What ended behind the model's back, told to it before its next call: once, in the engine's words.

The message and the mark that it was told are one commit. It holds nothing the command has written: that is data
from outside and comes with `bash_output`, between its marks.
"""

from typing import Final

from aster.brain.records import BackgroundRecord, BackgroundToldRow
from aster.engine_core.replaying.recorded import NOTICE
from aster.engine_core.services import Services
from aster.engine_core.telling import told
from aster.engine_core.turn import Turn
from aster.infra.clock import now_ms
from aster.infra.ids import new_id

SHOWN_CHARS: Final = 100


async def tell(turn: Turn, services: Services) -> None:
    """Tell the model of background commands that have ended without its knowing, if there are any."""
    untold = services.background.untold
    seen = untold.get(turn.key)
    if seen is None:
        return
    await turn.flush()
    ended = await turn.brain.background_untold(turn.key)
    if ended:
        text = "\n".join(map(notice, ended))
        said = told(text, new_id(NOTICE))
        now = now_ms()
        turn.write(
            said, rows=[BackgroundToldRow(runtime_task_id=one.runtime_task_id, told_at=now) for one in ended]
        )
    elif untold.get(turn.key) == seen:
        del untold[turn.key]


def notice(record: BackgroundRecord) -> str:
    """One line about a command that has ended."""
    name, why = record.runtime_task_id, f"`{record.description[:SHOWN_CHARS].replace('`', chr(39))}`"
    if record.status == "lost":
        return f"The background command {name} ({why}) is lost: the engine stopped while it ran."
    status = "" if record.exit_code is None else f" with exit status {record.exit_code}"
    ended = f"The background command {name} ({why}) has ended: {record.status}{status}."
    return f"{ended} bash_output shows what it wrote."
