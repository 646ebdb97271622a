"""Where a model is told of a tool that not every model is told of. What a turn's places are is settled when it begins,
and again when its model opens more (`open_tools`)."""

from typing import Final

BOARD: Final = "board"
"""There is work on a board."""
REPOSITORY: Final = "repository"
"""There is, and the workspace is a git repository."""
PROJECTS: Final = "projects"
"""There are projects."""
LEAD: Final = "lead"
MEMBER: Final = "member"
FREE: Final = "free"
"""It leads a team, is in one, or is in none and might lead one."""
CLOSED: Final = "closed"
"""There is something to open."""
