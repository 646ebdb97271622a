import assert from "node:assert/strict";
import { test } from "node:test";
import { root } from "./page.mjs";
import { plain } from "../../../src/aster/server/console/dom.js";
import { blocks, render } from "../../../src/aster/server/console/markdown.js";

const ELEMENTS = new Set(
  "root p h3 h4 h5 h6 ul ol li blockquote pre code hr br strong em s a span div table thead tbody tr th td".split(" "),
);
const ATTRIBUTES = new Set(["href", "target", "rel", "title", "start"]);
const page = (text) => root(...blocks(text).map((block) => render(block)));
const outline = (text) => page(text).children.map((node) => node.tag);

const HOSTILE = [
  "<script>alert(1)</script>",
  "<img src=x onerror=alert(1)>",
  "![x](https://tracker.example/pixel.png)",
  "[x](javascript:alert(1))",
  "[x](JaVaScRiPt:alert(1))",
  "[x](java\tscript:alert(1))",
  "[x](data:text/html,<script>alert(1)</script>)",
  "[x](vbscript:x) [y](file:///etc/passwd) [z](//evil.example)",
  '[x](https://ok.example/" onmouseover="alert(1))',
  "[**x**](https://ok.example)<iframe src=https://evil.example>",
  "`<script>` ```\n<script>\n```",
  "| <b onclick=x> | y |\n|---|---|\n| <script> | z |",
  "# <style>*{display:none}</style>\n\n> - 1. <svg/onload=alert(1)>",
];

test("hostile text makes only harmless elements, and links that go to the web", () => {
  for (const text of HOSTILE) {
    for (const node of page(text).all()) {
      assert.ok(ELEMENTS.has(node.tag), `${node.tag} from ${text}`);
      assert.deepEqual(node.listeners, {});
      for (const [name, value] of Object.entries(node.attributes)) {
        assert.ok(ATTRIBUTES.has(name), `${name} from ${text}`);
        if (name === "href") assert.match(value, /^https?:\/\//);
      }
    }
  }
});

test("a link opens apart, tells nothing, and shows where it really leads", () => {
  const [link] = page("see [the bank](https://bank.example@evil.example/x)").find("a");
  assert.equal(link.attributes.rel, "noopener noreferrer");
  assert.equal(link.attributes.target, "_blank");
  assert.equal(link.textContent, "the bank (https://bank.example@evil.example/x)");
  const disguised = page("[https://good.example](https://evil.example)");
  assert.equal(disguised.textContent, "https://good.example (https://evil.example/)");
  assert.equal(page("at https://a.example/b_c_d.").find("a")[0].attributes.href, "https://a.example/b_c_d");
  assert.equal(page("![cat](https://a.example/c.png)").find("a").length, 1);
});

test("blocks", () => {
  assert.deepEqual(outline("# A\n\ntext\nmore\n\n- a\n- b\n\n1. x\n2. y\n\n> q\n\n---\n\n```js\n# no\n```"), [
    "h3", "p", "ul", "ol", "blockquote", "hr", "pre",
  ]);
  assert.equal(page("```js\n<b> **x**\n```").find("code")[0].textContent, "<b> **x**");
  assert.equal(page("````\n```\n````").find("code")[0].textContent, "```");
  assert.equal(page("```\nstill open").find("code")[0].textContent, "still open");
  assert.equal(page("- a\n  - b\n  - c\n- d").find("ul").length, 2);
  assert.equal(page("- a\n\n- b\n\n\ntext").find("li").length, 2);
  assert.equal(page("3. x\n4. y").find("ol")[0].attributes.start, "3");
  assert.equal(page("| a | b |\n|---|:-:|\n| 1 | 2 |").find("td").length, 2);
});

test("words", () => {
  const tags = (text) => page(text).children[0].children.map((node) => node.tag ?? node);
  assert.deepEqual(tags("a **b** *c* _d_ ~~e~~ `f*g*`"), ["a ", "strong", " ", "em", " ", "em", " ", "s", " ", "code"]);
  assert.deepEqual(tags("snake_case_name 2 * 3 * 4 **open"), ["snake_case_name 2 * 3 * 4 **open"]);
  assert.deepEqual(tags("\\*not\\* `` a`b `` x"), ["*not* ", "code", " x"]);
  assert.equal(page("**bold *both* bold**").textContent, "bold both bold");
});

test("a text that grows changes only its last blocks", () => {
  const text = "# Title\n\nOne.\n\n- a\n- b\n\n```\ncode\n```\n\nEnd.";
  for (let size = 1; size < text.length; size++) {
    const before = blocks(text.slice(0, size)).slice(0, -1);
    const after = blocks(text.slice(0, size + 1));
    assert.deepEqual(before.map((block) => block.raw), after.slice(0, before.length).map((block) => block.raw));
  }
});

test("no text makes it slow", () => {
  const started = performance.now();
  const pieces = ["[", "![", "[a](", "*", "**", "_a ", "`", "``a", "~~", "> ", "- ", "  - ", "|", "http://", "(", "\\"];
  for (const piece of [...pieces, "#", "1. ", "|-", "()", "a)"]) {
    page(piece.repeat(20_000));
    page(`${piece}\n`.repeat(2_000));
    page(`[x](https://a.example/${piece.repeat(3_000)}`);
  }
  assert.ok(performance.now() - started < 5000);
});

test("text for a decision hides nothing", () => {
  assert.equal(plain("rm\u202e x\u200b\n\ty"), "rm\\u202e x\\u200b\n\ty");
});
