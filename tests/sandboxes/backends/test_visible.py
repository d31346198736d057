"""What a host may see of the installation."""

import sys
from pathlib import Path

from m3bench.sandboxes.backends import visible


def test_a_tree_is_carved_around_what_is_withheld(tmp_path: Path) -> None:
    for name in ("bin", "lib/site/other", "lib/site/pack/server", "lib/site/pack/tools", "lib/site/pack/data/open"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "lib64").symlink_to("lib")
    (tmp_path / "sbin").symlink_to("bin")
    package = tmp_path / "lib" / "site" / "pack"
    assert visible.carved(tmp_path, [package / "server", package / "data"]) == [
        tmp_path / "bin",
        tmp_path / "lib" / "site" / "other",
        package / "tools",
        tmp_path / "sbin",
    ]


def test_a_tree_with_nothing_withheld_stays_whole(tmp_path: Path) -> None:
    assert visible.carved(tmp_path, [tmp_path.parent / "elsewhere"]) == [tmp_path]


def test_the_trees_hold_the_interpreter_and_our_code_and_do_not_overlap() -> None:
    shown = [*visible.system(), *visible.trees()]
    for needed in (Path(sys.prefix), Path(sys.base_prefix), Path(visible.__file__), *visible.returned()):
        assert any(needed.is_relative_to(place) for place in shown), needed
    trees = visible.trees()
    assert not [tree for tree in trees for other in trees if tree != other and tree.is_relative_to(other)]
    assert Path("/") not in shown
    assert Path.home() not in shown


def test_the_scorer_the_proxy_and_the_task_data_are_withheld() -> None:
    withheld = visible.withheld()
    assert {path.name for path in withheld} == {"server", "proxy", "data"}
    assert all(any(path.is_relative_to(place) for place in withheld) for path in visible.returned())
