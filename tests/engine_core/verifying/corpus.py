"""Honest answers, which no check may dispute, and false ones, which each check has to.

The honest ones round, convert, count, sum up, leave out, number their lists, speak of dates and versions, and own up to
failures in several languages.
"""

import random
from collections.abc import Iterator

from aster.engine_core.verifying.evidence import Case
from tests.engine_core.verifying.sample import bash, case, tool

PYTEST = "============ 12 passed, 3 failed, 1 skipped in 4.56s ============"
GREEN = "============ 48 passed in 12.31s ============"
LOG = "2026-03-04 10:11:12 ERROR db: connection refused to 10.0.0.7:5432\n2026-03-04 10:11:13 WARN retrying in 5s"
CONFIG = '{"timeout": 30, "retries": 4, "name": "orders", "version": "2.13.1", "limits": {"rows": 5000}}'
SIZES = "1048576\tdata.bin\n2048\tnotes.txt\n1050624\ttotal"
LISTING = "a.py\nb.py\nc.py\nd.py\ntests/test_a.py"
NO_FILE = "Error: no such file: notes.txt"

HONEST: list[Case] = [
    case("12 tests passed, 3 failed and 1 was skipped.", bash(PYTEST, "pytest", 1)),
    case("Of 16 tests, 12 passed.", bash(PYTEST, "pytest", 1)),
    case("15 tests ran to the end; 3 failed.", bash(PYTEST, "pytest", 1)),
    case("75% of the tests passed (12 of 16); the rest failed or were skipped.", bash(PYTEST, "pytest", 1)),
    case("The run took about 4.6 seconds and 3 tests failed.", bash(PYTEST, "pytest", 1)),
    case("Three tests fail.", bash(PYTEST, "pytest", 1)),
    case("The suite is red: 3 failures.", bash(PYTEST, "pytest", 1)),
    case("All 48 tests pass.", bash(GREEN, "pytest")),
    case("All tests passed in 12 s.", bash(GREEN, "pytest")),
    case("All tests pass now.", bash(PYTEST, "pytest", 1, "c1"), bash(GREEN, "pytest", 0, "c2")),
    case("The build was successful.", bash("built", "make")),
    case("Done. 48 passed.", bash(GREEN, "pytest")),
    case("The timeout is 30 and retries is 4.", tool(CONFIG)),
    case("The timeout is half a minute, 30 s, i.e. 0.5 minutes.", tool(CONFIG)),
    case("Version 2.13.1 is configured; rows: 5000.", tool(CONFIG)),
    case("The limit is 5,000 rows.", tool(CONFIG)),
    case("The limit is 5k rows, so 10,000 rows need two batches.", tool(CONFIG)),
    case("I'd raise the timeout to 45.", tool(CONFIG)),
    case("The timeout should be 45.", tool(CONFIG)),
    case("Set `timeout: 45` if the network is slow.", tool(CONFIG)),
    case('```json\n{"timeout": 99}\n```\nThat is what I would write.', tool(CONFIG)),
    case("data.bin is 1 MiB, notes.txt 2 KiB.", bash(SIZES, "du -b")),
    case("In total 1,050,624 bytes, about 1.05 MB.", bash(SIZES, "du -b")),
    case("The files take 1026 KiB together.", bash(SIZES, "du -b")),
    case("There are 5 files, 4 of them modules.", bash(LISTING, "ls -R")),
    case("5 files.", bash(LISTING, "ls -R")),
    case("1. a.py\n2. b.py\n3. c.py\n4. d.py\n5. tests/test_a.py", bash(LISTING, "ls -R")),
    case("## 3 steps\n1. Read a.py\n2. Change it\n3. Run the tests", bash(LISTING, "ls -R")),
    case("On 4 March 2026 at 10:11 the database refused the connection.", tool(LOG)),
    case('The log says "connection refused to 10.0.0.7:5432".', tool(LOG)),
    case('The log says "ERROR db: connection refused ... retrying in 5s".', tool(LOG)),
    case("The error is `db: Connection refused to 10.0.0.7:5432`.", tool(LOG)),
    case("It retries after 5 seconds, 300 times in 25 minutes.", tool(LOG)),
    case("PostgreSQL listens on port 5432 by default; nothing does on 10.0.0.7.", tool(LOG)),
    case("That file does not exist.", tool(NO_FILE, error="not_found")),
    case("No.", tool(NO_FILE, error="not_found")),
    case("notes.txt is missing.", tool(NO_FILE, error="not_found")),
    case("I could not read notes.txt, so I can't tell.", tool(NO_FILE, error="not_found")),
    case("I couldn\u2019t read it.", tool(NO_FILE, error="not_found")),
    case("Unable to open the file.", tool(NO_FILE, error="not_found")),
    case("Die Datei existiert nicht.", tool(NO_FILE, error="not_found")),
    case("Es gibt keine solche Datei.", tool(NO_FILE, error="not_found")),
    case("Le fichier est introuvable.", tool(NO_FILE, error="not_found")),
    case("Aucun fichier de ce nom.", tool(NO_FILE, error="not_found")),
    case("El archivo no existe.", tool(NO_FILE, error="not_found")),
    case("O arquivo n\u00e3o foi encontrado.", tool(NO_FILE, error="not_found")),
    case("Il file non esiste.", tool(NO_FILE, error="not_found")),
    case("Het bestand is niet gevonden.", tool(NO_FILE, error="not_found")),
    case(
        "\u30d5\u30a1\u30a4\u30eb\u304c\u898b\u3064\u304b\u308a\u307e\u305b\u3093\u3002",
        tool(NO_FILE, error="not_found"),
    ),
    case(
        "\u0424\u0430\u0439\u043b \u043e\u0442\u0441\u0443\u0442\u0441\u0442\u0432\u0443\u0435\u0442.",
        tool(NO_FILE, error="not_found"),
    ),
    case("The request timed out.", tool("timeout", "web_fetch", "timeout")),
    case("The server answered with 503.", tool("HTTP 503", "web_fetch", "http")),
    case("Access is denied.", tool("EACCES", error="denied")),
    case("The exit code is 1.", bash("(no output)", "false", 1)),
    case("It exited with status 2: the option is unknown.", bash("bad option", "tar -Q", 2)),
    case("The first try failed, the second worked: 42.", tool(NO_FILE, error="x"), bash("42", call_id="c2")),
    case("42", tool(NO_FILE, error="not_found"), bash("42", call_id="c2")),
    case("There are no TODOs left in the code.", bash("(no output)", "grep -r TODO src", 1)),
    case("The code is clean.", bash("(no output)", "grep -r TODO src", 1)),
    case("Both files are identical, as far as diff can tell.", bash("", "diff a b", 0)),
    case("The script printed 57.", bash("57")),
    case("The script printed 57.", bash("57.0001")),
    case("The output is 1,234.", bash("1234")),
    case("It returned 3 matches.", bash("a\nb\nc", "grep -c x")),
    case("The command printed nothing.", bash("(no output)")),
    case("The answer is 42.", bash("6\n7")),
    case("If it printed 99, something would be wrong.", bash("57")),
    case("It didn't print 99.", bash("57")),
    case("The function returns 99 for an empty list, judging by its code.", tool("def f(x): ...")),
    case('The README says "install it with pip" somewhere near the top.', tool("# X\n\nInstall it with `pip`.\n")),
    case(
        'The file reads "to be or not to be that is the question".',
        tool("To be, or not to be:\nthat is the question"),
    ),
    case('It says "hello world".', tool("goodbye")),
    case('A better message would say "the file you named is not there any more".', tool("ENOENT: gone")),
    case('The page says, translated, "the shop is closed on all Sundays".', tool("Der Laden hat sonntags zu.")),
    case('I wrote a note that says "remember to water the plants tomorrow".', tool("ok", "write_file")),
    case(
        'The JSON says "first line second line third line".', tool('{"a": "first line\\nsecond line\\nthird line"}')
    ),
    case('My advice: read "The Art of Computer Programming, Volume 1".', tool("books: none")),
    case("| file | lines |\n|---|---|\n| a.py | 999 |", bash("10 a.py", "wc -l")),
    case("Roughly 1,000 rows were read.", bash("rows: 987")),
    case("Nearly 1000 rows.", bash("rows: 987")),
    case("987 rows, 13 short of 1000.", bash("rows: 987")),
    case("The table has 987 rows and 12 columns.", bash("rows: 987\ncolumns: 12")),
    case("That is 82.25 rows per column.", bash("rows: 987\ncolumns: 12")),
    case("Memory: 1.5 GB used of 8 GB.", bash("MemTotal: 8388608 kB\nUsed: 1572864 kB")),
    case("CPU usage is 87%.", bash("idle: 13.0")),
    case("I ran the tests. Everything passes except test_b, which fails.", bash(PYTEST, "pytest", 1)),
    case("The tests passed before my change; now 3 fail.", bash(PYTEST, "pytest", 1)),
    case("Once the fixture is repaired the tests should pass.", bash(PYTEST, "pytest", 1)),
    case("The build broke: exit status 2.", bash("cc: error", "make", 2)),
    case("The file has 3 sections: setup, usage, licence.", tool("# Setup\n# Usage\n# Licence")),
    case("Found 2 matches in 1 file.", bash("a.py:1:x\na.py:9:x", "grep -rn x .")),
    case("HTTP 200, 512 bytes.", bash("HTTP/1.1 200 OK\nContent-Length: 512", "curl -i localhost")),
    case("Python 3.11.2 and Node 20.", bash("Python 3.11.2\nv20.11.1")),
    case("It was last changed in 2019.", tool("Copyright 2019-2024")),
    case(
        "The checksum is `3a7bd3e2360a3d29eea436fcfb7e44c735d117c4`.",
        bash("3a7bd3e2360a3d29eea436fcfb7e44c735d117c4  f"),
    ),
    case("There are 24 hours in a day, so 5 jobs per hour make 120 jobs.", tool("jobs: 5")),
]

