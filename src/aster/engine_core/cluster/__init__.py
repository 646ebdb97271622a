"""Running turns over several replicas: who is alive, what nobody runs, and who goes on with it."""
