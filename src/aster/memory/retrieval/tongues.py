"""Times said in German, French or Spanish, put into the English words that `times` reads.

A language is data: its words, and the phrases they stand in. Only whole phrases are put into English, because a word
alone may be one of another language: "Mars" is a planet, "hier" is French for yesterday and German for here.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final, TypeAlias

_MONTHS: Final = "january february march april may june july august september october november december"
_DAYS: Final = "monday tuesday wednesday thursday friday saturday sunday"
_NUMBERS: Final = "1 2 3 4 5 6 7 8 9 10 11 12"
_UNITS: Final = "day week month year"

_Words: TypeAlias = Mapping[str, tuple[tuple[str, str], ...]]


@dataclass(frozen=True, slots=True)
class Tongue:
    """`seen` are words of which a text that says a time in it has one. The others are patterns in the order of the
    English words; `phrases` and what they are in English, where {month}, {day}, {unit}, {number}, {date} and {year}
    stand for such a word."""

    seen: str
    months: str
    days: str
    units: str
    numbers: str
    phrases: Mapping[str, str]


_GERMAN: Final = Tongue(
    r"vor|im|am|seit|ende|anfang|mitte|\w*gestern|heute|diese[mnrs]?|(?:letzte|vorige|vergangene)[mnrs]?|\d{1,2}\.",
    "januar|jänner februar märz|maerz april mai juni juli august september oktober november dezember",
    "montag dienstag mittwoch donnerstag freitag samstag|sonnabend sonntag",
    "tag(?:en?)? wochen? monat(?:en?)? jahr(?:en?)?",
    "eine?[mrn]? zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
    {
        r"vor {number} {unit}": "{number} {unit} ago",
        r"(?:letzten|vergangenen) {number} {unit}": "last {number} {unit}",
        r"(?:letzte|vorige|vergangene)[mnrs]? {unit}": "last {unit}",
        r"(?:letzte|vorige|vergangene)[mn] {day}": "last {day}",
        r"diese[mnrs]? {unit}": "this {unit}",
        r"am {day}": "on {day}",
        r"{date}\. {month}(?: {year})?": "{date} {month} {year}",
        r"(?:im|seit|ende|anfang|mitte|letzten) {month}(?: {year})?": "in {month} {year}",
        r"vorgestern": "day before yesterday",
        r"gestern(?: (?:abend|morgen|nacht))?": "yesterday",
        r"heute": "today",
    },
)
_FRENCH: Final = Tongue(
    r"je|j['’]\w+|nous|vous|il y a|est-ce|qu['’]\w+|quoi|quand|l[ae]s?|en|ce|cette|derni[èe]re?|\w+['’-]h(?:ier|ui)",
    "janvier f[ée]vrier mars avril mai juin juillet ao[ûu]t septembre octobre novembre d[ée]cembre",
    "lundi mardi mercredi jeudi vendredi samedi dimanche",
    "jours? semaines? mois ans?|ann[ée]es?",
    "une? deux trois quatre cinq six sept huit neuf dix onze douze",
    {
        r"il y a {number} {unit}": "{number} {unit} ago",
        r"{unit} (?:derni[èe]re?|pass[ée]e?)": "last {unit}",
        r"{day} (?:dernier|pass[ée])": "last {day}",
        r"(?:cet|ce|cette) {unit}": "this {unit}",
        r"(?:le|du) {date}(?:er)? {month}(?: {year})?": "{date} {month} {year}",
        r"(?:en|depuis|fin|d[ée]but) {month}(?: {year})?": "in {month} {year}",
        r"avant-hier": "day before yesterday",
        r"hier(?: (?:soir|matin))?": "yesterday",
        r"aujourd['’]hui": "today",
    },
)
_SPANISH: Final = Tongue(
    r"hace|el|la|los|las|en|desde|durante|de|est[ea]|pasad[oa]|\w*ayer|hoy",
    "enero febrero marzo abril mayo junio julio agosto septiembre|setiembre octubre noviembre diciembre",
    "lunes martes mi[ée]rcoles jueves viernes s[áa]bado domingo",
    "d[íi]as? semanas? mes(?:es)? a[ñn]os?",
    "una? dos tres cuatro cinco seis siete ocho nueve diez once doce",
    {
        r"hace {number} {unit}": "{number} {unit} ago",
        r"[úu]ltim[oa]s {number} {unit}": "last {number} {unit}",
        r"{unit} pasad[oa]": "last {unit}",
        r"{day} pasado": "last {day}",
        r"est[ea] {unit}": "this {unit}",
        r"{date} de {month}(?: del? {year})?": "{date} {month} {year}",
        r"(?:en|desde|durante) {month}(?: del? {year})?": "in {month} {year}",
        r"anteayer|antes de ayer": "day before yesterday",
        r"ayer": "yesterday",
        r"hoy": "today",
    },
)
_TONGUES: Final = (_GERMAN, _FRENCH, _SPANISH)


def english(text: str) -> str:
    """A text in lower case, with every time it says in another language said in English."""
    for seen, rules, words in _compiled():
        if seen.search(text):
            for pattern, meaning in rules:
                text = pattern.sub(lambda match, meaning=meaning, words=words: _said(match, meaning, words), text)
    return text


@cache
def _compiled() -> tuple[tuple[re.Pattern[str], tuple[tuple[re.Pattern[str], str], ...], _Words], ...]:
    return tuple((re.compile(rf"(?<!\w)(?:{tongue.seen})(?!\w)"), *_rules(tongue)) for tongue in _TONGUES)


def _rules(tongue: Tongue) -> tuple[tuple[tuple[re.Pattern[str], str], ...], _Words]:
    words: _Words = {
        "month": _pairs(tongue.months, _MONTHS),
        "day": _pairs(tongue.days, _DAYS),
        "unit": _pairs(tongue.units, _UNITS),
        "number": _pairs(tongue.numbers, _NUMBERS),
    }
    groups = {name: "|".join(word for word, _ in some) for name, some in words.items()}
    groups |= {"number": rf"\d{{1,3}}|{groups['number']}", "date": r"\d{1,2}", "year": r"(?:19|20)\d\d"}

    def filled(phrase: str) -> str:
        return re.sub(r"\{([a-z]+)\}", lambda match: f"(?P<{match[1]}>{groups[match[1]]})", phrase)

    found = [(re.compile(rf"\b(?:{filled(phrase)})\b"), meaning) for phrase, meaning in tongue.phrases.items()]
    return tuple(found), words


def _pairs(foreign: str, known: str) -> tuple[tuple[str, str], ...]:
    return tuple(zip(foreign.split(), known.split(), strict=True))


def _said(match: re.Match[str], meaning: str, words: _Words) -> str:
    parts = {name: found or "" for name, found in match.groupdict().items()}
    for name in parts.keys() & words.keys():
        found = (known for word, known in words[name] if re.fullmatch(word, parts[name]))
        parts[name] = next(found, parts[name])
    return meaning.format(**parts).rstrip()
