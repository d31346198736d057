"""Boards: leaderboards of bundles that strangers sent, each with how far it can be trusted."""
