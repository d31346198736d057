"""The `paper_search` server finds papers, writes real PDFs and reads back what the search showed."""

import json
import re
import zlib
from collections.abc import Callable
from datetime import timedelta
from typing import Any, cast

import pytest
from pypdf import PdfReader, PdfWriter

from m3bench.sandboxes.world import tables
from m3bench.sandboxes.world.build.bibliographies import contradiction
from m3bench.sandboxes.world.build.papers import CitedPaper
from m3bench.sandboxes.world.clock import NOW
from m3bench.sandboxes.world.papers import Paper, all_papers, by_id, on
from tests.sandboxes.servers.conftest import Bench
from tests.sandboxes.world.search_quality import Entry, measure, queries

ANIMALS = ("rabbit", "chicken", "lion", "zebra", "elephant", "cow", "giraffe", "bee", "fish", "crocodile")


def found(bench: Bench, tool: str, **arguments: Any) -> list[Any]:
    reply = bench.reply(f"paper_search/{tool}", arguments)
    assert reply.outcome in ("success", "empty"), reply
    return [json.loads(block["text"]) for block in reply.result["content"]] if reply.outcome == "success" else []


def flat(text: str) -> str:
    return " ".join(text.split())


def titles(papers: list[Any]) -> list[str]:
    return [paper["title"] for paper in papers]


def test_there_are_enough_papers_all_before_the_clock_and_none_like_another() -> None:
    papers = all_papers()
    assert len(papers) >= 250
    assert len({paper.title for paper in papers}) == len(papers)
    told = [paper.abstract for paper in papers if paper.abstract and "; cited by " not in paper.abstract]
    assert len(set(told)) == len(told)
    for paper in papers:
        assert max(paper.published, paper.updated) < NOW.replace(tzinfo=None)
        assert paper.authors
        assert paper.sections
        for key in paper.references:
            assert by_id()[key].published < paper.published


def test_ids_have_the_form_of_their_platform() -> None:
    for paper in on("arxiv").values():
        # What is submitted late on the last day of a month is numbered in the next one.
        near = {(paper.published + timedelta(days=days)).strftime("%y%m") for days in (0, 4)}
        assert re.sub(r".*/", "", paper.id)[:4] in near
    assert all(key.isdigit() and len(key) <= 8 for key in on("pubmed"))
    assert all(key.startswith("10.1101/2025.10.") for key in [*on("biorxiv"), *on("medrxiv")])
    assert all(key.split("/")[0] == str(paper.published.year) for key, paper in on("iacr").items())


def test_made_up_papers_keep_to_numbers_that_no_real_paper_has() -> None:
    """arXiv and ePrint do not reach them within a month or year, PubMed not for decades; 10.5555 is for tests."""
    forms = {
        "arxiv": r"\d{4}\.9\d{4}",
        "pubmed": r"9\d{7}",
        "iacr": r"\d{4}/9\d{3}",
        "biorxiv": r"10\.1101/2025\.10\.\d\d\.99\d{6}",
        "medrxiv": r"10\.1101/2025\.10\.\d\d\.99\d{6}",
        "journal": r"10\.5555/\S+",
    }
    for paper in all_papers():
        if not paper.real:
            assert re.fullmatch(forms[paper.platform], paper.id), paper.id
            assert not paper.doi or paper.doi == paper.id or paper.doi.startswith("10.5555/")
        else:
            assert not any(re.fullmatch(form, paper.id) for form in forms.values()), paper.id


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("tool", "given", "title"),
    [
        ("search_arxiv", {"query": "diffusion models"}, "Denoising Diffusion Probabilistic Models"),
        ("search_arxiv", {"query": "au:Hinton"}, "Distilling the Knowledge in a Neural Network"),
        ("search_pubmed", {"query": "sepsis definitions"}, "Third International Consensus Definitions for Sepsis"),
        ("search_google_scholar", {"query": "long short-term memory"}, "Long short-term memory"),
        ("search_iacr", {"query": "homomorphic encryption"}, "Homomorphic Encryption"),
        ("search_semantic", {"query": "AlphaFold", "year": "2021"}, "AlphaFold"),
        ("search_crossref", {"query": "prospect theory", "kwargs": ""}, "Prospect Theory"),
    ],
)
def test_known_papers_are_found_under_their_true_titles(bench: Bench, tool: str, given: Any, title: str) -> None:
    assert any(title in paper["title"] for paper in found(bench, tool, max_results=20, **given))


