"""Context: what a model is shown, in which order, how much of it there is, and whether its beginning moved."""
