"""The platform tools and the pipeline that every call of a tool goes through."""