def test_the_copy_of_a_known_paper_says_that_it_is_not_the_text(bench: Bench) -> None:
    text = flat(bench.text("paper_search/read_arxiv_paper", paper_id="hep-th/9711200"))
    assert "The Large N Limit of Superconformal Field Theories and Supergravity" in text
    assert "The text of the paper is not held here." in text


PUBLIC = {
    "2510.08638v1": "Into the Rabbit Hull",
    "2510.22618v1": "ZebraPose",
    "2510.15594v1": "The Elephant in the Coreference Room",
    "2509.02295v1": "Data-Driven Loss Functions",
    "2510.02030v2": "kabr-tools",
    "2510.17145v1": "Fish Freshness",
    "2510.16462v1": "title not held",
    "2510.20752v1": "title not held",
    "2510.07259v1": "title not held",
}
"""What public references download, by number: the true paper, or no more than the number."""


@pytest.mark.parametrize("paper_id", PUBLIC)
def test_a_number_of_a_public_reference_is_the_true_paper(bench: Bench, paper_id: str) -> None:
    bench.text("paper_search/download_arxiv", paper_id=paper_id)
    text = flat(bench.text("paper_search/read_arxiv_paper", paper_id=paper_id))
    assert PUBLIC[paper_id] in text
    assert "The text of the paper is not held here." in text


@pytest.mark.sample(3)
@pytest.mark.parametrize("animal", ANIMALS)
def test_an_animal_in_title_or_abstract_is_found_newest_first(bench: Bench, animal: str) -> None:
    papers = found(bench, "search_arxiv", query=f"ti:{animal} OR abs:{animal}", max_results=5)
    assert 2 <= len(papers) <= 5
    assert all(animal in (paper["title"] + paper["abstract"]).lower() for paper in papers)
    dates = [paper["published_date"] for paper in papers]
    assert dates == sorted(dates, reverse=True)


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("animal", "paper_id"),
    [
        ("rabbit", "2510.98638v1"),
        ("chicken", "2510.98638v1"),
        ("lion", "2510.90752v1"),
        ("zebra", "2510.92618v1"),
        ("elephant", "2510.95594v1"),
        ("giraffe", "2509.92295v1"),
        ("giraffe", "2510.92030v2"),
        ("crocodile", "2510.97259v1"),
        ("bee", "2510.96462v1"),
        ("fish", "2510.97145v1"),
    ],
)
def test_a_paper_found_is_downloaded_and_reads_back_to_its_abstract(bench: Bench, animal: str, paper_id: str) -> None:
    papers = found(bench, "search_arxiv", query=f"ti:{animal} OR abs:{animal}", max_results=5)
    shown = next(paper for paper in papers if paper["paper_id"] == paper_id)
    place = bench.text("paper_search/download_arxiv", paper_id=paper_id, save_path="./downloads")
    assert place == f"./downloads/{paper_id}.pdf"
    assert (bench.folder / place).read_bytes().startswith(b"%PDF-")
    text = bench.text("paper_search/read_arxiv_paper", paper_id=paper_id, save_path="./downloads")
    assert flat(shown["abstract"]) in flat(text)


@pytest.mark.sample(1)
@pytest.mark.parametrize("platform", ["arxiv", "biorxiv", "medrxiv", "iacr"])
def test_every_paper_that_can_be_had_reads_back_whole(bench: Bench, platform: Any) -> None:
    for number, paper in enumerate(on(platform).values()):
        if paper.real and number % 10:
            continue
        tool = f"paper_search/read_{platform}_paper"
        text = flat(bench.text(tool, paper_id=paper.versioned))
        assert flat(paper.title) in text
        assert flat(paper.abstract) in text
        assert all(flat(body) in text for _, body in paper.sections)


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("ti:zebra", lambda p: bool(re.search(r"\bzebras?\b", p.title.lower()))),
        ("au:nakamura", lambda p: any("Nakamura" in name for name in p.authors)),
        ("cat:quant-ph", lambda p: "quant-ph" in p.categories),
        ("cat:cs.*", lambda p: any(name.startswith("cs.") for name in p.categories)),
        ('abs:"force plates"', lambda p: "force plates" in p.abstract.lower()),
        ("cat:cs.RO ANDNOT ti:fish", lambda p: "cs.RO" in p.categories and "fish" not in p.title.lower()),
        (
            "(ti:bee OR ti:fish) AND cat:q-bio.PE",
            lambda p: ("bee" in p.title.lower() or "fish" in p.title.lower()) and "q-bio.PE" in p.categories,
        ),
        ("submittedDate:[202410010000 TO 202410312359]", lambda p: (p.published.year, p.published.month) == (2024, 10)),
        ("id:2510.92030v2", lambda p: p.id == "2510.92030"),
    ],
)
def test_the_query_language_means_what_it_says(bench: Bench, query: str, wanted: Callable[[Paper], bool]) -> None:
    expected = [paper.versioned for paper in on("arxiv").values() if wanted(paper)][:300]
    assert expected
    assert [paper["paper_id"] for paper in found(bench, "search_arxiv", query=query, max_results=300)] == expected


