"""Where a line of the profile belongs: the same thing said in two ways must meet, or it is kept twice."""

from typing import Final

_PLACES: Final[dict[str, tuple[str, str]]] = {
    "wife": ("relationships", "wife"),
    "husband": ("relationships", "husband"),
    "spouse": ("relationships", "partner"),
    "partner": ("relationships", "partner"),
    "girlfriend": ("relationships", "partner"),
    "boyfriend": ("relationships", "partner"),
    "mother": ("relationships", "mother"),
    "mum": ("relationships", "mother"),
    "mom": ("relationships", "mother"),
    "father": ("relationships", "father"),
    "dad": ("relationships", "father"),
    "boss": ("relationships", "manager"),
    "manager": ("relationships", "manager"),
    "car": ("assets", "car"),
    "vehicle": ("assets", "car"),
    "house": ("assets", "home"),
    "home": ("assets", "home"),
    "city": ("root", "location"),
    "location": ("root", "location"),
    "lives_in": ("root", "location"),
    "employer": ("root", "employer"),
    "company": ("root", "employer"),
    "works_at": ("root", "employer"),
    "job": ("root", "occupation"),
    "profession": ("root", "occupation"),
    "occupation": ("root", "occupation"),
    "hobby": ("interests", "hobby"),
    "hobbies": ("interests", "hobby"),
    "interest": ("interests", "interest"),
    "interests": ("interests", "interest"),
}
_GENERAL: Final = frozenset({"root", "general", "profile", "user"})


def placed(category: str, key: str) -> tuple[str, str]:
    """The category and key a line is kept under; one with a category of its own stays there."""
    where, name = ("_".join(part.casefold().split()) for part in (category, key))
    if where in _GENERAL:
        return _PLACES.get(name, ("root", name))
    return where, name
