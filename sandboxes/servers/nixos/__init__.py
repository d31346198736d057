"""The `nixos` server: packages, options, flakes and version histories around the Nix package manager."""

from m3bench.sandboxes.servers.nixos.tools import server

__all__ = ["server"]
