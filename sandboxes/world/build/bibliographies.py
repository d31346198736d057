"""`known_papers/cited.json`: real papers in the bibliographies of scientific software, by arXiv id or DOI.

Run it with the source distributions that `PACKAGES` names, all under permissive licences. Taken are title, authors,
year, venue and identifier, each of one entry; entries that are cut short or contradict themselves (`contradiction`) are
left out, and so is what two entries tell differently. The abstract says no more than which software cites the paper.
"""

import json
import re
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from rapidfuzz import fuzz

from m3bench.sandboxes.world import tables
from m3bench.sandboxes.world.build.papers import CitedPaper, cited, is_name, name_of, plain
from m3bench.sandboxes.world.build.writing import write
from m3bench.sandboxes.world.clock import NOW


class SourceDistribution(NamedTuple):
    """Whose bibliography is read."""

    name: str
    version: str
    licence: str
    about: str


PACKAGES = {
    "access": SourceDistribution("access", "1.1.10.post3", "BSD-3-Clause", "spatial accessibility"),
    "amici": SourceDistribution("AMICI", "1.1.0", "BSD-3-Clause", "the simulation of dynamic models in biology"),
    "autogalaxy": SourceDistribution("PyAutoGalaxy", "2026.10.26.1", "MIT", "the structure of galaxies"),
    "basis_set_exchange": SourceDistribution(
        "Basis Set Exchange", "0.12", "BSD-3-Clause", "basis sets in quantum chemistry"
    ),
    "blackjax": SourceDistribution("BlackJAX", "1.7.1", "Apache-2.0", "Bayesian sampling"),
    "cellrank": SourceDistribution("CellRank", "2.3.3", "BSD-3-Clause", "the dynamics of single cells"),
    "coolprop": SourceDistribution("CoolProp", "8.0.0", "MIT", "the thermophysical properties of fluids"),
    "ctapipe": SourceDistribution("ctapipe", "0.32.0", "BSD-3-Clause", "gamma-ray astronomy"),
    "decoupler": SourceDistribution("decoupler", "2.3.1", "BSD-3-Clause", "enrichment analysis of omics data"),
    "dingo_gw": SourceDistribution("Dingo", "0.10.3", "MIT", "inference from gravitational waves"),
    "dipy-1.12": SourceDistribution("DIPY", "1.12.1", "BSD-3-Clause", "diffusion MRI of the brain"),
    "dust_extinction": SourceDistribution("dust_extinction", "1.7", "BSD-3-Clause", "extinction by interstellar dust"),
    "e3nn": SourceDistribution("e3nn", "0.6.0", "MIT", "equivariant neural networks"),
    "elephant": SourceDistribution(
        "Elephant", "1.2.1", "BSD-3-Clause", "the analysis of electrophysiological recordings"
    ),
    "emcee": SourceDistribution("emcee", "3.1.6", "MIT", "Markov chain Monte Carlo sampling"),
    "esda": SourceDistribution("esda", "2.10.0", "BSD-3-Clause", "exploratory spatial data analysis"),
    "espnet": SourceDistribution("ESPnet", "202611", "Apache-2.0", "speech processing"),
    "exoplanet": SourceDistribution(
        "exoplanet", "0.6.0", "MIT", "modelling transits and radial velocities of exoplanets"
    ),
    "fipy": SourceDistribution("FiPy", "4.0.3", "public domain", "partial differential equations"),
    "fmriprep": SourceDistribution("fMRIPrep", "25.2.7", "Apache-2.0", "the preprocessing of functional MRI"),
    "giddy": SourceDistribution("giddy", "2.3.9", "BSD-3-Clause", "spatial dynamics and inequality"),
    "gpjax": SourceDistribution("GPJax", "1.0.0", "MIT", "Gaussian processes"),
    "hepstats": SourceDistribution("hepstats", "0.10.1", "BSD-3-Clause", "statistics in high-energy physics"),
    "infercnvpy": SourceDistribution("infercnvpy", "0.6.1", "BSD-3-Clause", "copy-number variation in single cells"),
    "liionpack": SourceDistribution("liionpack", "0.4.0", "MIT", "the simulation of battery packs"),
    "lm_eval": SourceDistribution("LM Evaluation Harness", "0.4.9.2", "MIT", "the evaluation of language models"),
    "mcdc": SourceDistribution("MC/DC", "0.15.3", "BSD-3-Clause", "Monte Carlo radiation transport"),
    "momepy": SourceDistribution("momepy", "1.0.0", "BSD-3-Clause", "urban morphology"),
    "ndcube": SourceDistribution("ndcube", "2.4.2", "BSD-2-Clause", "astronomical data cubes"),
    "netket": SourceDistribution("NetKet", "3.23.0", "Apache-2.0", "neural quantum states of many-body systems"),
    "nilearn-0.14": SourceDistribution("Nilearn", "0.14.1", "BSD-3-Clause", "statistical learning on brain images"),
    "pertpy": SourceDistribution("pertpy", "1.4.0", "MIT", "perturbation experiments on single cells"),
    "piquasso": SourceDistribution("Piquasso", "8.0.2", "Apache-2.0", "photonic quantum computing"),
    "plasmapy": SourceDistribution("PlasmaPy", "2026.2.0", "BSD-3-Clause", "plasma physics"),
    "preliz": SourceDistribution("PreliZ", "0.28.0", "Apache-2.0", "the elicitation of prior distributions"),
    "pyamg": SourceDistribution("PyAMG", "5.4.1", "MIT", "algebraic multigrid solvers"),
    "pymc_marketing": SourceDistribution("PyMC-Marketing", "1.3.0", "Apache-2.0", "Bayesian models of marketing"),
    "pymor": SourceDistribution("pyMOR", "2026.1.1", "BSD-2-Clause", "model order reduction"),
    "pysal": SourceDistribution("PySAL", "26.7", "BSD-3-Clause", "spatial analysis"),
    "qutip": SourceDistribution("QuTiP", "5.3.1", "BSD-3-Clause", "the dynamics of open quantum systems"),
    "scib_metrics": SourceDistribution("scib-metrics", "0.6.1", "BSD-3-Clause", "metrics of single-cell integration"),
    "scvi_tools": SourceDistribution(
        "scvi-tools", "1.5.1", "BSD-3-Clause", "probabilistic models of single-cell omics"
    ),
    "spatialdata": SourceDistribution("SpatialData", "0.8.0", "BSD-3-Clause", "spatial omics data"),
    "spglib": SourceDistribution("Spglib", "2.8.0", "BSD-3-Clause", "crystal symmetries"),
    "spiceypy": SourceDistribution("SpiceyPy", "8.3.0", "MIT", "the geometry of space missions"),
    "spreg": SourceDistribution("spreg", "1.9.1", "BSD-3-Clause", "spatial econometrics"),
    "squidpy": SourceDistribution("Squidpy", "1.8.3", "BSD-3-Clause", "spatial single-cell analysis"),
    "strawberryfields": SourceDistribution("Strawberry Fields", "0.23.0", "Apache-2.0", "photonic quantum computing"),
    "stumpy": SourceDistribution("STUMPY", "1.14.1", "BSD-3-Clause", "data mining in time series"),
    "sunpy": SourceDistribution("SunPy", "8.0.1", "BSD-2-Clause", "solar physics"),
    "thewalrus": SourceDistribution("The Walrus", "0.22.0", "Apache-2.0", "hafnians and Gaussian boson sampling"),
    "tobler": SourceDistribution("tobler", "0.14.0", "BSD-3-Clause", "areal interpolation"),
    "wradlib": SourceDistribution("wradlib", "2.9.7", "MIT", "weather radar"),
    "xclim": SourceDistribution("xclim", "0.62.0", "Apache-2.0", "climate indices"),
    "xgcm": SourceDistribution("xgcm", "0.10.1", "MIT", "the output of general circulation models"),
    "zfit": SourceDistribution("zfit", "0.28.0", "BSD-3-Clause", "model fitting in high-energy physics"),
}
"""By the beginning of the file name, lower case, with the version that was read."""

