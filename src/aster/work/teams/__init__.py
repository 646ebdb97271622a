"""Teams: who works with whom, what they write to each other, and what they are told."""
