"""The page on scale shows what was measured, and nothing else."""

import json
from pathlib import Path

from bench.scale import tables

HERE = Path(__file__).parent.parent


def test_the_tables_of_the_page_come_from_the_numbers_that_were_measured() -> None:
    page = (HERE / "docs" / "scale.md").read_text()
    for table in tables(json.loads((HERE / "bench" / "scale.json").read_text())):
        assert table in page, "python bench/scale.py --show bench/scale.json prints what belongs there"


def test_ten_times_the_seats_need_ten_times_the_memory_and_servers() -> None:
    costs = {"server_memory": 50e6, "seat_memory": 1e6, "seat_cpu": 0.0, "run_memory": 9e6, "run_cpu": 0.0,
             "call_memory": 0.0, "call_cpu": 0.01, "call_bytes": 100.0, "sample_cpu": 3.6,
             "sample_calls": 8.0, "sample_rows": 20.0, "sample_bytes": 1e6}  # fmt: skip
    _, seats, runs = tables(costs)
    assert seats.splitlines()[2:] == [
        "| 100 | 1.05 GB | 0.1 | 1 |",
        "| 1000 | 10.2 GB | 1.0 | 4 |",
        "| 10000 | 102 GB | 10.0 | 40 |",
    ]
    assert runs.splitlines()[-1] == "| 1000000 | 20.0 million | 1 TB | 1000.0 |"
