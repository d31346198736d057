"""A paper as each platform shows it: the same fields, other ids and addresses."""

from typing import Any

from m3bench.sandboxes.world.papers import Paper, by_id

_HOMES = {
    "arxiv": "http://arxiv.org/abs/{id}",
    "pubmed": "https://pubmed.ncbi.nlm.nih.gov/{id}/",
    "biorxiv": "https://www.biorxiv.org/content/{id}v1",
    "medrxiv": "https://www.medrxiv.org/content/{id}v1",
    "iacr": "https://eprint.iacr.org/{id}",
    "journal": "https://doi.org/{id}",
    "page": "{id}",
}
_PDFS = {
    "arxiv": "http://arxiv.org/pdf/{id}",
    "biorxiv": "https://www.biorxiv.org/content/{id}v1.full.pdf",
    "medrxiv": "https://www.medrxiv.org/content/{id}v1.full.pdf",
    "iacr": "https://eprint.iacr.org/{id}.pdf",
}


def at_home(paper: Paper) -> dict[str, Any]:
    """As its own platform shows it; those platforms count no citations."""
    return _fields(paper, paper.versioned, paper.platform, _home(paper), _pdf(paper))


def bare(paper: Paper) -> dict[str, Any]:
    """As a list of results shows it, before the paper's own page is opened."""
    return {**at_home(paper), "keywords": "", "updated_date": ""}


def scholar(paper: Paper) -> dict[str, Any]:
    """As Google Scholar shows it: only the beginning of the abstract, no PDF and no DOI."""
    first = " ".join(paper.abstract.split(". ")[:2]).rstrip(".") + " …" if paper.abstract else ""
    shown = _fields(paper, f"gs_{paper.digest[:12]}", "google_scholar", _home(paper), "")
    return shown | {"abstract": first, "doi": "", "categories": "", "keywords": "", "citations": paper.citations}


def semantic(paper: Paper) -> dict[str, Any]:
    """As Semantic Scholar shows it."""
    url = f"https://www.semanticscholar.org/paper/{paper.digest}"
    return _fields(paper, paper.digest, "semantic", url, _pdf(paper)) | {"citations": paper.citations}


def crossref(paper: Paper) -> dict[str, Any]:
    """As Crossref shows it: by DOI, with what it cites that has one."""
    cited = [by_id()[key].doi for key in paper.references]
    shown = _fields(paper, paper.doi, "crossref", f"https://doi.org/{paper.doi}", "")
    kind = "journal-article" if paper.real or paper.platform in ("journal", "pubmed") else "posted-content"
    return shown | {
        "citations": paper.citations,
        "references": "; ".join(doi for doi in cited if doi),
        "extra": str({"publisher": paper.venue, "type": kind, "container_title": paper.venue} | _precision(paper)),
    }


def header(paper: Paper, saved: str) -> str:
    """What stands above the text of a paper that was read."""
    lines = [
        f"Title: {paper.title}",
        f"Authors: {', '.join(paper.authors)}",
        f"Published Date: {paper.published.isoformat(sep=' ')}",
        f"URL: {_home(paper)}",
        f"PDF downloaded to: {saved}",
        "=" * 80,
    ]
    return "\n".join(lines)


def _fields(paper: Paper, key: str, source: str, url: str, pdf: str) -> dict[str, Any]:
    return {
        "paper_id": key,
        "title": paper.title,
        "authors": "; ".join(paper.authors),
        "abstract": paper.abstract,
        "doi": paper.doi,
        "published_date": paper.published.isoformat(),
        "pdf_url": pdf,
        "url": url,
        "source": source,
        "updated_date": paper.updated.isoformat(),
        "categories": "; ".join(paper.categories),
        "keywords": "; ".join(paper.keywords),
        "citations": 0,
        "references": "",
        "extra": str(_precision(paper)) if _precision(paper) else "",
    }


def _precision(paper: Paper) -> dict[str, str]:
    """What is known of the date of a paper when it is not the day."""
    return {} if paper.dated == "day" else {"date_precision": paper.dated}


def _home(paper: Paper) -> str:
    return _HOMES[paper.platform].format(id=paper.versioned)


def _pdf(paper: Paper) -> str:
    return _PDFS[paper.platform].format(id=paper.versioned) if paper.has_pdf else ""
