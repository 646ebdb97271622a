"""Projects among turns: how an item is worked on, what a model is told of its project, when a person is asked."""
