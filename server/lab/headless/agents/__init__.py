"""Agents that need no model: the floor and the ceiling of every table."""
