"""Papers of the frozen world, each at home on one platform: known ones, and research that could exist.

A paper's `id` is the one of its home: an arXiv id without version, a PMID, a DOI, an ePrint number or an address. What
several platforms know (Semantic Scholar, Google Scholar, Crossref) is this one list seen from different sides. Of known
papers the world holds bibliographic facts, for many a sentence of our own, and never the text.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from hashlib import sha1
from typing import Literal

from m3bench.sandboxes.world import tables
from m3bench.sandboxes.world.tables import Record

_NO_TEXT = (
    "This is the record of a real paper: its title, authors, date and identifier are facts, and the abstract, if there "
    "is one, is a summary that was written for this world. The text of the paper is not held here."
)

Platform = Literal["arxiv", "pubmed", "biorxiv", "medrxiv", "iacr", "journal", "page"]


@dataclass(frozen=True, kw_only=True)
class Paper:
    """One paper with its whole text."""

    id: str
    platform: Platform
    version: int
    """The newest version; only arXiv counts them."""
    title: str
    authors: tuple[str, ...]
    published: datetime
    updated: datetime
    categories: tuple[str, ...]
    keywords: tuple[str, ...]
    doi: str
    """Empty where the platform gives none."""
    venue: str
    abstract: str
    sections: tuple[tuple[str, str], ...]
    """Headings and their text, without the abstract."""
    references: tuple[str, ...]
    """Ids of the papers it cites."""
    citations: int
    real: bool = False
    """Whether it exists outside this world."""
    dated: str = "day"
    """How exactly its date is known: to the `day`, the `month` or the `year`, and then it is the first one of it."""

    @property
    def versioned(self) -> str:
        """The id as arXiv shows it."""
        return f"{self.id}v{self.version}" if self.platform == "arxiv" else self.id

    @property
    def digest(self) -> str:
        """A hexadecimal name of 40 digits, as Semantic Scholar gives to every paper."""
        return sha1(f"{self.platform}:{self.id}".encode(), usedforsecurity=False).hexdigest()

    @property
    def has_pdf(self) -> bool:
        """Whether anybody may download it."""
        return self.platform in ("arxiv", "biorxiv", "medrxiv", "iacr")


@cache
def all_papers() -> tuple[Paper, ...]:
    """Every paper, newest first."""
    found = [_paper(record) for record in tables.stream("papers")]
    found += [_known(record) for record in tables.stream("known_papers")]
    return tuple(sorted(found, key=lambda paper: (paper.published, paper.id), reverse=True))


@cache
def on(platform: Platform) -> Mapping[str, Paper]:
    """The papers at home on a platform by id, newest first."""
    return {paper.id: paper for paper in all_papers() if paper.platform == platform}


@cache
def by_id() -> Mapping[str, Paper]:
    """Every paper by the id of its home."""
    return {paper.id: paper for paper in all_papers()}


@cache
def by_doi() -> Mapping[str, Paper]:
    """Papers that have a DOI, by its lower-case form; every arXiv paper has one of arXiv."""
    by_home = {f"10.48550/arxiv.{paper.id}".lower(): paper for paper in all_papers() if paper.platform == "arxiv"}
    return by_home | {paper.doi.lower(): paper for paper in all_papers() if paper.doi}


@cache
def by_digest() -> Mapping[str, Paper]:
    """Every paper by its hexadecimal name."""
    return {paper.digest: paper for paper in all_papers()}


def _known(record: Record) -> Paper:
    date: str = record["published"]
    published = datetime.fromisoformat(f"{date}-01-01"[:10])
    return Paper(
        id=record["id"],
        platform=record["platform"],
        version=record.get("version", 1),
        title=record["title"],
        authors=tuple(record["authors"]),
        published=published,
        updated=published,
        categories=tuple(record.get("categories", ())),
        keywords=(),
        doi=record.get("doi", ""),
        venue=record["venue"],
        abstract=record.get("abstract", ""),
        sections=(("About this copy", _NO_TEXT),),
        references=(),
        citations=0,
        real=True,
        dated={4: "year", 7: "month"}.get(len(date), "day"),
    )


def _paper(record: Record) -> Paper:
    return Paper(
        id=record["id"],
        platform=record["platform"],
        version=record.get("version", 1),
        title=record["title"],
        authors=tuple(record["authors"]),
        published=datetime.fromisoformat(record["published"]),
        updated=datetime.fromisoformat(record.get("updated", record["published"])),
        categories=tuple(record["categories"]),
        keywords=tuple(record.get("keywords", ())),
        doi=record.get("doi", ""),
        venue=record["venue"],
        abstract=record["abstract"],
        sections=tuple((heading, text) for heading, text in record["sections"]),
        references=tuple(record.get("references", ())),
        citations=record["citations"],
    )
