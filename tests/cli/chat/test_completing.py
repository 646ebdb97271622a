"""What Tab offers in a chat: commands, what follows them, and files of the folders the engine works in."""

from aster.infra.ids import new_id
from tests.cli.chat.test_session import PROMPT, chat
from tests.cli.conftest import wait_until_healthy
from tests.cli.program import Home


def test_commands_their_words_and_files_are_completed(home: Home) -> None:
    folder = home.directory / "project"
    (folder / "source").mkdir(parents=True)
    (folder / "source" / "walrus.txt").write_text("I am a walrus.")
    (home.directory / "wallet").touch()
    task = new_id("task")
    env = {"ENGINE_LOG_LEVEL": "ERROR", "ALLOWED_ROOTS": str(folder)}
    with home.start("serve", env=env) as engine:
        try:
            wait_until_healthy(engine, home.url)
            home.call("run", "an earlier walrus", "--task", task)
            with chat(home) as terminal:
                terminal.expect(PROMPT)
                terminal.press("/the")
                terminal.expect("how the chat looks")
                terminal.press("\t con")
                terminal.expect("contrast")
                terminal.press("\t\r")
                terminal.expect("Theme contrast")
                terminal.expect(PROMPT)
                terminal.press("/resume ")
                terminal.expect("an earlier walrus")
                terminal.press("\t\r")
                terminal.expect(f"Task {task}")
                terminal.expect(PROMPT)
                terminal.press("/agent co")
                terminal.expect("coder")
                terminal.press("\x15look at @so")
                terminal.expect("source/")
                terminal.press("\twa")
                terminal.expect("source/walrus.txt")
                terminal.press("\t\r")
                terminal.expect("look at @source/walrus.txt")
                terminal.expect("I heard")
                terminal.expect(PROMPT)
                terminal.press("look at @../wal")
                terminal.press("\t\r")
                terminal.expect("I heard")
                terminal.expect(PROMPT)
                terminal.press("\x04")
                assert terminal.wait() == 0
        finally:
            engine.terminate()
            engine.communicate(timeout=20)
    assert "wallet" not in terminal.text
