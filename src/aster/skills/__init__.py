"""Skills: instructions for a kind of work, with their files, found by name and shown when they are needed."""
