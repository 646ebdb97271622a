"""Ingestion: a text too long for a conversation is put into the user's documents, part by part, and looked up by tools.

The message keeps its beginning, its end and the document's name. The name is a digest of task and text: the same text
in the same task is the same document and is not put in twice, and it goes when the task is deleted.
"""

import asyncio
import hashlib
from typing import Final

from aster.brain.records import ThreadKey
from aster.infra.settings import Settings
from aster.memory.documents import INGESTED, Document, cut
from aster.memory.drafts import Draft
from aster.memory.memory import Memory

PREFIX: Final = "ingested-"
HEAD: Final = 1_500
TAIL: Final = 500
_DIGITS: Final = 16
_PAGE: Final = 100
_TITLE: Final = 200


class Ingestion:
    def __init__(self, settings: Settings, memory: Memory) -> None:
        self._from = settings.content_ingestion_chars
        self._memory = memory

    async def shortened(self, user_id: str, task_id: str, text: str, title: str = "pasted text") -> str:
        """The text itself while it is short; else its ends, with the name of the document that holds all of it."""
        if len(text) < self._from:
            return text
        text, title = text.replace("\0", ""), title[:_TITLE]
        name = name_of(task_id, text)
        parts = await asyncio.to_thread(lambda: sum(1 for _ in cut(text)))
        if len(await self._memory.parts_of(user_id, name)) != parts:
            draft = Draft("chunk", {}, task_id=task_id, extractor=INGESTED)
            await self._memory.ingest(user_id, Document(name, text, title), draft)
        left_out = len(text) - HEAD - TAIL
        return (
            f"{text[:HEAD]}\n[… {left_out:,} of {len(text):,} characters are left out here. All of “{title}”"
            f" is kept as document `{name}` in {parts} parts: `ingested_search` finds what it says about something,"
            f" `ingested_read` reads it on. …]\n{text[-TAIL:]}"
        )


def name_of(task_id: str, text: str) -> str:
    digest = hashlib.sha256(f"{task_id}\0{text}".encode("utf-8", "replace")).hexdigest()
    return PREFIX + digest[:_DIGITS]


async def tear_out(memory: Memory, key: ThreadKey) -> None:
    """A task was deleted: what was put in with its messages is forgotten. Documents somebody else put in stay."""
    before = None
    while page := await memory.documents(key.user_id, task_id=key.task_id, limit=_PAGE, before=before):
        before = page[-1].number
        for document in page:
            if document.extractor == INGESTED:
                parts = await memory.parts_of(key.user_id, document.name)
                await memory.forget(key.user_id, [part.id for part in parts])
