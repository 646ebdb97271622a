"""What a person sees after a program has written: the few things a terminal does with control sequences."""

import re

_TOKEN = re.compile(
    r"\x1b\[(?P<args>[0-9;?]*)(?P<verb>[A-Za-z])|\x1b\][^\x07]*\x07|(?P<control>[\r\n\b])|(?P<text>[^\x1b\r\n\b\x07]+)"
)


class Glass:
    """A screen that only ever grows: rows of text and a cursor. With a width, what is longer goes on in the next row,
    also when the window becomes narrower later, as terminals do it that fold what they show."""

    def __init__(self, width: int | None = None) -> None:
        self.rows: list[str] = [""]
        self._row = self._column = 0
        self._width = width

    def resize(self, width: int) -> None:
        before, (row, column) = self.rows, (self._row, self._column)
        self._width, self.rows = width, []
        for number, text in enumerate(before):
            if number == row:
                self._row, self._column = len(self.rows) + column // width, column % width
            self.rows += [text[at : at + width] for at in range(0, len(text), width)] or [""]
        while len(self.rows) <= self._row:
            self.rows.append("")

    def write(self, raw: str) -> "Glass":
        for token in _TOKEN.finditer(raw):
            if text := token["text"]:
                self._put(text)
            elif token["control"] == "\r":
                self._column = 0
            elif token["control"] == "\n":
                self._down()
            elif token["control"] == "\b":
                self._column = max(self._column - 1, 0)
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
        while self._width is not None and self._column + len(text) > self._width:
            room = max(self._width - self._column, 0)
            self._write_here(text[:room])
            text = text[room:]
            self._down()
        self._write_here(text)

    def _write_here(self, text: str) -> None:
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
            case "B":
                column = self._column
                for _ in range(count):
                    self._down()
                self._column = column
            case "C":
                self._column += count
            case "D":
                self._column = max(self._column - count, 0)
            case "J":
                assert args in ("", "0"), f"the glass does not know J {args!r}"
                self.rows[self._row] = self.rows[self._row][: self._column]
                del self.rows[self._row + 1 :]
            case "m" | "h" | "l" | "n" | "q":
                pass
            case _:
                raise AssertionError(f"the glass does not know {verb} {args!r}")
