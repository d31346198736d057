"""A lazy module is the module, and is not imported before something of it is asked for."""

import subprocess
import sys
from pathlib import Path
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


def test_models_of_a_sparing_module_are_built_when_they_are_used_and_later_ones_at_once(tmp_path: Path) -> None:
    (tmp_path / "wire.py").write_text("import pydantic\nclass Message(pydantic.BaseModel):\n    text: str\n")
    code = (
        "import gc; from pydantic import BaseModel; from m3bench.tasks.lazy_modules import SparingModule\n"
        "class Ours(BaseModel): text: str\n"
        "wire = SparingModule('wire'); Message = wire.Message\n"
        "class Later(BaseModel): text: str\n"
        "print(Message.__pydantic_complete__, Later.__pydantic_complete__, gc.isenabled(), BaseModel.model_config)\n"
        "print(Message(text='a').text, Message.__pydantic_complete__)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["False True True {}", "a True"]