@pytest.mark.parametrize(
    "query", ["", "   ", "()", "AND", "ti:", "((((", '"', "ti:zebra AND", "OR OR", "ANDNOT ti:cow"]
)
def test_a_broken_query_is_forgiven(bench: Bench, query: str) -> None:
    found(bench, "search_arxiv", query=query)
    found(bench, "search_pubmed", query=query)


def test_a_very_deep_query_is_answered(bench: Bench) -> None:
    found(bench, "search_arxiv", query="(" * 900 + "ti:zebra" + ")" * 900)


def test_plurals_match_and_other_words_do_not(bench: Bench) -> None:
    assert found(bench, "search_arxiv", query="ti:zebras") == found(bench, "search_arxiv", query="ti:zebra")
    assert all("zebrafish" not in paper["title"].lower() for paper in found(bench, "search_arxiv", query="ti:zebra"))


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("tool", "platforms", "more"),
    [
        ("search_arxiv", ("arxiv",), {}),
        ("search_pubmed", ("pubmed",), {}),
        ("search_biorxiv", ("biorxiv",), {}),
        ("search_medrxiv", ("medrxiv",), {}),
        ("search_iacr", ("iacr",), {}),
        ("search_google_scholar", ("arxiv", "pubmed", "biorxiv", "medrxiv", "iacr", "journal"), {}),
        ("search_semantic", ("arxiv", "pubmed", "biorxiv", "medrxiv", "iacr", "journal"), {}),
        ("search_crossref", ("pubmed", "biorxiv", "medrxiv", "journal"), {"kwargs": ""}),
    ],
)
def test_words_in_any_spelling_find_their_paper_and_nonsense_finds_nothing(
    bench: Bench, tool: str, platforms: tuple[str, ...], more: dict[str, str]
) -> None:
    entries = [
        Entry(key=paper.title, title=paper.title, foreign=(paper.title.replace("e", "é"),))
        for paper in all_papers()
        if paper.platform in platforms
    ]

    def search(text: str) -> list[str]:
        return titles(found(bench, tool, query=text, **more))

    measure(queries(entries, f"paper_search/{tool}"), search).check()
    assert bench.text(f"paper_search/{tool}", query="qwxzvk blorf", **more) == ""


@pytest.mark.parametrize("platform", ["biorxiv", "medrxiv"])
def test_a_category_lists_its_last_thirty_days(bench: Bench, platform: Any) -> None:
    for category in {name for paper in on(platform).values() for name in paper.categories}:
        papers = found(bench, f"search_{platform}", query=category.upper().replace(" ", "_"), max_results=50)
        assert papers
        assert {paper["categories"] for paper in papers} == {category}
        since = (NOW - timedelta(days=30)).date().isoformat()
        assert all(since <= paper["published_date"] < NOW.date().isoformat() for paper in papers)


@pytest.mark.slow
@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("year", "first", "last"),
    [("2024", 2024, 2024), ("2022-2023", 2022, 2023), ("2025-", 2025, 2025), ("-1960", 0, 1960)],
)
def test_semantic_search_keeps_to_the_years(bench: Bench, year: str, first: int, last: int) -> None:
    papers = found(bench, "search_semantic", query="a the study of structure or seasons", year=year)
    papers += found(bench, "search_semantic", query="machinery OR nucleic OR winter OR apple", year=year)
    assert papers
    assert all(first <= int(paper["published_date"][:4]) <= last for paper in papers)
    assert "use 2019" in bench.error("paper_search/search_semantic", query="bee", year="last year")


