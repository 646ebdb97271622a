"""Herald, the model gateway: every provider is reduced to `contracts.llm` here, and named nowhere else."""
