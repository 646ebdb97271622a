"""The engine itself: admission, the loop and its verbs, the state of a turn."""
