"""The `paper_search` server: papers of several platforms, found, downloaded as PDF and read.

Each platform shows a paper with the same fields, and with ids and addresses of its own.
Downloads make the folder when it is missing and refuse an unknown paper, where the public server fails or saves an
error page. bioRxiv and medRxiv take a category, as the public server does, and any other words as a search within the
last thirty days. PDF files are written without any library and have no dates or ids, so that a paper downloaded twice
is the same file twice; they are read by one that reads others' too.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from pypdf import PdfReader
from pypdf.errors import PyPdfError

from m3bench.sandboxes.context import Context
from m3bench.sandboxes.gaps import covered
from m3bench.sandboxes.identifiers import is_arxiv, is_doi, is_eprint
from m3bench.sandboxes.toolserver import ToolServer
from m3bench.sandboxes.world.clock import NOW
from m3bench.sandboxes.world.paper_search import newest, ranked, recent
from m3bench.sandboxes.world.papers import Paper, Platform, by_digest, by_doi, by_id, on
from m3bench.tasks.errors import Failure, LimitError, SoftError, ToolError

WIDTH, HEIGHT, MARGIN = 612, 792, 72
MOST_PAGES = 400

_REGULAR, _BOLD = "F1", "F2"
_LEADING = 1.35
_NARROW = frozenset("fijlrtI.,:;!'|()[]/-")
_WIDE = frozenset("mwMW@%&—")

Line = tuple[str, str, float]
"""Font, text, size; an empty text is a gap."""


def pdf_of(paper: Paper) -> bytes:
    """A paper as a PDF file."""
    return _file(_laid_out(_lines(paper)), paper.title)


def read_pdf(path: Path, most: int) -> list[str]:
    """The text of each page; raises `ToolError` when the file is no PDF that can be read.

    Args:
        path: A file that may come from anywhere.
        most: Characters of text after which it is too much.
    """
    try:
        reader = PdfReader(path)
        if len(reader.pages) > MOST_PAGES:
            raise LimitError(f"the PDF has {len(reader.pages)} pages, more than the {MOST_PAGES} allowed")
        pages: list[str] = []
        for page in reader.pages:
            pages.append(page.extract_text())
            if sum(map(len, pages)) > most:
                raise LimitError(f"the PDF has more than the {most} characters allowed")
        return pages
    except (PyPdfError, OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise ToolError(f"{path.name} is not a PDF that can be read") from error


def _lines(paper: Paper) -> Iterator[Line]:
    yield from _wrapped(_BOLD, paper.title, 16)
    yield _REGULAR, "", 6
    yield from _wrapped(_REGULAR, ", ".join(paper.authors), 11)
    yield from _wrapped(_REGULAR, f"{paper.venue}, {paper.published:%d %B %Y}. {paper.doi or paper.versioned}", 9)
    for heading, text in (*([("Abstract", paper.abstract)] if paper.abstract else []), *paper.sections):
        yield _REGULAR, "", 8
        yield from _wrapped(_BOLD, heading, 12)
        for paragraph in text.split("\n"):
            yield from _wrapped(_REGULAR, paragraph, 10.5)
            yield _REGULAR, "", 3
    if paper.references:
        yield _REGULAR, "", 8
        yield from _wrapped(_BOLD, "References", 12)
        for number, key in enumerate(paper.references, 1):
            cited = by_id()[key]
            names = cited.authors[0] + (" et al." if len(cited.authors) > 1 else ".")
            yield from _wrapped(
                _REGULAR, f"[{number}] {names} {cited.title}. {cited.venue}, {cited.published.year}.", 9
            )


def _wrapped(font: str, text: str, size: float) -> Iterator[Line]:
    room = WIDTH - 2 * MARGIN
    line = ""
    for word in text.split():
        longer = f"{line} {word}" if line else word
        if line and _length(longer) * size > room:
            yield font, line, size
            line = word
        else:
            line = longer
    yield font, line, size


def _length(text: str) -> float:
    """About how long a text is, in its font's size; a little too much rather than too little."""
    return sum(0.31 if char in _NARROW else 0.28 if char == " " else 0.92 if char in _WIDE else 0.58 for char in text)


