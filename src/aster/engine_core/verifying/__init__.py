"""The verifier: whether an answer holds against what the tools have said, and what follows when it does not."""
