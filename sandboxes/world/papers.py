"""Papers of the frozen world: research that could exist, each at home on one platform.

A paper's `id` is the one of its home: an arXiv id without version, a PMID, a DOI or an ePrint number. What several
platforms know (Semantic Scholar, Google Scholar, Crossref) is this one table seen from different sides.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from hashlib import sha1
from typing import Literal

from m3bench.sandboxes.world import tables
from m3bench.sandboxes.world.tables import Record

Platform = Literal["arxiv", "pubmed", "biorxiv", "medrxiv", "iacr", "journal"]


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
    """Papers that have a DOI, by its lower-case form."""
    return {paper.doi.lower(): paper for paper in all_papers() if paper.doi}


@cache
def by_digest() -> Mapping[str, Paper]:
    """Every paper by its hexadecimal name."""
    return {paper.digest: paper for paper in all_papers()}


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
