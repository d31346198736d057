"""Episodes of reinforcement learning: the benchmark as an environment with rewards."""
