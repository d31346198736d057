"""Statistics over many samples: numbers in, estimates with their doubt out. docs/statistics.md has the formulas."""
