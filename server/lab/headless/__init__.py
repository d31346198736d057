"""Many samples without a person: plans, progress, and models driven through Inspect."""
