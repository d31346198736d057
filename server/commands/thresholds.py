"""`m3bench thresholds`: from which similarity two calls are the same, by people's labels."""

from pathlib import Path
from typing import Annotated, Any

import typer

from m3bench.server.commands.score import AsJson, EncoderName, Weights


def thresholds(
    labels: Annotated[
        Path,
        typer.Argument(help="CSV or JSON with pairs of calls and whether they are the same.", show_default=False),
    ],
    profile: Annotated[str, typer.Option(metavar="m3|open-m3-bench", help="Which text of a call is compared.")] = "m3",
    as_json: AsJson = False,
    encoder: EncoderName = "minilm",
    weights: Weights = None,
) -> None:
    """Fit the threshold of the paper's alignment to labels that people gave to pairs of calls.

    CSV has the columns first_tool, first_arguments, second_tool, second_arguments (arguments as JSON) and same (yes or
    no); JSON is a list of objects with first, second and same. Several labels of a pair are put to a vote.
    Printed are the threshold that agrees with most labels, what it is worth on pairs that it was not fitted to, 95 %
    intervals by bootstrap, and how the profile's own thresholds do. Scores do not change: they keep the paper's.
    """
    from m3bench.server.commands.screen import print_json
    from m3bench.server.lab.interchange.labels import read_labels
    from m3bench.server.scoring.encoder import open_encoder
    from m3bench.server.scoring.profiles import find_profile
    from m3bench.server.scoring.signatures import catalog_signatures
    from m3bench.server.scoring.thresholds import agreement, fit, similarity_of
    from m3bench.tasks.catalog import load_catalog
    from m3bench.tasks.errors import UserError

    chosen, given = find_profile(profile), read_labels(labels)
    if not given.pairs:
        raise UserError(f"No pair in {labels} can be used: both calls must be of one tool, and most labels must agree.")
    opened = open_encoder(encoder, weights=weights)
    found = similarity_of(given.pairs, opened, chosen, catalog_signatures(load_catalog()))
    fitted = fit(found, given.same)
    own = {
        name: agreement(found, given.same, value) for name, value in (("weak", chosen.weak), ("strong", chosen.strong))
    }
    document: dict[str, Any] = {
        "profile": chosen.name,
        "encoder": opened.id,
        "pairs": len(given.pairs),
        "same": sum(given.same),
        "labels": given.votes,
        "left_out": {"other_tools": given.other_tools, "divided": given.divided},
        "agreement_of_people": given.agreement,
        "fitted": fitted.to_json(),
        **{name: one.to_json() for name, one in own.items()},
    }
    if as_json:
        print_json(document)
        return
    best = fitted.best
    low, high = fitted.interval
    typer.echo(f"pairs          {len(given.pairs)}, {sum(given.same)} of them the same")
    typer.echo(f"threshold      {best.threshold:.3f}, 95 % interval {low:.3f} to {high:.3f}")
    low, high = fitted.accuracy_interval
    typer.echo(f"accuracy       {best.accuracy:.3f}, 95 % interval {low:.3f} to {high:.3f}")
    typer.echo(f"held out       {fitted.held_out:.3f}")
    for name, one in own.items():
        typer.echo(f"{name:<15}{one.threshold:.2f}: accuracy {one.accuracy:.3f}")
    if given.other_tools or given.divided:
        typer.echo(
            f"Left out: {given.other_tools} of different tools, {given.divided} on which people are divided.", err=True
        )
