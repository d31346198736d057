"""A lazy module is the module, and is not imported before something of it is asked for."""

import subprocess
import sys
from typing import Any

from m3bench.tasks.lazy_modules import LazyModule


def test_a_lazy_module_has_what_the_module_has() -> None:
    lazy: Any = LazyModule("json")
    assert lazy.loads("[1]") == [1]


def test_nothing_is_imported_before_it_is_asked_for() -> None:
    code = (
        "import sys; from m3bench.tasks.lazy_modules import LazyModule; found = LazyModule('colorsys'); "
        "before = 'colorsys' in sys.modules; found.ONE_THIRD; print(before, 'colorsys' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]
