"""`m3bench paper`, as an author runs it: the numbers are those of every other command, and everything opens."""

import csv
import io
import json
import subprocess
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from pypdf import PdfReader
from typer.testing import CliRunner

from m3bench.server.commands.program import app
from m3bench.server.lab.reports.paper import data
from m3bench.server.lab.reports.paper.folder import write_paper
from m3bench.server.lab.reports.paper.groups import groups_of
from m3bench.server.lab.reports.paper.pdf import pdf
from m3bench.server.lab.reports.paper.plots import intervals
from m3bench.server.lab.reports.paper.tables import (
    Column,
    PaperTable,
    csv_text,
    escaped,
    latex_text,
    short_names,
    shortened,
)
from m3bench.server.lab.reports.slices import success_rate
from m3bench.server.lab.reports.standings import leaderboard_document
from m3bench.server.lab.reports.summary import summary
from m3bench.tasks.levels import LEVELS
from tests.pictures import assert_same_bytes
from tests.server.lab.headless.scripts import three_tasks
from tests.server.lab.reports.made_sets import made_set

AGENTS = ("oracle", "sloppy", "null")


def m3bench(*arguments: object) -> str:
    done = CliRunner().invoke(app, [*map(str, arguments)])
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("played")
    agents = [word for agent in AGENTS for word in ("--agent", agent)]
    small = three_tasks(folder / "tasks")
    file = small / "tasks.json"
    tasks = json.loads(file.read_text())
    for task in tasks["tasks"]:
        task["answer"] = "It is 2.5." if task["id"] == "survey-1" else "It is 108."
    file.write_text(json.dumps(tasks))
    m3bench("run", *agents, "--tasks", small, "--repeat", 2, "--sandbox", "inprocess", "-o", folder / "runs")
    return folder / "runs"


@pytest.fixture(scope="module")
def written(played: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("written")
    m3bench("lab", "paper", played, "--tasks", played.parent / "tasks", "-o", folder)
    return folder


def table(folder: Path, name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO((folder / "tables" / f"{name}.csv").read_text("utf-8"))))


def number(cell: str) -> float | None:
    return float(cell) if cell else None


def numbers(folder: Path) -> Mapping[str, Any]:
    (group,) = json.loads((folder / "numbers.json").read_text("utf-8"))["groups"]
    assert isinstance(group, Mapping)
    return group


def test_every_number_is_that_of_leaderboard_and_compare(played: Path, written: Path) -> None:
    board = json.loads(m3bench("leaderboard", *(played / name for name in sorted(AGENTS)), "--json"))
    assert numbers(written)["leaderboard"] == board
    rows = table(written, "results")
    assert [row["set"] for row in rows] == [entry["name"] for entry in board["entries"]]
    for row, entry in zip(rows, board["entries"], strict=True):
        summary = entry["summary"]
        assert number(row["solved"]) == summary["success"]
        assert [number(row["solved_low"]), number(row["solved_high"])] == summary["success_interval"]
        assert number(row["average"]) == summary["metrics"]["average"]
        assert [number(row["average_low"]), number(row["average_high"])] == summary["intervals"]["average"]
        assert number(row["m3_average"]) == summary["paper"]
        assert (row["rank"], entry["rank"]) == ("–", None), "so few families bear no ranks"
    assert set(board["cautions"]) == {"solved", "average"}
    pair = next(one for one in table(written, "pairs") if (one["number"], one["first"]) == ("solved", "null"))
    compared = json.loads(m3bench("compare", played / "null", played / pair["second"], "--json"))["metrics"]["solved"]
    assert number(pair["difference"]) == compared["difference"]
    assert (pair["p"], compared["p"]) == ("", None)
    for row in table(written, "families"):
        for entry in board["entries"]:
            assert number(row[entry["name"]]) == entry["families"][row["family"]]["success"]
    for row in table(written, "failures"):
        for name, analysis in numbers(written)["analyses"].items():
            assert int(row[name]) == analysis["failures"].get(row["class"], 0)


def test_errors_and_the_rate_of_mcpverse_are_those_of_the_analyses(written: Path) -> None:
    analyses = numbers(written)["analyses"]
    for row in table(written, "errors"):
        for name, analysis in analyses.items():
            assert int(row[name]) == next(
                (line["runs"] for line in analysis["errors"] if line["error"] == row["error"]), 0
            )
    rows = table(written, "mcpverse")
    assert {row["set"] for row in rows} == set(analyses)
    for row in rows:
        known = [found for level in LEVELS if (found := number(row[level])) is not None]
        assert number(row["sr"]) == pytest.approx(sum(known) / len(known)), "each level counts as much as another"


