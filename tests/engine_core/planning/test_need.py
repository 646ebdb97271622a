"""Which messages are worth a plan: by their shape, in any language, and cheaply."""

import time

import pytest

from aster.engine_core.planning.need import READ_CHARS, needs_plan

WORTH_IT = [
    "Please do these:\n1. read the log of yesterday\n2. find the first error in it\n3. write a report about the cause",
    "First read config.toml, then change the port to 8081, after that restart it and finally check its health.",
    "Build a web application for our library: members, loans and reminders, with a small API, then write tests for it.",
    "For the release:\n- update the changelog\n- run the tests\n- build the package\n- publish it to the index",
    "Bitte lies zuerst die Datei config.toml, ändere dann den Port und prüfe schließlich, ob der Dienst wieder läuft.",
    "Lis le fichier de configuration, ensuite change le port du serveur, puis redémarre tout et enfin vérifie.",
    "Lee el archivo de configuración, luego cambia el puerto del servidor y después reinicia el servicio por favor ya.",
    "请先阅读配置文件，然后把端口改成八零八一，接着重新启动服务，最后检查它是否正常运行。",
    "まず設定ファイルを読んで、次にポートを変更し、その後サービスを再起動して、最後に動作を確認してください。",
    "Сделай по порядку:\n1) прочитай журнал за вчера\n2) найди в нём первую ошибку\n3) напиши отчёт о её причине",
]
NOT_WORTH_IT = [
    "",
    "hi",
    "Hello there, how are you doing today my friend, it has been a while since we spoke?",
    "What is the capital of France?",
    "Fix the typo in README.md",
    "Run the tests and tell me what fails.",
    "Write a function that reverses a string.",
    "Remember that I prefer tea to coffee in the morning and nothing at all in the evening, please.",
    "Summarise this text:\n\n1. It was a dark night.\n2. Then it rained.\n3. Finally the sun came out again.",
    "What do these mean?\n- one thing\n- another thing\n- a third thing\n- and the last thing in the list",
    "Why does this fail?\n```\n1. build\n2. test\n3. deploy\nthen finally run create update\n```\nIt used to work.",
    "Explain what happens first, then next, and finally in the start of a Linux machine, please, for a beginner.",
    "> First read the file, then change it, and finally test it.\n\nDo you agree with what he says here about it?",
    "I went to the shop in the morning, then I came home, and finally I fell asleep on the sofa. It was a good day.",
    "Here is my shopping list, is anything missing for a cake?\n- flour\n- eggs\n- sugar\n- butter",
    '[[text=5 tools=10 tool=bash input={"command":"echo $round"}]] Do it.',
    "[[text=200 rate=50]]",
    "今日はいい天気ですね。散歩に行きましょうか。とても楽しみにしています。",
]


@pytest.mark.parametrize("message", WORTH_IT)
def test_several_things_that_belong_together_are_planned(message: str) -> None:
    assert needs_plan(message)


@pytest.mark.parametrize("message", NOT_WORTH_IT)
def test_one_thing_is_simply_done(message: str) -> None:
    assert not needs_plan(message)


def test_a_book_is_not_read_to_its_end() -> None:
    book = "word " * READ_CHARS
    assert not needs_plan(book + WORTH_IT[0])
    nasty = [
        "`" * 50_000,
        "[[" * 50_000,
        "1. " * 50_000,
        "- " * 50_000,
        "> " * 50_000,
        "a" * 500_000,
        "\n" * 500_000,
    ]
    for text in [*nasty, book]:
        began = time.process_time()
        needs_plan(text)
        assert time.process_time() - began < 0.1, text[:10]