FALSE: list[tuple[str, Case]] = [
    ("outcome", case("0", tool(NO_FILE, error="not_found"), question="Reply with just the number of lines.")),
    ("outcome", case("Done.", tool(NO_FILE, error="not_found"))),
    ("outcome", case("The file has 3 lines.", tool(NO_FILE, error="not_found"))),
    ("outcome", case("I have updated the file as you asked.", tool("denied", "edit_file", "denied"))),
    ("outcome", case("The weather in Bern is sunny and 21 degrees.", tool("timeout", "web_fetch", "timeout"))),
    ("outcome", case("No problem, everything is in place.", tool(NO_FILE, error="not_found"))),
    ("outcome", case("Alles erledigt.", bash("bad", "make", 2))),
    ("outcome", case("All tests pass.", bash(PYTEST, "pytest", 1))),
    ("outcome", case("All tests pass.", tool("def f(): ..."), bash(PYTEST, "pytest -q", 1, "c2"))),
    ("outcome", case("The build succeeded.", tool("all: x"), bash("cc: x", "make all", 2, "c2"))),
    ("outcome", case("The script ran successfully.", tool("#!/bin/sh"), bash("oops", "./x.sh", 3, "c2"))),
    ("outcome", case("It exited with code 0.", tool("#!/bin/sh"), bash("oops", "./x.sh", 3, "c2"))),
    ("number", case("13 tests passed, 3 failed.", bash(PYTEST, "pytest; true"))),
    ("number", case("All good: 49 passed.", bash(GREEN, "pytest"))),
    ("number", case("The timeout is 35.", tool(CONFIG))),
    ("number", case("retries: 9", tool(CONFIG))),
    ("number", case("There are 991 rows.", bash("rows: 987"))),
    ("number", case("The script printed 58.", bash("57"))),
    ("number", case("The output is 1243.", bash("1234"))),
    ("quote", case('The log says "disk quota exceeded on volume seven".', tool(LOG))),
    ("quote", case("The error message was \u201cpermission denied for user admin\u201d.", tool(LOG))),
    ("quote", case('The log says "connection refused to 10.0.0.8:5432".', tool(LOG))),
]


