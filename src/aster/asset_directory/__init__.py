"""The asset directory: MCP servers, the users' connections to them, and what can be called there."""
