"""Third-party MCP servers behind the proxy: their configuration, lifecycle, lists, answers and recordings."""
