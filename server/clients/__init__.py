"""The MCP clients people use: what is known of each, and how m3bench gets into its configuration."""