def _laid_out(lines: Iterable[Line]) -> list[list[tuple[float, Line]]]:
    """The lines with their heights on each page."""
    pages: list[list[tuple[float, Line]]] = [[]]
    y = float(HEIGHT - MARGIN)
    for line in lines:
        y -= line[2] * _LEADING
        if y < MARGIN:
            pages.append([])
            y = HEIGHT - MARGIN - line[2] * _LEADING
        if line[1]:
            pages[-1].append((y, line))
    return pages


def _file(pages: list[list[tuple[float, Line]]], title: str) -> bytes:
    first_page = 6
    kids = " ".join(f"{first_page + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Count {len(pages)} /Kids [{kids}] >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold /Encoding /WinAnsiEncoding >>",
        b"<< /Title " + _string(title) + b" /Producer (m3bench) >>",
    ]
    for number, page in enumerate(pages):
        content = b"\n".join(
            b"BT /%s %g Tf 1 0 0 1 %d %.2f Tm " % (font.encode(), size, MARGIN, y) + _string(text) + b" Tj ET"
            for y, (font, text, size) in page
        )
        content_number = first_page + 2 * number + 1
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {WIDTH} {HEIGHT}] /Contents {content_number} 0 R "
            f"/Resources << /Font << /{_REGULAR} 3 0 R /{_BOLD} 4 0 R >> >> >>".encode()
        )
        objects.append(b"<< /Length %d >>\nstream\n" % len(content) + content + b"\nendstream")
    data = b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n"
    places: list[int] = []
    for number, body in enumerate(objects, 1):
        places.append(len(data))
        data += b"%d 0 obj\n" % number + body + b"\nendobj\n"
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    size = len(objects) + 1
    return (
        data
        + b"xref\n0 %d\n0000000000 65535 f \n" % size
        + table
        + b"trailer\n<< /Size %d /Root 1 0 R /Info 5 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (size, len(data))
    )


def _string(text: str) -> bytes:
    """A text in the fonts' encoding; letters they lack become question marks."""
    data = text.encode("cp1252", "replace")
    return b"(" + data.replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)") + b")"


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


def at_home(paper: Paper) -> dict[str, object]:
    """As its own platform shows it; those platforms count no citations."""
    return _fields(paper, paper.versioned, paper.platform, _home(paper), _pdf(paper))


def bare(paper: Paper) -> dict[str, object]:
    """As a list of results shows it, before the paper's own page is opened."""
    return {**at_home(paper), "keywords": "", "updated_date": ""}


def scholar(paper: Paper) -> dict[str, object]:
    """As Google Scholar shows it: only the beginning of the abstract, no PDF and no DOI."""
    first = " ".join(paper.abstract.split(". ")[:2]).rstrip(".") + " …" if paper.abstract else ""
    shown = _fields(paper, f"gs_{paper.digest[:12]}", "google_scholar", _home(paper), "")
    return shown | {"abstract": first, "doi": "", "categories": "", "keywords": "", "citations": paper.citations}


def semantic(paper: Paper) -> dict[str, object]:
    """As Semantic Scholar shows it."""
    url = f"https://www.semanticscholar.org/paper/{paper.digest}"
    return _fields(paper, paper.digest, "semantic", url, _pdf(paper)) | {"citations": paper.citations}


def crossref(paper: Paper) -> dict[str, object]:
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


def _fields(paper: Paper, key: str, source: str, url: str, pdf: str) -> dict[str, object]:
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


server = ToolServer("paper_search")

Found = list[dict[str, object]]

_ARXIV_ID = re.compile(
    r"^(?:arxiv:|https?://arxiv\.org/(?:abs|pdf)/)?(\d{4}\.\d{4,5}|[a-z-]+(?:\.[a-z]{2})?/\d{7})(?:v(\d{1,3}))?(?:\.pdf)?$",
    re.I,
)
_IACR_ID = re.compile(r"^(?:https?://eprint\.iacr\.org/)?(\d{4}/\d{1,5})(?:\.pdf)?$", re.I)
_DOI_PREFIX = re.compile(r"^(?:https?://(?:dx\.)?doi\.org/|doi:\s*)", re.I)
_YEARS = re.compile(r"(\d{4})?(?:\s*(-))?(?:\s*(\d{4}))?$")