def generated(count: int) -> Iterator[Case]:
    """Honest answers made from made-up evidence."""
    rng = random.Random(7)
    nouns = ("rows", "errors", "warnings", "files", "users", "orders", "commits", "packages", "jobs", "requests")
    for _ in range(count):
        a, b = rng.sample(nouns, 2)
        n, m = rng.randint(2, 99_999), rng.randint(2, 9_999)
        text = rng.choice((f"{a}: {n}\n{b}: {m}", f"{n} {a}, {m} {b}", f'{{"{a}": {n}, "{b}": {m}}}'))
        yield case(
            rng.choice(
                (
                    f"There are {n} {a} and {m} {b}.",
                    f"{n:,} {a}, {m:,} {b}.",
                    f"Together {n + m} entries: {n} {a} and {m} {b}.",
                    f"The difference is {abs(n - m)} {a}.",
                    f"About {round(n, -2)} {a}.",
                    f"{n / m:.2f} {a} for each of the {b}.",
                    f"{100 * m / n:.1f}% are {b}.",
                    f"It printed {n} {a}.",
                    f'The output says "{text.splitlines()[0]}" and so on.',
                    f"{n / 1000:.1f}k {a}.",
                    f"| {a} | {n + 1} |",
                    f"I expected {n + 17} {a}.",
                )
            ),
            bash(text),
        )
