"""The HTTP door: who may come in, what they said, and what they get back. The rest is the engine's business."""
