"""Planning: whether a message needs a plan, who drafts it, and how it is kept true while the work goes on."""
