"""`m3bench lab thresholds`: from which similarity two calls are the same, by people's labels."""

from pathlib import Path
from typing import Annotated

import typer

from m3bench.server.commands.options import Json
from m3bench.server.commands.score import EncoderOptions
from m3bench.server.commands.screen import print_json
from m3bench.server.lab.interchange.labels import Labels, read_labels
from m3bench.server.scoring.encoder import open_encoder
from m3bench.server.scoring.signatures import catalog_signatures
from m3bench.server.scoring.thresholds import Fit, ThresholdAccuracy, agreement, find_text_matching, fit, similarity_of
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.errors import UserError


def thresholds(
    labels: Annotated[
        Path,
        typer.Argument(help="CSV or JSON with pairs of calls and whether they are the same.", show_default=False),
    ],
    encoder: EncoderOptions,
    metric: Annotated[str, typer.Option(metavar="m3|open-m3-bench", help="Which text of a call is compared.")] = "m3",
    json: Json = False,
) -> None:
    """Fit the paper's threshold of similarity to people's labels.

    \b
    m3bench lab thresholds labels.csv

    CSV has the columns first_tool, first_arguments, second_tool, second_arguments (arguments as JSON) and same (yes or
    no); JSON is a list of objects with first, second and same. Several labels of a pair are put to a vote.

    Prints the threshold that agrees with most labels, its accuracy on pairs that it was not fitted to, 95 % intervals
    by bootstrap, and how the metric's own thresholds do. Scores do not change: they keep the paper's thresholds.
    """
    chosen, given = find_text_matching(metric), read_labels(labels)
    if not given.pairs:
        raise UserError(f"No pair in {labels} can be used: both calls must be of one tool, and most labels must agree.")
    opened = open_encoder(encoder.encoder, weights=encoder.weights)
    found = similarity_of(given.pairs, opened, chosen, catalog_signatures(load_catalog()))
    fitted = fit(found, given.same)
    own = {
        name: agreement(found, given.same, value) for name, value in (("weak", chosen.weak), ("strong", chosen.strong))
    }
    document = {
        "profile": chosen.name,
        "encoder": opened.id,
        "pairs": len(given.pairs),
        "same": sum(given.same),
        "labels": given.votes,
        "left_out": {"other_tools": given.other_tools, "divided": given.divided},
        "agreement_of_people": given.agreement,
        "fitted": fitted.to_json(),
        **{name: found.to_json() for name, found in own.items()},
    }
    if json:
        print_json(document)
    else:
        _show(given, fitted, own)


def _show(given: Labels, fitted: Fit, own: dict[str, ThresholdAccuracy]) -> None:
    best = fitted.best
    low, high = fitted.interval
    typer.echo(f"pairs          {len(given.pairs)}, {sum(given.same)} of them the same")
    typer.echo(f"threshold      {best.threshold:.3f}, 95 % interval {low:.3f} to {high:.3f}")
    low, high = fitted.accuracy_interval
    typer.echo(f"accuracy       {best.accuracy:.3f}, 95 % interval {low:.3f} to {high:.3f}")
    typer.echo(f"held out       {fitted.held_out:.3f}")
    for name, found in own.items():
        typer.echo(f"{name:<15}{found.threshold:.2f}: accuracy {found.accuracy:.3f}")
    if given.other_tools or given.divided:
        typer.echo(
            f"Left out: {given.other_tools} of different tools, {given.divided} on which people are divided.", err=True
        )
