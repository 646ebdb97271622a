"""Which ends of what a command said look like a question."""

import pytest

from aster.utility_directory.background_stall import asks


@pytest.mark.parametrize(
    "end",
    [
        "Do you want to continue? [Y/n] ",
        "Overwrite? (yes/no): ",
        "Are you sure you want to continue connecting (yes/no/[fingerprint])? ",
        "[sudo] password for ada: ",
        "Enter passphrase for key 'id': ",
        "Username for 'https://example.com': ",
        "Proceed?\n",
        "Press any key to continue . . .",
        "Press ENTER to continue\n",
        "Python 3.11\n>>> ",
        "... ",
        "mysql> ",
        "name: (site) \nversion: ",
        "bash-5.2$ ",
        "\x1b[32m?\x1b[0m What is it called? \x1b[1m",
        "Package name: ",
    ],
)
def test_a_question(end: str) -> None:
    assert asks(end)


@pytest.mark.parametrize(
    "end",
    [
        "",
        "\n",
        "building...\n",
        "12 passed in 3.1s\n",
        "Listening on http://127.0.0.1:8000\n",
        "The following files were changed:\n",
        "[=====>    ] 45% ",
        "45%",
        "What a day?\nwatching for changes\n",
        "downloading",
        "compiling a.c\ncompiling b.c\n",
        "user 0.01s system 0.00s\n",
    ],
)
def test_no_question(end: str) -> None:
    assert not asks(end)
