"""Media: what is attached to a message, looked into, made fit and cut up before a turn begins."""
