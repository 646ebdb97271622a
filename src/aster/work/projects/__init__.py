"""Projects: work over many turns, with what came of it, and how far it goes by itself."""
