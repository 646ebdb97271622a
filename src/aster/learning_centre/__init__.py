"""The learning centre: what happened becomes what is known, behind the turns, in changesets a person can take back."""