@server.tool
async def search_arxiv(query: str, max_results: int = 10) -> Found:
    return _listed([at_home(paper) for paper in newest("arxiv", query, max_results)], query, max_results)


@server.tool
async def search_pubmed(query: str, max_results: int = 10) -> Found:
    return _listed([at_home(paper) for paper in ranked("pubmed", query, max_results)], query, max_results)


@server.tool
async def search_biorxiv(query: str, max_results: int = 10) -> Found:
    return _listed([at_home(paper) for paper in recent("biorxiv", query, max_results)], query, max_results)


@server.tool
async def search_medrxiv(query: str, max_results: int = 10) -> Found:
    return _listed([at_home(paper) for paper in recent("medrxiv", query, max_results)], query, max_results)


@server.tool
async def search_google_scholar(query: str, max_results: int = 10) -> Found:
    return _listed([scholar(paper) for paper in ranked(None, query, max_results)], query, max_results)


@server.tool
async def search_iacr(query: str, max_results: int = 10, fetch_details: bool = True) -> Found:
    show = at_home if fetch_details else bare
    return _listed([show(paper) for paper in ranked("iacr", query, max_results)], query, max_results)


@server.tool
async def search_semantic(query: str, year: str | None = None, max_results: int = 10) -> Found:
    first, last = _years(year)
    found = ranked(None, query, max_results, lambda paper: first <= paper.published.year <= last)
    return _listed([semantic(paper) for paper in found], query if first <= NOW.year else "", max_results)


@server.tool
async def search_crossref(query: str, kwargs: str, max_results: int = 10) -> Found:
    found = ranked(None, query, max_results, lambda paper: bool(paper.doi))
    return _listed([crossref(paper) for paper in found], query, max_results)


@server.tool
async def get_crossref_paper_by_doi(doi: str) -> dict[str, object]:
    paper = by_doi().get(_plain_doi(doi))
    if paper is None:
        raise SoftError({}, outcome=_absent(is_doi(_plain_doi(doi))))
    return crossref(paper)


@server.tool
def download_arxiv(context: Context, paper_id: str, save_path: str = "./downloads") -> str:
    return _save(context, _arxiv(paper_id), save_path, _arxiv_file(paper_id))


@server.tool
async def download_pubmed(paper_id: str, save_path: str = "./downloads") -> str:
    return (
        "PubMed does not provide direct PDF downloads. Paper ID: "
        f"{paper_id}. Please use the paper's DOI or URL to access the publisher's website."
    )


@server.tool
def download_biorxiv(context: Context, paper_id: str, save_path: str = "./downloads") -> str:
    return _save(context, _preprint("biorxiv", paper_id), save_path, _doi_file(paper_id))


@server.tool
def download_medrxiv(context: Context, paper_id: str, save_path: str = "./downloads") -> str:
    return _save(context, _preprint("medrxiv", paper_id), save_path, _doi_file(paper_id))


@server.tool
def download_iacr(context: Context, paper_id: str, save_path: str = "./downloads") -> str:
    paper = _eprint(paper_id)
    if paper is None:
        raise SoftError("Failed to download PDF: HTTP 404", outcome=_absent(_is_eprint(paper_id)))
    return _save(context, paper, save_path, f"iacr_{paper.id.replace('/', '_')}.pdf")


@server.tool
def download_semantic(context: Context, paper_id: str, save_path: str = "./downloads") -> str:
    return _save(context, _open_access(paper_id), save_path, _semantic_file(paper_id))


@server.tool
async def download_crossref(paper_id: str, save_path: str = "./downloads") -> str:
    return (
        "CrossRef does not provide direct PDF downloads. CrossRef is a citation database that provides metadata "
        f"about academic papers. To access the full text of {paper_id}, please use the DOI or URL of the publisher."
    )


@server.tool
def read_arxiv_paper(context: Context, paper_id: str, save_path: str = "./downloads") -> str:
    paper = _arxiv_paper(paper_id)
    if paper is None:
        raise SoftError("", outcome=_absent(_is_arxiv(paper_id)))
    return "\n".join(_pages(context, paper, save_path, _arxiv_file(paper_id)))