_SOURCE = "Bibliographies in the source distributions that sandboxes/world/build/bibliographies.py names: facts alone."
_VENUES = {
    "10.1103": r"phys|rev|pr[abcdexl]\b|prx|quantum",
    "10.1126": r"scien",
    "10.1073": r"national academy|pnas|natl|nat\.? acad",
    "10.7554": r"elife",
    "10.1371": r"plos|public library",
    "10.21105": r"open source software|joss|open journal",
    "10.18653": r"proceedings|conference|workshop|findings|linguistics|acl|meeting|transactions",
    "10.1101": r"biorxiv|medrxiv|genome|cold spring|learning|protoc|genes|rna|preprint|perspect",
    "10.1109": r"ieee|proceedings|conference|symposium|workshop|trans|computing|acm|international|meeting|control",
    "10.1021": r"chem|acs|nano|energy|environ|lang|macro|phys|mater|am\.? ?soc|biomac|org|anal|ind|polym|res",
    "10.48550": r"arxiv",
}  # fmt: skip
"""What a venue's name has in it where a registrant of DOIs publishes few kinds of things."""
_YEARS = (
    re.compile(r"10\.1016/j\.[a-z]+\.((?:19|20)\d\d)\."),
    re.compile(r"10\.18653/v1/(20\d\d)\."),
    re.compile(r"10\.1101/(20\d\d)\."),
    re.compile(r"10\.3389/[a-z]+\.(20\d\d)\."),
    re.compile(r"10\.1109/[A-Za-z]+\.((?:19|20)\d\d)\."),
)
_NATURE_YEAR = re.compile(r"10\.10(?:38|07)/s\d{5}-0(\d\d)-")
_SOONEST, _LATEST = -1, 2
"""How much later than the year in its DOI a paper is dated."""
_DOUBTFUL = re.compile(r"[\\{}<>@$*]|\b[a-z]\b(?!')|åa|aå|öo|oö|üu|uü|äa|aä|[äöå].*aa|\ufffd|\x22|[A-Z]{2}[a-z]")
_CORRECTION = re.compile(r"erratum|corrigendum|correction to|\x22", re.I)
_ALIKE = 90
_LAST_DAYS = 25
_LEFT_OUT = frozenset(["1502.05698"])
"""A task of the bundled set asks what else one of its authors has written."""


