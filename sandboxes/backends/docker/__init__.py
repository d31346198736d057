"""Sandboxes in Docker containers; the SDK is imported when an engine is first asked for something."""