@pytest.mark.parametrize("limit", [0, -5])
def test_no_results_are_given_when_none_are_asked_for(bench: Bench, limit: int) -> None:
    for tool in ("search_arxiv", "search_pubmed", "search_biorxiv", "search_google_scholar", "search_iacr"):
        assert found(bench, tool, query="bee", max_results=limit) == []
        assert found(bench, tool, query="ti:bee OR abs:bee", max_results=limit) == []


def test_one_paper_is_the_same_on_every_platform(bench: Bench) -> None:
    paper = next(iter(on("biorxiv").values()))
    shown = [
        found(bench, "search_biorxiv", query=paper.title)[0],
        found(bench, "search_semantic", query=paper.title)[0],
        found(bench, "search_crossref", query=paper.title, kwargs="")[0],
        json.loads(bench.text("paper_search/get_crossref_paper_by_doi", doi=f"https://doi.org/{paper.doi.upper()}")),
    ]
    for key in ("title", "authors", "abstract", "doi", "published_date"):
        assert len({one[key] for one in shown}) == 1


def test_semantic_takes_every_kind_of_name(bench: Bench) -> None:
    paper = on("biorxiv")[next(iter(on("biorxiv")))]
    for name in (paper.digest, f"DOI:{paper.doi}", paper.doi, f"URL:https://www.biorxiv.org/content/{paper.doi}v1"):
        text = bench.text("paper_search/read_semantic_paper", paper_id=name)
        assert text.startswith(f"Title: {paper.title}\nAuthors: ")
        assert "=" * 80 in text
        assert "--- Page 1 ---" in text
    closed = next(iter(on("pubmed")))
    for tool in ("download_semantic", "read_semantic_paper"):
        assert bench.error(f"paper_search/{tool}", paper_id=f"PMID:{closed}") == (
            f"Error: Could not find PDF URL for paper PMID:{closed}"
        )


@pytest.mark.parametrize(
    "name", ["", "  ", "9999.99999", "2510.92618v7", "../../etc/passwd", "a" * 1900, "2510.92618v1/.."]
)
def test_odd_ids_find_nothing_and_write_nothing(bench: Bench, name: str) -> None:
    for platform in ("arxiv", "biorxiv", "medrxiv", "iacr", "semantic"):
        bench.error(f"paper_search/download_{platform}", paper_id=name)
        bench.error(f"paper_search/read_{platform}_paper", paper_id=name)
    assert list(bench.folder.iterdir()) == []
    assert json.loads(bench.error("paper_search/get_crossref_paper_by_doi", doi=name)) == {}
    assert bench.error("paper_search/read_arxiv_paper", paper_id=name) == ""
    assert bench.error("paper_search/download_iacr", paper_id=name) == "Failed to download PDF: HTTP 404"


@pytest.mark.parametrize("folder", ["../outside", "/etc", "~/x", "", "file:///tmp", "a/../../b", ".m3bench/x", "a\\b"])
def test_a_folder_outside_the_workspace_is_refused(bench: Bench, folder: str) -> None:
    for tool in ("download_arxiv", "read_arxiv_paper"):
        reply = bench.reply(f"paper_search/{tool}", paper_id="2510.92618v1", save_path=folder)
        assert reply.outcome != "success"
        assert reply.result["isError"] is True
    assert list(bench.folder.parent.rglob("*.pdf")) == []


@pytest.mark.parametrize("folder", ["a/b/c", "./a/", "/workspace/papers", "."])
def test_a_missing_folder_is_made(bench: Bench, folder: str) -> None:
    place = bench.text("paper_search/download_arxiv", paper_id="2510.92618", save_path=folder)
    assert place == f"{folder.rstrip('/')}/2510.92618.pdf"
    assert len(list(bench.folder.rglob("2510.92618.pdf"))) == 1


