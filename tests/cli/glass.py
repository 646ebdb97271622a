"""What a person sees after a program has written: the few things a terminal does with control sequences."""

import re

_TOKEN = re.compile(
    r"\x1b\[(?P<args>[0-9;?]*)(?P<verb>[A-Za-z])|\x1b\][^\x07]*\x07|(?P<control>[\r\n])|(?P<text>[^\x1b\r\n]+)"
)


class Glass:
    """A screen that only ever grows: rows of text and a cursor."""

    def __init__(self) -> None:
        self.rows: list[str] = [""]
        self._row = self._column = 0

    def write(self, raw: str) -> "Glass":
        for token in _TOKEN.finditer(raw):
            if text := token["text"]:
                self._put(text)
            elif token["control"] == "\r":
                self._column = 0
            elif token["control"] == "\n":
                self._down()
            elif token["verb"]:
                self._obey(token["verb"], token["args"])
        return self

    def seen(self) -> list[str]:
        """The rows from the top to the last one with something on it, without trailing blanks."""
        rows = [row.rstrip() for row in self.rows]
        while rows and not rows[-1]:
            rows.pop()
        return rows

    def _put(self, text: str) -> None:
        row = self.rows[self._row].ljust(self._column)
        self.rows[self._row] = row[: self._column] + text + row[self._column + len(text) :]
        self._column += len(text)

    def _down(self) -> None:
        self._row += 1
        self._column = 0
        if self._row == len(self.rows):
            self.rows.append("")

    def _obey(self, verb: str, args: str) -> None:
        count = int(args) if args.isdigit() else 1
        match verb:
            case "A":
                self._row = max(self._row - count, 0)
            case "K":
                row = self.rows[self._row]
                self.rows[self._row] = "" if args == "2" else row[: self._column]
            case "m" | "h" | "l":
                pass
            case _:
                raise AssertionError(f"the glass does not know {verb} {args!r}")
