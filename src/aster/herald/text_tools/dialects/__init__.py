"""The families of shapes in which models write tool calls, one module each."""