@server.tool
async def read_pubmed_paper(paper_id: str, save_path: str = "./downloads") -> str:
    return (
        "PubMed papers cannot be read directly through this tool. Only metadata and abstracts are available through "
        "PubMed's API. Please use the paper's DOI or URL to access the full text on the publisher's website."
    )


@server.tool
def read_biorxiv_paper(context: Context, paper_id: str, save_path: str = "./downloads") -> str:
    return _read_preprint(context, "biorxiv", paper_id, save_path)


@server.tool
def read_medrxiv_paper(context: Context, paper_id: str, save_path: str = "./downloads") -> str:
    return _read_preprint(context, "medrxiv", paper_id, save_path)


@server.tool
def read_iacr_paper(context: Context, paper_id: str, save_path: str = "./downloads") -> str:
    paper = _eprint(paper_id)
    if paper is None:
        raise SoftError(f"Error: Could not find PDF URL for paper {paper_id}", outcome=_absent(_is_eprint(paper_id)))
    return _with_header(context, paper, save_path, f"iacr_{paper.id.replace('/', '_')}.pdf")


@server.tool
def read_semantic_paper(context: Context, paper_id: str, save_path: str = "./downloads") -> str:
    return _with_header(context, _open_access(paper_id), save_path, _semantic_file(paper_id))


@server.tool
async def read_crossref_paper(paper_id: str, save_path: str = "./downloads") -> str:
    return (
        "CrossRef papers cannot be read directly through this tool. Only metadata and abstracts are available through "
        "CrossRef's API. Please use the paper's DOI or URL to access the full text on the publisher's website."
    )


def _listed(shown: Found, query: str, limit: int) -> Found:
    return covered(shown, shown or limit < 1, query)


def _absent(possible: bool) -> Failure:
    """How it ends when a paper is not held: a gap of the world, unless no paper can have that name."""
    return "gap" if possible else "not_found"


def _is_arxiv(paper_id: str) -> bool:
    """Whether it may be the id of a paper that is not held; of one that is held, only the version can be wrong."""
    match = _ARXIV_ID.match(paper_id.strip())
    name = f"{match[1]}{f'v{match[2]}' if match[2] else ''}" if match else paper_id.strip()
    return is_arxiv(name) and not (match and match[1] in on("arxiv"))


def _is_eprint(paper_id: str) -> bool:
    match = _IACR_ID.match(paper_id.strip())
    return bool(match and is_eprint(match[1]))


def _is_name(name: str) -> bool:
    """Whether Semantic Scholar may know a paper by this name."""
    kind, _, rest = name.partition(":")
    match kind.upper():
        case "ARXIV":
            return _is_arxiv(rest)
        case "PMID" | "CORPUSID":
            return rest.strip().isdecimal()
        case "URL":
            return bool(rest.strip())
        case _:
            return re.fullmatch(r"[0-9a-f]{40}", name.lower()) is not None or is_doi(_plain_doi(name))


def _save(context: Context, paper: Paper, save_path: str, name: str) -> str:
    """Write the paper's PDF and say where, as the folder was given."""
    place = _place(context, save_path, name)
    with context.workspace.writing(place) as draft:
        draft.write_bytes(pdf_of(paper))
    return place


def _pages(context: Context, paper: Paper, save_path: str, name: str) -> list[str]:
    """The pages of the PDF in the folder, which is downloaded when it is not there."""
    place = _place(context, save_path, name)
    if not context.workspace.resolve(place).is_file():
        _save(context, paper, save_path, name)
    return read_pdf(context.workspace.existing(place), context.workspace.limits.text)


def _read_preprint(context: Context, platform: Platform, paper_id: str, save_path: str) -> str:
    paper = on(platform).get(_plain_doi(paper_id))
    if paper is None:
        raise SoftError("", outcome=_absent(is_doi(_plain_doi(paper_id))))
    return "\n".join(_pages(context, paper, save_path, _doi_file(paper_id)))


def _with_header(context: Context, paper: Paper, save_path: str, name: str) -> str:
    pages = _pages(context, paper, save_path, name)
    text = "\n\n".join(f"--- Page {number} ---\n{page}" for number, page in enumerate(pages, 1))
    return f"{header(paper, _place(context, save_path, name))}\n\n{text}"


