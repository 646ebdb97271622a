"""The operator's catalog: tools declared as data, over the tools the platform has."""
