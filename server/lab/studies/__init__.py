"""Studies: many models and agents, one plan; every combination is a result set of its own."""
