"""`m3bench demo`: the bundled sample set scored, and one task explained."""

from importlib.resources import as_file, files

EXPLAINED = "canyon-weekend"


def demo() -> None:
    """See it work: score the sample set that comes with m3bench, and explain one task of it."""
    from m3bench.server.commands import screen
    from m3bench.server.commands.score import ProfileName, score_files

    with as_file(files("m3bench.tasks") / "data" / "sample") as folder:
        results = score_files(folder / "references.json", folder / "actual.json", profile=ProfileName.M3)
    screen.show_results(results)
    out = screen.console()
    out.print()
    screen.show_explanations(results, only=EXPLAINED)
    out.print()
    out.print("Score your own: m3bench score REFERENCES ACTUAL  (m3bench score --help)", style="dim")
