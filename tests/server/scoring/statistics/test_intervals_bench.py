"""The simulation of intervals, tests and ranks: a sample of it keeps every requirement, and a broken one is told."""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from types import ModuleType

import pytest

from tests.pages import ROOT


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    spec = spec_from_file_location("intervals_bench", ROOT / "bench" / "intervals.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    # Dataclasses look their module up by its name.
    with pytest.MonkeyPatch.context() as patched:
        patched.setitem(sys.modules, spec.name, module)
        spec.loader.exec_module(module)
    return module


def test_a_sample_of_the_simulation_keeps_every_requirement(
    bench: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    sample = ["--quick", "--truths", "0.03", "0.4", "--repeats", "2", "--draws", "80", "--sets", "2", "12"]
    assert bench.main(sample) == 0
    printed = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in printed] == ["holds", "none", "holds", "holds", "holds", "holds", "holds"]


def test_a_requirement_that_is_missed_by_more_than_chance_is_told(bench: ModuleType) -> None:
    shares = [bench.Share(what="fine", share=0.95, draws=1000), bench.Share(what="bad", share=0.88, draws=1000)]
    told = bench.verdict("cover", shares, least=0.93)
    assert told.startswith("FAILS")
    assert "1 fail, 0 within chance; worst 88.0 % (bad)" in told
    assert bench.verdict("cover", shares[:1], least=0.952).startswith("holds")
