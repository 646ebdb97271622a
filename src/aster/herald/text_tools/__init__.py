"""Tool calls as text: the prompt that asks for them and the parser that reads them as they arrive."""
