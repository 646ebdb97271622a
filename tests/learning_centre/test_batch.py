"""What happened becomes what is known, over HTTP: the right things, with their receipts, and all of it can be taken
back."""

import asyncio

from aster.testing import ModelServer
from tests.learning_centre.asking import exported, got, learned, posted, talked
from tests.learning_centre.worker import Worker
from tests.live import Live

CONVERSATIONS = (
    "I live in Porto and I need a packing list for a weekend.",
    "My favourite drink is green tea. Suggest a snack that goes with it.",
    "From now on answer in metric units. How far is a mile?",
    "My sister Ada works at Initech. What should I give her for her birthday?",
    "I work as a marine biologist. Explain tides to me.",
    "I have a cat called Miso. How often does a cat sleep?",
    "Our billing service runs on PostgreSQL. Write a backup plan for it.",
    "That was wrong: use uv instead of pip to install packages here.",
    "I want you to be brief and dry. What is entropy?",
    "I now live in Lisbon. Which tram goes to the castle there?",
)


async def test_ten_conversations_teach_what_was_said_and_not_what_has_changed(
    aster: Live, model: ModelServer, worker: Worker
) -> None:
    frames = await talked(aster, *CONVERSATIONS)
    changeset = await learned(aster)
    items = changeset["items"]
    assert changeset["entries"] == len(CONVERSATIONS)
    assert {item["status"] for item in items} == {"applied"}, [(i["after"], i["reason"]) for i in items]
    said = {item["quote"]: item for item in items}
    assert len(said) == len(CONVERSATIONS)
    for item in items:
        receipt = item["receipt"]
        (message,) = [
            frame for frame in frames[receipt["task_id"]] if frame.id == receipt["first_seq"] == receipt["last_seq"]
        ]
        assert message.event == "user_message"
        assert item["quote"] in message.data["content"][0]["text"]

    assert [item["action"] for item in items if item["kind"] == "lesson"] == ["trial"]
    texts = {row["text"]: row for row in (await got(aster, "/memory/records", limit=100))["records"]}
    assert "location: Lisbon" in texts
    assert "location: Porto" not in texts
    assert texts["Answer in metric units."]["type"] == "rule"
    assert not any(row["store"] == "lessons" for row in texts.values()), "a lesson has to prove itself first"
    assert "Be brief and dry" in (await got(aster, "/memory/soul"))["patterns"]

    await aster.execute("What is my location at the moment?", "new")
    prompt = str(model.calls[-1].body["messages"])
    assert "location: Lisbon" in prompt
    assert "location: Porto" not in prompt
    assert "Be brief and dry" in str(model.calls[-1].body)

    assert worker.asked


async def test_a_changeset_is_taken_back_byte_for_byte(aster: Live) -> None:
    await talked(aster, *CONVERSATIONS)
    before = await exported(aster)
    ran = await learned(aster)
    assert await exported(aster) != before
    reverted = await posted(aster, f"/learning/changesets/{ran['changeset_id']}/revert")
    assert reverted["status"] == "reverted"
    assert {item["status"] for item in reverted["items"]} == {"reverted"}
    assert await exported(aster) == before
    again = await aster.http.post(f"/learning/changesets/{ran['changeset_id']}/revert", json={})
    assert again.status_code == 422
    assert "is reverted" in again.json()["message"]


async def test_a_correction_is_the_strongest_source_and_does_not_wait_for_the_night(
    aster: Live, worker: Worker
) -> None:
    frames = await aster.execute("Install the packages of this project, please.", "setup")
    turn_id = frames[0].data["turn_id"]
    await posted(
        aster,
        "/feedback",
        turn_id=turn_id,
        rating="down",
        correction="You should use uv instead of pip to install packages",
    )
    async with asyncio.timeout(20):
        while not (found := (await got(aster, "/learning/changesets"))["changesets"]):
            await asyncio.sleep(0.05)
    (changeset,) = found
    assert changeset["entries"] == 2
    (lesson,) = [item for item in changeset["items"] if item["status"] == "applied"]
    assert (lesson["action"], lesson["kind"], lesson["fields"]["correct_pattern"]) == ("trial", "lesson", "Use uv")
    assert lesson["receipt"]["task_id"] == "setup"
    (trial,) = (await got(aster, "/learning/trials"))["trials"]
    assert (trial["trial_id"], trial["status"]) == (lesson["record_id"], "waiting")
    story = next(one for one in worker.asked[0]["conversations"] if "feedback" in one)
    assert story["feedback"]["rating"] == -1

    await aster.execute("Again: use uv instead of pip to install packages!", "setup")
    (again,) = (await learned(aster))["items"]
    assert (again["status"], "on trial" in again["reason"]) == ("refused", True)