def test_sr_is_the_mean_of_the_levels_however_many_tasks_they_have() -> None:
    results = made_set("made", 12, skill=0.6).results
    parts = {"L1": summary(results[:2]), "L2": summary(results[2:10]), "L3": summary(results[10:])}
    shares = [part.success for part in parts.values()]
    assert success_rate(parts) == pytest.approx(sum(share for share in shares if share is not None) / 3)
    assert success_rate({"L2": parts["L2"], "unknown": parts["L1"]}) == parts["L2"].success
    assert success_rate({}) is None


def test_sets_of_several_sizes_give_a_curve_over_the_number_of_tools(played: Path, tmp_path: Path) -> None:
    tasks = played.parent / "tasks"
    for profile in ("scale-50", "mcpverse-standard", "mcpverse-max-scale"):
        m3bench("run", "--agent", "oracle", "--tasks", tasks, "--profile", profile, "--sandbox", "inprocess",
                "-o", tmp_path / "runs" / profile)  # fmt: skip
    m3bench("lab", "paper", tmp_path / "runs", "--tasks", tasks, "-o", tmp_path / "paper")
    rows = table(tmp_path / "paper", "scale")
    assert [(row["tools"], row["profile"]) for row in rows] == [("50", "scale-50"), ("232", "full"),
                                                               ("592", "max-scale")]  # fmt: skip
    assert {number(row["solved"]) for row in rows} == {1.0}
    assert "tools shown" in (tmp_path / "paper" / "figures" / "scale.svg").read_text("utf-8")


def test_compare_says_what_broke_and_why(played: Path) -> None:
    found = json.loads(m3bench("compare", played / "oracle", played / "null", "--json"))
    broken = [one for one in found["changed"] if one["turn"] == "broken"]
    assert found["broken"] == [one["task"] for one in broken] != []
    assert {one["failure"] for one in broken} == {"no calls"}
    shown = m3bench("compare", played / "oracle", played / "null")
    for one in broken:
        assert f"{one['task']}: 2/2 solved, now 0/2. no calls: an answer was handed in without a single call" in shown
    back = m3bench("compare", played / "null", played / "oracle")
    assert f"Mended: {', '.join(found['broken'])}" in back
    assert "Broken" not in back


def test_a_row_for_every_sample_and_every_call_says_what_the_tables_say(played: Path, written: Path) -> None:
    duckdb = pytest.importorskip("duckdb", reason="make test installs it")
    samples = duckdb.sql(f"SELECT * FROM '{written}/data/samples.parquet'")
    assert samples.columns == list(data.SAMPLES)
    shares = duckdb.sql(f"SELECT \"set\", avg(solved::INT), avg(average), sum(calls) FROM "
                        f"'{written}/data/samples.parquet' GROUP BY ALL").fetchall()  # fmt: skip
    rows = {row["set"]: row for row in table(written, "results")}
    for name, solved, average, calls in shares:
        assert solved == number(rows[name]["solved"])
        assert average == pytest.approx(number(rows[name]["average"]), abs=1e-12)
        there = duckdb.sql(f"SELECT count(*) FROM '{written}/data/calls.parquet' WHERE \"set\" = '{name}'").fetchall()
        assert there == [(calls,)]
    answered = duckdb.sql(f"SELECT count(*) FROM '{written}/data/calls.parquet' WHERE \"set\" = 'oracle' AND "
                          "answers = tool AND step >= 1 AND outcome = 'success'").fetchall()  # fmt: skip
    (oracle,) = (calls for name, _, _, calls in shares if name == "oracle")
    assert answered == [(oracle,)]


