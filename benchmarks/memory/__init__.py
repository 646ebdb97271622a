"""How well memory finds what was said: annotated conversations, searched by the code that serves them."""