def contradiction(record: CitedPaper) -> str | None:
    """What in a record cannot be true together; None where nothing stands out."""
    number, doi, year = record["id"], record.get("doi", ""), int(record["published"][:4])
    if re.fullmatch(r"\d{4}\.\d{4,5}", number) and not _is_of_its_month(number, record["published"]):
        return f"arXiv gave {number} in another month than {record['published']}"
    if doi and not re.fullmatch(r"10\.\d{4,9}/[^\s{}\\]*[^\s{}\\.,;]", doi):
        return f"{doi} is no DOI"
    if not number.startswith("10.") or not doi:
        return None
    told = [int(found[1]) for form in _YEARS if (found := form.match(doi))]
    told += [2000 + int(found[1]) for found in [_NATURE_YEAR.match(doi)] if found]
    if any(not _SOONEST <= year - other <= _LATEST for other in told):
        return f"{doi} names another year than {year}"
    venues = _VENUES.get(doi.partition("/")[0])
    if venues and not re.search(venues, record["venue"], re.I):
        return f"{doi} is not of {record['venue']}"
    return None


def _is_of_its_month(number: str, published: str) -> bool:
    """A number is given in the month of the submission or, after its last days, in the next."""
    given = int(number[:2]) * 12 + int(number[2:4])
    dated = int(published[2:4]) * 12 + int(published[5:7])
    return given == dated or (given == dated + 1 and int(published[8:] or 0) >= _LAST_DAYS)


def main(*distributions: str) -> None:
    """Write the table."""
    held = [record for record in tables.stream("known_papers") if not record.get("cited")]
    ids = {key.lower() for record in held for key in (record["id"], record.get("doi", ""))}
    titles = {_bare(record["title"]) for record in held}
    found: dict[str, list[tuple[CitedPaper, SourceDistribution]]] = {}
    for path in distributions:
        package = next(about for start, about in PACKAGES.items() if Path(path).name.lower().startswith(start))
        for record in _entries(path):
            if _is_sound(record):
                found.setdefault(record["id"].lower(), []).append((record, package))
    kept = []
    for key, records in sorted(found.items()):
        best, package = max(records, key=lambda found: sum(map(len, found[0]["authors"])))
        alike = all(fuzz.ratio(_bare(best["title"]), _bare(other["title"])) >= _ALIKE for other, _ in records)
        if alike and key not in ids | _LEFT_OUT and _bare(best["title"]) not in titles:
            titles.add(_bare(best["title"]))
            kept.append({**best, "cited": True, "abstract": _told(best, package)})
    write("known_papers/cited", _SOURCE, "CC0-1.0", kept)


def _told(record: CitedPaper, package: SourceDistribution) -> str:
    first, *others = record["authors"]
    beside = ["", f" and {others[0]}" if others else "", f" and {len(others)} others"][min(2, len(others))]
    where = "on arXiv" if record["venue"] == "arXiv" else f"in {record['venue']}"
    published = f"By {first}{beside}, {where}, {record['published'][:4]}"
    return f"{published}; cited by {package.name}, software for {package.about}."


def _entries(path: str) -> Iterator[CitedPaper]:
    with tarfile.open(path) as distribution:
        for member in distribution:
            if not member.isfile() or not (file := distribution.extractfile(member)):
                continue
            if member.name.endswith("basis_set_exchange/data/REFERENCES.json"):
                yield from _of_json(json.load(file))
            elif member.name.endswith(".bib") or ("lm_eval/tasks" in member.name and member.name.endswith(".md")):
                yield from cited(file.read().decode("utf-8", "ignore"))


def _of_json(references: dict[str, tables.Record]) -> Iterator[CitedPaper]:
    for entry in references.values():
        if entry.get("_entry_type") == "article" and entry.get("doi") and int(entry["year"]) < NOW.year:
            authors = [name_of(plain(name)) for name in entry["authors"]]
            if all(map(is_name, authors)):
                yield {
                    "id": entry["doi"],
                    "platform": "journal",
                    "title": plain(entry["title"]),
                    "authors": authors,
                    "published": entry["year"],
                    "venue": plain(entry["journal"]),
                    "doi": entry["doi"],
                }


def _is_sound(record: CitedPaper) -> bool:
    names = " ; ".join(record["authors"])
    title = record["title"]
    whole = title.count(" ") >= 2 and not title.isupper() and not set(title) & set("\\{}<>$")
    clean = not _CORRECTION.search(title) and not _DOUBTFUL.search(names) and "\\" not in record["venue"]
    return whole and clean and contradiction(record) is None


def _bare(title: str) -> str:
    return re.sub(r"\W+", " ", title).casefold().strip()


if __name__ == "__main__":
    main(*sys.argv[1:])
