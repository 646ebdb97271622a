"""Teams among turns: beginning members, telling mail, waking whoever rests, and what becomes of work at the end."""
