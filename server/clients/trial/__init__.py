"""A trial of a client: it plays a task headless, with a model that follows a script."""
