"""Drawn results have the stored hashes, whatever kind of processor draws them.

When drawings change on purpose, `python -m tests.sandboxes.drawn` writes the hashes anew.
"""

import json
import os
import subprocess
import sys
from importlib import import_module

import pytest

from tests.sandboxes.drawn import FILE, drawn, has_usual_zlib, hashes


@pytest.mark.slow
def test_drawn_results_are_those_of_every_machine() -> None:
    stored = json.loads(FILE.read_bytes())
    made = {name: hashes(result) for name, result in drawn()}
    assert len(stored) >= 200
    assert list(made) == list(stored)
    changed = [name for name in stored if made[name]["pixels"] != stored[name]["pixels"]]
    assert changed == []
    if has_usual_zlib():
        assert [name for name in stored if made[name] != stored[name]] == []


@pytest.mark.slow
def test_drawn_results_do_not_depend_on_what_the_processor_can_do() -> None:
    """Sines with other last digits, and no vector instructions in NumPy and in the JPEG encoder."""
    processor = import_module("numpy._core._multiarray_umath")
    features = [name for name in processor.__cpu_dispatch__ if processor.__cpu_features__.get(name)]
    other = {
        "NPY_DISABLE_CPU_FEATURES": " ".join(features),
        "JSIMD_FORCENONE": "1",
        "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4,-AVX512F",
    }
    test = f"{__file__}::{test_drawn_results_are_those_of_every_machine.__name__}"
    command = [sys.executable, "-m", "pytest", "-q", "-n0", test]
    done = subprocess.run(command, env={**os.environ, **other}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
