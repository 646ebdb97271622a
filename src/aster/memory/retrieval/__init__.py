"""Finding what is remembered: one question against one shelf, and the shelves against each other."""
