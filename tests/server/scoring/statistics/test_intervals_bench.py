"""The simulation of intervals, tests and ranks: a sample of it keeps every requirement, and a broken one is told."""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from types import ModuleType

import pytest

from m3bench.server.scoring.statistics.estimates import estimate
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


@pytest.mark.slow
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


@pytest.mark.parametrize(("families", "repeats", "truth"), [(5, 3, 0.3), (28, 1, 0.02)])
def test_what_is_simulated_at_once_are_the_intervals_that_users_see(
    bench: ModuleType, families: int, repeats: int, truth: float
) -> None:
    values = bench.drawn(bench.Setting(families=families, share=0.2, repeats=repeats, truth=truth, draws=8, seed=1))
    named = bench.named(families)
    for sample, ends in zip(values, bench.ours(values), strict=True):
        found = estimate(dict(zip(named, sample.ravel().tolist(), strict=True)), named, of="solved")
        assert found is not None
        assert found.interval is not None
        assert found.interval.to_json() == pytest.approx(ends.tolist(), abs=1e-9)