def test_without_the_extra_the_same_rows_are_json_lines(
    played: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(data, "parquet_at_hand", lambda: False)
    m3bench("lab", "paper", played / "sloppy", "-o", tmp_path)
    lines = [json.loads(line) for line in (tmp_path / "data" / "samples.jsonl").read_text().splitlines()]
    assert [(line["repeat"], line["state"]) for line in lines] == [(1, "scored"), (2, "scored")] * 3
    assert list(lines[0]) == list(data.SAMPLES)
    assert not list((tmp_path / "data").glob("*.parquet"))


def test_a_row_that_no_spreadsheet_or_database_expects_is_kept_as_it_is(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb", reason="make test installs it")
    odd: list[dict[str, str | int | float | None]] = [
        {"name": "'; DROP TABLE x; --", "value": None},
        {"name": '中\n\t"é\\u0000', "value": 0.1},
    ]
    path = data.write_rows(tmp_path, "it's", {"name": data.TEXT, "value": data.NUMBER}, odd)
    found = duckdb.read_parquet(str(path)).fetchall()
    assert found == [(row["name"], row["value"]) for row in odd]
    empty = data.write_rows(tmp_path, "empty", {"name": data.TEXT}, [])
    assert duckdb.read_parquet(str(empty)).fetchall() == []


def test_a_figure_is_a_drawing_on_white_without_a_title_and_its_pdf_has_the_same_words(written: Path) -> None:
    for name in ("solved", "average", "families", "failures"):
        root = ElementTree.fromstring((written / "figures" / f"{name}.svg").read_text("utf-8"))
        assert root[0].get("fill") == "#ffffff"
        page = PdfReader(written / "figures" / f"{name}.pdf").pages[0]
        assert [float(side) for side in page.mediabox[2:]] == [
            float(root.get("width", 0)),
            float(root.get("height", 0)),
        ]
        words = " ".join(page.extract_text().split())
        for line in root.iter("{http://www.w3.org/2000/svg}text"):
            assert (line.text or "") in words
        assert "oracle" in words or name == "families"


def test_a_pdf_holds_its_font_and_any_letter_that_the_font_has() -> None:
    (entry,) = leaderboard_document([made_set("Žluťoučký Δ б <&>", 4)]).entries
    drawing, height = intervals([entry], "solved")
    once, again = (pdf(drawing.svg(height)) for _ in range(2))
    assert_same_bytes(once, again, "the figure")
    page = PdfReader(io.BytesIO(once)).pages[0]
    assert "Žluťoučký Δ б <&>" in page.extract_text()
    (font,) = page["/Resources"]["/Font"].values()
    assert "/FontFile2" in font.get_object()["/DescendantFonts"][0].get_object()["/FontDescriptor"].get_object()


HOSTILE = ("=cmd|' /C calc'!A0", r"\input{/etc/passwd}", "100 % of $x_1^2$ & #{~}", "模型 🙂 é", "a\nb\tc", "[x]", "")


def hostile_table() -> PaperTable:
    columns = (
        Column(name="name", heading="a & b_%"),
        Column(name="value", heading="95 %", form="share", interval=True),
    )
    return PaperTable(name="hostile", caption="50 % of {it}.", columns=columns,
                 rows=tuple((name, (0.1, 0.25) if name else None) for name in HOSTILE))  # fmt: skip


def test_names_from_outside_are_text_in_csv_and_latex() -> None:
    first, *rest = list(csv.reader(io.StringIO(csv_text(hostile_table()))))
    assert first == ["name", "value_low", "value_high"]
    assert [row[0] for row in rest] == ["'" + HOSTILE[0], *HOSTILE[1:]]
    text = latex_text(hostile_table())
    assert r"\textbackslash{}input\{/etc/passwd\}" in text
    assert "U+6A21U+578B U+1F642 é" in text
    assert "10.0 -- 25.0" in text
    assert escaped("a_b") == r"a\_b"


def test_cells_are_named_without_profile_and_set_and_other_names_are_left_alone() -> None:
    cells = ["gpt.react.standard.bundled", "mini.react.standard.bundled", "oracle.standard.bundled"]
    assert list(short_names(cells, "standard").values()) == ["gpt.react", "mini.react", "oracle"]
    for others in (["gpt-4.1", "claude-4.1"], ["v1.0.1", "v2.0.1"], [*cells, "x"], ["standard.a", "b.standard.a"], []):
        assert list(short_names(others, "standard").values()) == others
    assert shortened(hostile_table(), {HOSTILE[0]: "formula"}).rows[0][0] == "formula"


def large_tables() -> list[PaperTable]:
    """As twenty models with long names make them."""
    names = [f"provider-model-{number}-with-thinking" for number in range(20)]
    first = Column(name="first", heading="first")
    across = tuple(Column(name=name, heading=name, form="share") for name in names)
    pair = (first, Column(name="second", heading="second"), Column(name="p", heading="p (Holm)", form="p"))
    pairs = tuple((one, other, 0.5) for one in names for other in names)
    return [
        PaperTable(
            name="across", caption="Wide.", columns=(first, *across), rows=(("a family", *[0.5] * 20),), narrow=True
        ),
        PaperTable(name="down", caption="Long.", columns=pair, rows=pairs),
    ]


@pytest.mark.latex
def test_every_table_and_figure_compiles_with_plain_latex(written: Path, tmp_path: Path) -> None:
    made = [hostile_table(), *large_tables()]
    (tmp_path / "hostile.tex").write_text("\\clearpage\n".join(map(latex_text, made)), "utf-8")
    document = ["\\documentclass{article}", "\\usepackage[margin=2cm]{geometry}", "\\begin{document}"]
    document += ["\\input{hostile.tex}", "\\end{document}"]
    (tmp_path / "own.tex").write_text("\n".join(document), "utf-8")
    for folder, name in ((tmp_path, "own.tex"), (written, "example.tex")):
        command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", f"-output-directory={tmp_path}", name]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stdout[-2000:]
        assert "Overfull" not in done.stdout
        assert "too large" not in done.stdout
    words = "\n".join(page.extract_text() for page in PdfReader(tmp_path / "example.pdf").pages)
    assert "Tasks solved and average" in words
    assert "oracle" in words


def test_sets_that_do_not_compare_are_put_into_groups_and_a_baseline_stands_in_each() -> None:
    react, other = made_set("react", 56), made_set("again", 56, seed=2)
    header = made_set("executor", 56).header.model_copy(update={"solver": "executor"})
    executor = made_set("executor", 56)
    object.__setattr__(executor, "header", header)
    baseline = made_set("oracle", 56, skill=1.0)
    object.__setattr__(baseline, "header", baseline.header.model_copy(update={"kind": "baseline", "solver": ""}))
    short = made_set("short", 28)
    found = {group.name: [one.header.name for one in group.sets] for group in groups_of([
        react, executor, baseline, other, short,
    ])}  # fmt: skip
    assert found == {
        "react.standard-1": ["react", "oracle", "again"],
        "executor.standard": ["executor", "oracle"],
        "react.standard-2": ["short"],
    }


def test_the_methods_name_versions_and_hashes_and_the_summary_fits_a_page(written: Path, played: Path) -> None:
    manifest = numbers(written)["leaderboard"]["manifest"]
    text = (written / "methods.md").read_text("utf-8")
    assert manifest["tasks"]["hash"] in text
    assert manifest["world"] in text
    assert f"m3bench {manifest['m3bench']} with 3 tasks in 2 families" in text
    assert "null, oracle and sloppy, each task 2 times" in text
    summary = (written / "summary.md").read_text("utf-8")
    assert "| oracle | 6 | 0 | 100.0 % |" in summary
    assert len(summary.splitlines()) < 60


def test_a_folder_with_somebodys_own_files_is_left_alone_and_our_own_is_written_again(
    played: Path, tmp_path: Path
) -> None:
    own = tmp_path / "data" / "samples.csv"
    own.parent.mkdir()
    own.write_text("mine")
    done = CliRunner().invoke(app, ["lab", "paper", str(played / "null"), "-o", str(tmp_path)])
    assert "is not empty" in str(done.exception)
    assert own.read_text() == "mine"
    for _ in range(2):
        m3bench("lab", "paper", played / "null", "-o", tmp_path / "new")
    assert len(list((tmp_path / "new" / "data").iterdir())) == 2


@pytest.mark.slow
def test_what_an_earlier_time_wrote_and_this_one_does_not_is_removed_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Sets that were made up have their stores where they are looked for.
    monkeypatch.chdir(tmp_path)
    paper = tmp_path / "paper"
    react, executor = made_set("one", 56), made_set("two", 56)
    object.__setattr__(executor, "header", executor.header.model_copy(update={"solver": "executor"}))
    write_paper(paper, groups_of([react, executor]), [], [])
    gone, edited = paper / "executor.standard", paper / "react.standard" / "tables" / "results.tex"
    assert (gone / "figures" / "solved.pdf").exists()
    edited.write_text("edited by hand")
    foreign = [paper / "react.standard" / "notes.txt", paper / "data" / "samples.csv", paper / "thesis.tex"]
    for path in foreign:
        path.write_text("mine")
    listed = json.loads((paper / "numbers.json").read_text("utf-8"))
    outside = paper.parent / f"{paper.name}-outside"
    outside.write_bytes(b"")
    listed["files"][f"../{outside.name}"] = sha256(b"").hexdigest()
    (paper / "numbers.json").write_text(json.dumps(listed))
    write_paper(paper, groups_of([react]), [], [])
    left = {str(path.relative_to(paper)) for path in paper.rglob("*") if path.is_file()}
    assert (paper / "tables" / "results.tex").exists(), "one group has no folder of its own"
    assert not gone.exists()
    assert {path for path in left if path.startswith("react.standard")} == {
        "react.standard/notes.txt", "react.standard/tables/results.tex",
    }  # fmt: skip
    assert all(path.read_text() == "mine" for path in foreign)
    assert outside.exists(), "a list that was tampered with reaches nothing outside"


def test_a_folder_without_results_is_named_and_nothing_is_written(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    done = CliRunner().invoke(app, ["lab", "paper", str(tmp_path / "empty"), "-o", str(tmp_path / "out")])
    assert done.exit_code != 0
    assert "there is no result set in it" in str(done.exception)
    assert not (tmp_path / "out").exists()
