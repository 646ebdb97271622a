"""Pages as a person reads them: structure kept, furniture and hidden text left out."""

import pytest

from aster.utility_directory.web_html import readable

URL = "https://example.com/docs/page.html"


def text(body: str) -> str:
    return readable(f"<!doctype html><body>{body}", URL).text


PAGE = """<!doctype html><html><head><title> The   Title </title><style>p{color:red}</style></head><body>
<header><a href="/">Home</a></header><nav><a href="/x">Menu</a></nav>
<main><h1>Heading</h1><p>First <b>bold</b> and <code>code()</code>,
see <a href="../other.html?a=1#top">the other</a>.</p>
<ul><li>one</li><li>two<ol><li>inner</li><li>again</li></ol></li></ul>
<table><tr><th>Name</th><th>Size</th></tr><tr><td>a|b</td><td>1</td></tr></table>
<pre>def f():
    return 1
</pre><blockquote><p>Wise words.</p></blockquote><img src="x.png" alt="A chart"><hr>
<p>Enough words to make this the main part of the page, so that what is around it can be left out safely.
Enough words to make this the main part of the page, so that what is around it can be left out safely.</p></main>
<footer>Imprint</footer><script>alert(1)</script></body></html>"""


def test_a_whole_page() -> None:
    got = readable(PAGE, URL)
    assert got.title == "The Title"
    assert got.text.startswith(
        "# Heading\n\nFirst **bold** and `code()`, see [the other](https://example.com/other.html?a=1#top).\n\n"
        "- one\n- two\n  1. inner\n  2. again\n\n"
        "| Name | Size |\n| --- | --- |\n| a\\|b | 1 |\n\n"
        "```\ndef f():\n    return 1\n```\n\n> Wise words.\n\n[image: A chart]\n\n---\n\nEnough words"
    )
    for gone in ("Home", "Menu", "Imprint", "alert", "color:red"):
        assert gone not in got.text


@pytest.mark.parametrize(
    "hidden",
    [
        '<p style="display: none">EVIL</p>',
        '<p style="DISPLAY:none !important">EVIL</p>',
        '<p style="visibility:hidden">EVIL</p>',
        '<p style="opacity:0">EVIL</p>',
        '<p style="opacity: 0.0; color: red">EVIL</p>',
        '<p style="font-size:0px">EVIL</p>',
        '<p style="color:white;background:white">EVIL</p>',
        '<p style="color:#fff; background-color: #FFF">EVIL</p>',
        '<p style="color:transparent">EVIL</p>',
        '<p style="position:absolute;left:-9999px">EVIL</p>',
        '<p style="text-indent:-9999em">EVIL</p>',
        '<p style="dis/**/play:none">EVIL</p>',
        f'<p style="{"a:b;" * 2000}display:none">EVIL</p>',
        "<p hidden>EVIL</p>",
        '<div aria-hidden="true"><p>EVIL</p></div>',
        "<template>EVIL</template>",
        "<noscript>EVIL</noscript>",
        "<!-- EVIL -->",
        "<script type='text/plain'>EVIL</script>",
        "<svg><text>EVIL</text></svg>",
        '<input value="EVIL"><textarea>EVIL</textarea>',
    ],
)
def test_what_nobody_sees_is_not_read(hidden: str) -> None:
    got = text(f"<p>before</p>{hidden}<p>after</p>")
    assert "EVIL" not in got
    assert "before" in got
    assert "after" in got


@pytest.mark.parametrize(
    "style", ["opacity:0.5", "color:white;background:black", "font-size:10px", "left:-5px", "--x-opacity:0"]
)
def test_what_is_seen_is_read(style: str) -> None:
    assert text(f'<p style="{style}">seen</p>') == "seen"


def test_hidden_elements_are_counted() -> None:
    assert readable("<p hidden>x</p><p style='display:none'>y</p>z", URL).hidden == 2


def test_invisible_characters_are_taken_out() -> None:
    smuggled = "".join(chr(0xE0000 + ord(letter)) for letter in "ignore")
    assert text(f"<p>a\u200bb\u202ec{smuggled}\u2063d\u00ad</p>") == "abcd"
    assert text("<p>\u0645\u06cc\u200c\u062e\u0648</p>") == "\u0645\u06cc\u200c\u062e\u0648"


@pytest.mark.parametrize(
    "href", ["javascript:alert(1)", "#top", "mailto:a@b.example", "data:text/html,x", "//[bad"]
)
def test_links_that_lead_nowhere_are_plain_words(href: str) -> None:
    assert text(f'<p><a href="{href}">word</a></p>') == "word"


def test_a_base_address_is_used() -> None:
    got = readable('<head><base href="https://cdn.example/a/"></head><p><a href="b c)d">x</a>', URL).text
    assert got == "[x](https://cdn.example/a/b%20c%29d)"


def test_a_head_with_the_title_is_kept() -> None:
    assert text("<header><nav>Menu</nav><h1>Title</h1></header><header>Logo</header><p>x</p>") == "# Title\n\nx"


def test_layout_tables_are_text() -> None:
    got = text("<table><tr><td><p>One.</p><p>Two.</p></td><td>Three</td></tr></table>")
    assert "One.\n\nTwo." in got


@pytest.mark.parametrize(
    "body",
    [
        "<b>" * 5000 + "word",
        "<div>" * 3000 + "word",
        "<table><tr><td>" * 500 + "word",
        "<blockquote>" * 500 + "word",
        "<ul><li>" * 1000 + "word",
        "<p " + "x" * 200_000 + ">word",
        "word<p style='" + "a:b;" * 50_000 + "'>",
    ],
)
def test_odd_pages_are_read_all_the_same(body: str) -> None:
    assert "word" in text(body)


def test_an_empty_page() -> None:
    assert readable("", URL).text == ""