def test_an_existing_file_is_read_even_if_somebody_else_wrote_it(bench: Bench) -> None:
    bench.text("paper_search/download_arxiv", paper_id="2510.96462v1")
    writer = PdfWriter()
    writer.append(PdfReader(bench.folder / "downloads" / "2510.96462v1.pdf"))
    for page in writer.pages:
        page.compress_content_streams()
    with (bench.folder / "downloads" / "2510.97145v1.pdf").open("wb") as file:
        writer.write(file)
    text = bench.text("paper_search/read_arxiv_paper", paper_id="2510.97145v1")
    assert text == bench.text("paper_search/read_arxiv_paper", paper_id="2510.96462v1")


@pytest.mark.parametrize("data", [b"", b"<html>not a pdf</html>", b"%PDF-1.7\nbroken", b"\x00" * 4000])
def test_a_file_that_is_no_pdf_is_an_error(bench: Bench, data: bytes) -> None:
    (bench.folder / "downloads").mkdir()
    (bench.folder / "downloads" / "2510.96462v1.pdf").write_bytes(data)
    bench.error("paper_search/read_arxiv_paper", paper_id="2510.96462v1")


@pytest.mark.slow
def test_a_pdf_that_unpacks_to_more_than_fits_is_an_error(bench: Bench) -> None:
    """A page of 90 MB in a file of less than a kilobyte: packed twice."""
    packed = zlib.compress(zlib.compress(bytes(90_000_000)))
    parts = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R/Resources<</Font<<>>>>>>",
        b"<</Length %d/Filter[/FlateDecode/FlateDecode]>>stream\n%b\nendstream" % (len(packed), packed),
    ]
    body = b"".join(b"%d 0 obj%bendobj\n" % (number, part) for number, part in enumerate(parts, 1))
    (bench.folder / "downloads").mkdir()
    (bench.folder / "downloads" / "2510.96462v1.pdf").write_bytes(
        b"%PDF-1.7\n" + body + b"trailer<</Size 5/Root 1 0 R>>\nstartxref\n0\n%%EOF"
    )
    assert "is not a PDF that can be read" in bench.error("paper_search/read_arxiv_paper", paper_id="2510.96462v1")


def test_what_is_not_supported_says_so(bench: Bench) -> None:
    for tool, word in [
        ("download_pubmed", "PubMed does not provide direct PDF downloads"),
        ("read_pubmed_paper", "Only metadata and abstracts are available"),
        ("download_crossref", "CrossRef does not provide direct PDF downloads"),
        ("read_crossref_paper", "Only metadata and abstracts are available"),
    ]:
        assert word in bench.text(f"paper_search/{tool}", paper_id="1")
    assert list(bench.folder.iterdir()) == []


def test_known_papers_are_plausible() -> None:
    """Numbers have the form of their month, names are names, and no paper stands under two numbers."""
    known = [paper for paper in all_papers() if paper.real]
    assert len(known) >= 3000
    names = [re.sub(r"\W+", " ", paper.title).casefold().strip() for paper in known]
    assert len(set(names)) == len(names)
    digests = [paper.doi.casefold() for paper in known if paper.doi]
    assert len(set(digests)) == len(digests)
    for paper in known:
        assert not any(set(name) & set("*{}\\@$") for name in paper.authors), paper.id
        assert "et al." not in paper.authors[:-1], paper.id
        if re.fullmatch(r"\d{4}\.\d{4,5}", paper.id):
            digits = 4 if paper.id < "1501" else 5
            assert len(paper.id.partition(".")[2]) == digits, paper.id
            assert 1 <= int(paper.id[2:4]) <= 12, paper.id
            assert 1 <= int(paper.id[5:]) < 40_000, paper.id


def test_no_known_paper_contradicts_itself() -> None:
    """Months in arXiv numbers, years in DOIs and the venues of those who register them are those of the record."""
    papers = [cast("CitedPaper", dict(record)) for record in tables.load("known_papers")]
    assert [found for paper in papers if (found := contradiction(paper))] == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"id": "1706.03762", "published": "2017-07"},
        {"id": "10.1016/j.neuroimage.2012.06.081", "published": "2009"},
        {"id": "10.1038/s41586-023-06311-1", "published": "2019"},
        {"id": "10.7554/eLife.0001", "published": "2019"},
        {"id": "j.comptc.2018.05.010", "published": "2018"},
    ],
)
def test_a_contradiction_is_seen(wrong: dict[str, str]) -> None:
    assert contradiction(cast("CitedPaper", {"doi": wrong["id"], "venue": "Nature", **wrong}))