def _place(context: Context, save_path: str, name: str) -> str:
    """A file name in the folder; a folder outside the workspace is refused."""
    context.workspace.resolve(save_path)
    return f"{save_path.rstrip('/')}/{name}"


def _arxiv(paper_id: str) -> Paper:
    paper = _arxiv_paper(paper_id)
    if paper is None:
        raise ToolError(
            f"Paper not found on arXiv: {paper_id!r}. Use a paper_id that search_arxiv shows.",
            outcome=_absent(_is_arxiv(paper_id)),
        )
    return paper


def _arxiv_paper(paper_id: str) -> Paper | None:
    """The paper of an id whose version, if any is given, exists."""
    match = _ARXIV_ID.match(paper_id.strip())
    paper = on("arxiv").get(match[1]) if match else None
    return paper if match and paper and 1 <= int(match[2] or 1) <= paper.version else None


def _arxiv_file(paper_id: str) -> str:
    match = _ARXIV_ID.match(paper_id.strip())
    assert match is not None
    return f"{match[1].replace('/', '_')}{f'v{int(match[2])}' if match[2] else ''}.pdf"


def _preprint(platform: Platform, paper_id: str) -> Paper:
    if not paper_id.strip():
        raise ToolError("Invalid paper_id: paper_id is empty", outcome="invalid_arguments")
    paper = on(platform).get(_plain_doi(paper_id))
    if paper is None:
        address = f"https://www.{platform}.org/content/{paper_id}v1.full.pdf"
        raise ToolError(
            f"Failed to download PDF after 3 attempts: 404 Client Error: Not Found for url: {address}",
            outcome=_absent(is_doi(_plain_doi(paper_id))),
        )
    return paper


def _doi_file(paper_id: str) -> str:
    return f"{_plain_doi(paper_id).replace('/', '_')}.pdf"


def _eprint(paper_id: str) -> Paper | None:
    match = _IACR_ID.match(paper_id.strip())
    return on("iacr").get(match[1]) if match else None


def _open_access(paper_id: str) -> Paper:
    """A paper by any name that Semantic Scholar takes, if it may be downloaded."""
    paper = _named(paper_id.strip())
    if paper is None or not paper.has_pdf:
        raise SoftError(
            f"Error: Could not find PDF URL for paper {paper_id}",
            outcome=_absent(paper is None and _is_name(paper_id.strip())),
        )
    return paper


def _named(name: str) -> Paper | None:
    kind, _, rest = name.partition(":")
    match kind.upper():
        case "ARXIV":
            return _arxiv_paper(rest)
        case "PMID":
            return on("pubmed").get(rest.strip())
        case "URL":
            return _at(rest.strip())
        case _:
            return by_digest().get(name.lower()) or by_doi().get(_plain_doi(name))


def _at(address: str) -> Paper | None:
    """The paper behind an address of its home."""
    return (
        _arxiv_paper(address)
        or _eprint(address)
        or by_doi().get(re.sub(r"v\d+(\.full\.pdf)?$", "", _content_doi(address)))
    )


def _content_doi(address: str) -> str:
    _, found, doi = address.partition("/content/")
    return doi.lower() if found else _plain_doi(address)


def _semantic_file(paper_id: str) -> str:
    return f"semantic_{re.sub(r'[^A-Za-z0-9._-]', '_', paper_id.strip())}.pdf"


def _plain_doi(doi: str) -> str:
    return _DOI_PREFIX.sub("", doi.strip()).lower()


def _years(year: str | None) -> tuple[int, int]:
    """First and last year of a filter such as 2019, 2016-2020, 2010- or -2015."""
    if year is None or not year.strip():
        return 0, 9999
    match = _YEARS.match(year.strip())
    if match is None or not (match[1] or match[3]):
        raise ToolError(f"year {year!r} is none: use 2019, 2016-2020, 2010- or -2015", outcome="invalid_arguments")
    first = int(match[1]) if match[1] else 0
    if not match[2]:
        return first, first
    return first, int(match[3]) if match[3] else 9999
