"""Unpacks archives into a folder, and nowhere else.

Done by hand because `tarfile` has had its filters only since Python 3.11.4, and Debian 12 has an older one. Links and
devices do not travel: only files and folders are unpacked.
"""

import shutil
import tarfile
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from m3bench.tasks.errors import StoreError


def unpack_files(archive: tarfile.TarFile, folder: Path, members: Iterable[tarfile.TarInfo] | None = None) -> None:
    """Write the files and folders of an archive.

    Args:
        archive: Where they are.
        folder: Where they go; made when it is not there.
        members: Which of them; all when None.

    Raises:
        StoreError: One would lie outside the folder.
    """
    for member in members if members is not None else archive.getmembers():
        name = PurePosixPath(member.name)
        if name.is_absolute() or ".." in name.parts or "\\" in member.name or Path(member.name).drive:
            raise StoreError(f"The archive has a file that would lie outside its folder: {member.name!r}.")
        place = folder.joinpath(*name.parts)
        if member.isdir():
            place.mkdir(parents=True, exist_ok=True)
        elif member.isfile():
            place.parent.mkdir(parents=True, exist_ok=True)
            inside = archive.extractfile(member)
            assert inside is not None
            with inside, place.open("wb") as file:
                shutil.copyfileobj(inside, file)