async def test_only_what_the_model_was_shown_can_be_corrected(aster: Live, worker: Worker) -> None:
    body = {"kind": "fact", "fields": {"content": "The zebra house opens at nine.", "subject": "zoo"}}
    hidden = (await posted(aster, "/memory/records", **body))["record"]["id"]
    shown = {"kind": "fact", "fields": {"content": "The staging database is on port 5432."}}
    known = (await posted(aster, "/memory/records", **shown))["record"]["id"]
    said = "The staging database is on port 6000 now."
    worker.extra = {
        "facts": [
            {"content": "The staging database is on port 6000.", "quote": said, "corrects": known},
            {"content": "The database is on port 6000 now.", "quote": said, "corrects": hidden},
        ]
    }
    await talked(aster, said)
    items = (await learned(aster))["items"]
    assert known in [one["id"] for one in worker.asked[0]["known"]]
    assert [(item["status"], [one["id"] for one in item["before"]]) for item in items] == [
        ("applied", [known]),
        ("refused", []),
    ]
    assert "was not shown" in items[1]["reason"]
    assert await _ended(aster, known)
    assert not await _ended(aster, hidden)
    hits = (await posted(aster, "/memory/search", query="staging database port"))["hits"]
    assert not any("5432" in hit["text"] for hit in hits)


async def _ended(aster: Live, record_id: str) -> bool:
    return (await got(aster, f"/memory/records/{record_id}"))["valid_until"] is not None


async def test_what_was_said_later_stays_and_what_is_known_is_not_said_twice(aster: Live, worker: Worker) -> None:
    await talked(aster, "I live in Porto, by the river.", "I now live in Lisbon, on a hill.")
    await learned(aster)
    await aster.execute("As I said, I live in Lisbon.", "again")
    (known,) = (await learned(aster))["items"]
    assert (known["status"], known["reason"].startswith("It is known already as trait")) == ("refused", True)
    assert [one["kind"] for one in worker.asked[1]["known"]] == ["trait"]


async def test_words_that_were_never_said_teach_nothing(aster: Live, worker: Worker) -> None:
    worker.extra = {
        "traits": [
            {"key": "location", "value": "Berlin", "quote": "I live in Berlin"},
            {"key": "drink", "value": "tea", "quote": "I do not drink tea any more"},
            {"key": "age", "value": "44", "quote": "I do not drink tea any more"},
        ],
        "names": ["nonsense", {"name": 7}],
        "lessons": "none",
    }
    await talked(aster, "I do not drink tea any more, what else wakes me up?")
    items = (await learned(aster))["items"]
    assert [item["reason"] for item in items] == [
        "The words it rests on are in no message of the person.",
        "It says the opposite of the person's words.",
        "The person did not say '44' there.",
    ]


async def test_a_deleted_task_teaches_nothing(aster: Live, worker: Worker) -> None:
    await talked(aster, "I live in Porto, by the river.", "I work as a baker in a small town.")
    assert (await aster.http.delete("/tasks/talk-0")).status_code == 200
    changeset = await learned(aster)
    assert [item["after"] for item in changeset["items"]] == ["occupation: baker in a small town"]
    assert "Porto" not in str(worker.asked)


async def test_a_memory_says_what_its_person_says_it_should_at_once(aster: Live) -> None:
    body = {"kind": "fact", "fields": {"content": "The office is on the third floor.", "subject": "office"}}
    record = (await posted(aster, "/memory/records", **body))["record"]["id"]
    before = await exported(aster)
    given = await posted(aster, "/feedback", memory_id=record, correction="The office is on the fifth floor.")
    (hit, *others) = (await posted(aster, "/memory/search", query="which floor is the office on"))["hits"]
    assert (hit["text"], others) == ("The office is on the fifth floor.", [])
    (changeset,) = (await got(aster, "/learning/changesets", kind="feedback"))["changesets"]
    assert (changeset["status"], changeset["items"][0]["quote"]) == ("applied", "The office is on the fifth floor.")

    await posted(aster, "/feedback", memory_id=record, correction="The office is on the sixth floor.")
    (hit,) = (await posted(aster, "/memory/search", query="which floor is the office on"))["hits"]
    assert hit["text"] == "The office is on the sixth floor."
    assert (await aster.http.delete(f"/feedback/{given['signal_id']}")).status_code == 200
    assert await exported(aster) == before
