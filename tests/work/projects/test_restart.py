"""A project whose engine goes away while it is worked on: the next one goes on where it was, and does nothing twice."""

from aster.testing import Hold, ModelServer, Reply, Text
from tests.live import live
from tests.work.places import Place
from tests.work.projects.room import Room, until


async def test_116_a_restart_goes_on_with_what_was_begun_and_with_the_rest(place: Place) -> None:
    async with ModelServer() as model:
        async with live(model, **place.settings) as engine:
            projects = Room(engine, model)
            projects.answers["Dig"] = [Reply([Hold("dig"), Text("never")])]
            project = await projects.make("Bridge", "Dig", "Fill")
            begun = await projects.advance(project, "blocked")
            await model.wait_held("dig", timeout=20)
        projects.answers["Dig"] = ["It is dug."]
        async with live(model, **place.settings) as engine:
            projects = Room(engine, model)
            now = await projects.settled(project, 40)
            assert (now["status"], now["used"]["steps"]) == ("DONE", 2)
            done = (await projects.get(project, "advances"))["advances"][::-1]
            assert [one["status"] for one in done] == ["done", "done"]
            assert done[0]["advance_id"] == begun["advance_id"]
            task = (await projects.http.get(f"/tasks/{begun['task_id']}")).json()
            assert [turn["turn_id"] for turn in task["turns"]] == [done[0]["turn_id"]]
            assert len((await projects.get(project, "artifacts"))["artifacts"]) == 2


async def test_116_a_question_outlives_a_restart(place: Place) -> None:
    async with ModelServer() as model:
        async with live(model, **place.settings) as engine:
            projects = Room(engine, model)
            projects.answers["Paint"] = ["HUMAN_GATE: Which colour?"]
            project = await projects.make("Bridge", "Paint")
            await projects.advance(project)
            assert (await projects.settled(project))["status"] == "NEEDS_USER"
        async with live(model, **place.settings) as engine:
            projects = Room(engine, model)
            assert (await projects.get(project))["question"]["question"] == "Which colour?"
            assert (await projects.post(project, "resume", answer="green"))[0] == 200

            async def done() -> bool:
                return (await projects.get(project))["status"] == "DONE"

            await until(done)
