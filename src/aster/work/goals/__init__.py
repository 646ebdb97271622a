"""Goals: what a task is to reach, and who says whether it has."""
