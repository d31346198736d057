"""LibreOffice as a second opinion on office files: what it cannot open, nobody should be given.

The tests of spreadsheets and slides convert what the tools wrote. Where the program is missing such a test is
skipped with one line; in CI (`CI=true`) it fails instead, so that the check cannot vanish unnoticed.
"""

import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

CONVERT_SECONDS = 120
"""Its first start makes a profile and takes long on a slow machine."""


def convert(path: Path, kind: str, folder: Path) -> Path:
    """The file in another format (`csv`, `pdf`, `png` …), written to `folder` under the same stem.

    A csv shows the first sheet. The profile is private to the folder, so that conversions do not meet.
    """
    program = shutil.which("soffice")
    if program is None:
        missing = "LibreOffice (soffice) is not installed"
        if os.environ.get("CI") == "true":
            pytest.fail(missing)
        pytest.skip(missing)
    folder.mkdir(parents=True, exist_ok=True)
    profile = (folder / "profile").resolve()
    command = [program, f"-env:UserInstallation={profile.as_uri()}", "--headless", "--norestore"]
    command += ["--convert-to", kind, "--outdir", str(folder), str(path)]
    output = _run(command)
    target = folder / f"{path.stem}.{kind.partition(':')[0]}"
    assert target.is_file(), f"LibreOffice could not convert {path.name}: {output}"
    return target


def _run(command: list[str]) -> str:
    # soffice is a launcher: only its process group includes the program that works.
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )
    try:
        output, _ = process.communicate(timeout=CONVERT_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        pytest.fail(f"LibreOffice took more than {CONVERT_SECONDS} seconds")
    return output
