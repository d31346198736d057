"""The `healthcare-mcp` server: medicine labels, papers, health topics, clinical trials, ICD-10-CM and a few sums.

It answers from the frozen world for evaluation; nothing in it is medical advice. Every failure is an ordinary
result with `status` `error`. The public server leaves the places of trials and the category of a code empty and
puts a medRxiv query into a path; here they are filled in, and the query is searched for. Usage is counted per host.
All codes of ICD-10-CM are held: one that is not found does not exist. Of a DICOM file, enough is read for names and
descriptions, not for pictures: explicit and implicit value representation, both byte orders, also without its preamble;
sequences of undefined length are stepped over, and anything else is refused with a sentence.
"""

import re
import struct
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from functools import cache
from typing import Any

from rapidfuzz.distance import OSA

from m3bench.sandboxes.context import Context
from m3bench.sandboxes.gaps import covered
from m3bench.sandboxes.toolserver import ToolServer
from m3bench.sandboxes.world import diagnoses, noise, tables
from m3bench.sandboxes.world.clock import NOW
from m3bench.sandboxes.world.paper_search import ranked
from m3bench.sandboxes.world.papers import Paper
from m3bench.sandboxes.world.search import SearchIndex, words
from m3bench.sandboxes.world.tables import Record
from m3bench.tasks.errors import LimitError, PathError, SoftError

Tag = tuple[int, int]

PREAMBLE = 128
_UNDEFINED = 0xFFFFFFFF
_LONG = frozenset(["OB", "OD", "OF", "OL", "OV", "OW", "SQ", "SV", "UC", "UN", "UR", "UT", "UV"])
_TRANSFER_SYNTAX: Tag = (0x0002, 0x0010)
_IMPLICIT, _DEFLATED, _BIG_ENDIAN = "1.2.840.10008.1.2", "1.2.840.10008.1.2.1.99", "1.2.840.10008.1.2.2"
_PIXELS: Tag = (0x7FE0, 0x0010)
_ITEM, _ITEM_END, _SEQUENCE_END = (0xFFFE, 0xE000), (0xFFFE, 0xE00D), (0xFFFE, 0xE0DD)
_DEEPEST = 16


class NotDicomError(ValueError):
    """The bytes are not a DICOM file that can be read here."""


def read_dicom(data: bytes, wanted: Collection[Tag]) -> Mapping[Tag, str]:
    """The texts of the wanted elements that are there.

    Raises:
        NotDicomError: The file is damaged, compressed as a whole, or no DICOM at all.
    """
    if data[PREAMBLE : PREAMBLE + 4] == b"DICM":
        start = PREAMBLE + 4
    elif data[:2] in (b"\x02\x00", b"\x08\x00") and len(data) > 8:
        start = 0
    else:
        raise NotDicomError("DICM prefix not found at location 132 - this is not a valid DICOM P10 file.")
    try:
        return _elements(data, start, wanted)
    except (struct.error, IndexError) as error:
        raise NotDicomError("the file ends in the middle of an element") from error


def _elements(data: bytes, at: int, wanted: Collection[Tag]) -> Mapping[Tag, str]:
    found: dict[Tag, str] = {}
    reader = _Reader(data, implicit=data[:2] == b"\x08\x00" and not data[4:6].isupper())
    while at + 8 <= len(data):
        tag, length, value = reader.element(at)
        if tag[0] > 2 and not reader.in_body:
            reader.enter_body(found.get(_TRANSFER_SYNTAX, ""))
            continue
        if tag >= _PIXELS:
            break
        if length == _UNDEFINED:
            at = reader.after_sequence(value, 0)
            continue
        if value + length > len(data):
            raise NotDicomError("the file ends in the middle of an element")
        if tag == _TRANSFER_SYNTAX or tag in wanted:
            text = data[value : value + length]
            found[tag] = text.decode("utf-8", "replace").strip(" \0")
        at = value + length
    return found


class _Reader:
    """Reads element heads; what stands after the file's own group may be written in another way."""

    def __init__(self, data: bytes, *, implicit: bool) -> None:
        self.data = data
        self.implicit = implicit
        self.order = "<"
        self.in_body = False

    def enter_body(self, syntax: str) -> None:
        if syntax == _DEFLATED:
            raise NotDicomError("deflated files are not supported")
        self.in_body = True
        self.implicit = self.implicit or syntax == _IMPLICIT
        self.order = ">" if syntax == _BIG_ENDIAN else "<"

    def element(self, at: int) -> tuple[Tag, int, int]:
        """Tag, length and the place of the value."""
        group, number = struct.unpack_from(f"{self.order}HH", self.data, at)
        tag = (group, number)
        if self.implicit or group == _ITEM[0]:
            return tag, struct.unpack_from(f"{self.order}I", self.data, at + 4)[0], at + 8
        kind = self.data[at + 4 : at + 6].decode("latin-1")
        if kind in _LONG:
            return tag, struct.unpack_from(f"{self.order}I", self.data, at + 8)[0], at + 12
        return tag, struct.unpack_from(f"{self.order}H", self.data, at + 6)[0], at + 8

    def after_sequence(self, at: int, depth: int) -> int:
        """Where a sequence or item of undefined length ends."""
        if depth > _DEEPEST:
            raise NotDicomError("sequences are nested too deeply")
        while True:
            tag, length, value = self.element(at)
            if tag in (_SEQUENCE_END, _ITEM_END):
                return value
            at = self.after_sequence(value, depth + 1) if length == _UNDEFINED else value + length


MOST = 1000
TYPED_LETTERS = 5
_NEARLY_BEST = 0.75
"""How good, compared with the best, a further answer must be."""
_STRENGTH = re.compile(r"\b\d+([.,]\d+)?\s*(%|mg|mcg|g|ml|iu|units?)(?!\w)", re.IGNORECASE)

_BESIDE = frozenset(
    ["dr", "drug", "er", "extra", "hcl", "ir", "medication", "medicine", "otc", "sr", "strength", "xl", "xr"]
)
"""Words that say nothing about which medicine is meant."""


def medicines(name: str) -> list[Record]:
    """Medicines of that generic or brand name; a form such as `cream` may stand beside it, a strength is ignored.

    One slip of the keys in a word is forgiven and no more: names of medicines are alike, and another one would be
    worse than none.
    """
    asked = words(_STRENGTH.sub(" ", name))
    asked = [word for word in asked if word not in _BESIDE] or asked
    found = [record["medicine"] for _, record in _medicines().search(" ".join(asked), MOST)]
    exact = [record for record in found if any(words(known) == asked for known in _names(record))]
    near = [record for record in found if record not in exact and _is_spelled(asked, record)]
    return exact + near


def _names(medicine: Record) -> list[str]:
    return [medicine["generic"], *medicine["brands"], *medicine.get("aliases", ())]


def _is_spelled(asked: Sequence[str], medicine: Record) -> bool:
    names = {word for name in _names(medicine) for word in words(name)}
    known = names | set(words(medicine["forms"])) | {route.lower() for route in medicine["routes"]}
    named = [word for word in asked if any(_same(word, other) for other in names)]
    return bool(named) and all(any(_same(word, other) for other in known) for word in asked)


def _same(word: str, known: str) -> bool:
    if len(word) < TYPED_LETTERS:
        return word in (known, known + "s") or known == word + "s"
    return known.startswith(word) or OSA.distance(word, known, score_cutoff=1) <= 1


@cache
def _medicines() -> SearchIndex[Record]:
    records = [
        {
            "generic": medicine["generic"],
            "names": [*medicine["brands"], *medicine.get("aliases", ())],
            "forms": [medicine["forms"], *medicine["routes"]],
            "medicine": medicine,
        }
        for medicine in (*tables.load("medicines"), *tables.load("more_medicines"))
    ]
    return SearchIndex(records, {"generic": 3.0, "names": 2.8, "forms": 0.8})


def topics(topic: str, language: str) -> list[Record]:
    """Health topics about a keyword, in the words of the language asked for."""
    found = _topics(language).search(topic, MOST)
    return [record for score, record in found if score >= _NEARLY_BEST * found[0][0]]


@cache
def _topics(language: str) -> SearchIndex[Record]:
    if language == "es":
        return SearchIndex(
            tables.load("health_topics"), {"title_es": 3.0, "content_es": 1.2, "title": 2.0}, coverage=0.6
        )
    fields = {"title": 3.0, "keywords": 2.5, "section": 1.5, "content": 1.2}
    return SearchIndex(tables.load("health_topics"), fields, coverage=0.6)


def trials(condition: str, status: str | None) -> list[Record]:
    """Trials about a condition; of one status or, with None, of any."""
    found = _trials().search(condition, MOST, keep=lambda record: status in (None, record["status"]))
    return [record for _, record in found]


@cache
def _trials() -> SearchIndex[Record]:
    fields = {"title": 3.0, "conditions": 3.0, "keywords": 2.0, "interventions": 1.5}
    return SearchIndex(tables.load("trials"), fields, coverage=0.7)


def volumes(query: str) -> list[Record]:
    """Books of the Bookshelf about some words."""
    return [record for _, record in _volumes().search(query, MOST)]


@cache
def _volumes() -> SearchIndex[Record]:
    return SearchIndex(tables.load("health_books"), {"title": 3.0, "authors": 2.0, "keywords": 1.5}, coverage=0.6)


server = ToolServer("healthcare-mcp")

Answer = dict[str, Any]

MOST_PAPERS = 10_000
LABEL_CHARACTERS = 1000
TOPIC_CHARACTERS = 500
TRIAL_SITES = 3
OPEN_SHARE = 0.45
_YEAR = timedelta(days=365)
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_STATUSES = {
    "recruiting": "RECRUITING",
    "completed": "COMPLETED",
    "active": "ACTIVE_NOT_RECRUITING",
    "not_recruiting": "ACTIVE_NOT_RECRUITING",
}
_DICOM_FIELDS = {
    "patientName": (0x0010, 0x0010),
    "patientId": (0x0010, 0x0020),
    "studyDescription": (0x0008, 0x1030),
    "seriesDescription": (0x0008, 0x103E),
}


@server.tool
async def fda_drug_lookup(drug_name: str, context: Context, search_type: str = "general") -> Answer:
    _count(context, "fda_drug_lookup")
    if not drug_name.strip():
        raise _nonsense("Drug name is required")
    found = medicines(drug_name)
    if not found:
        raise _missing("Error fetching drug information: HTTP 404: Not Found", _is_word(drug_name))
    first = found[0]
    return {
        "status": "success",
        "drug_name": drug_name,
        "search_type": search_type,
        "drugs": [
            {**_product(first), **_facts(first, search_type)} if "manufacturer" in first else _short(first, search_type)
        ],
        "total_results": len(found),
    }


def _short(medicine: Record, search_type: str) -> Answer:
    """A medicine of which a full label is not held; what is missing is named."""
    label = {"indications": _cut(medicine["indications"]), "warnings": _cut(medicine["warnings"])}
    facts = {
        "brand_names": medicine["brands"],
        "generic_names": [medicine["generic"]],
        "dosage": _cut(f"Dosage forms: {medicine['forms']}."),
    }
    status = "Over-the-counter" if medicine["access"] == "OTC" else "Prescription"
    general = {"active_ingredients": [medicine["generic"]], "route": medicine["routes"], "marketing_status": status}
    missing = "product_number labeler_name contraindications adverse_reactions drug_interactions pregnancy"
    return {
        "generic_name": medicine["generic"],
        "brand_name": medicine["brands"][0] if medicine["brands"] else None,
        "product_type": f"HUMAN {medicine['access']} DRUG",
        "pharm_class": medicine["class"],
        **({"label": {**facts, **label}, "adverse_events": label}.get(search_type, {**general, **label})),
        "not_covered": missing,
    }


def _product(medicine: Record) -> Answer:
    labeler = noise.integer(10_000, 79_999, "labeler", medicine["manufacturer"])
    return {
        "product_number": f"{labeler}-{noise.integer(100, 999, 'product', medicine['id'])}",
        "generic_name": medicine["generic"],
        "brand_name": medicine["brands"][0],
        "labeler_name": medicine["manufacturer"],
        "product_type": f"HUMAN {medicine['access']} DRUG",
    }


def _facts(medicine: Record, search_type: str) -> Answer:
    if search_type == "label":
        return {
            "brand_names": medicine["brands"],
            "generic_names": [medicine["generic"]],
            "manufacturer": [medicine["manufacturer"]],
            "indications": _cut(medicine["indications"]),
            "dosage": _cut(f"Dosage forms and strengths: {medicine['forms']}."),
            "warnings": _cut(medicine["warnings"]),
            "contraindications": _cut(medicine["contraindications"]),
            "adverse_reactions": _cut(medicine["reactions"]),
            "drug_interactions": _cut(medicine["interactions"]),
            "pregnancy": _cut(medicine["pregnancy"]),
        }
    if search_type == "adverse_events":
        return {
            "adverse_reactions": _cut(medicine["reactions"]),
            "warnings": _cut(medicine["warnings"]),
            "boxed_warning": _cut(medicine.get("boxed", "")),
        }
    return {
        "route": medicine["routes"],
        "marketing_status": "Over-the-counter" if medicine["access"] == "OTC" else "Prescription",
    }


def _cut(text: str, most: int = LABEL_CHARACTERS) -> list[str]:
    return [text[:most]] if text else []


@server.tool
def pubmed_search(
    query: str, context: Context, max_results: float = 5, date_range: str = "", open_access: bool = False
) -> Answer:
    _count(context, "pubmed_search")
    if not query.strip():
        raise _nonsense("Search query is required")
    years = date_range.strip()
    if years and not (years.isdecimal() and 0 < int(years[:4]) <= 200 and len(years) <= 3):
        raise _nonsense(f"Error searching PubMed: date_range {date_range[:40]!r} is not a number of years such as '5'")
    since = NOW.replace(tzinfo=None) - _YEAR * int(years) if years else None

    def fits(paper: Paper) -> bool:
        # Tasks count titles among the papers of this world, not among the known ones.
        return not paper.real and (since is None or paper.published >= since) and (not open_access or _is_open(paper))

    found = ranked("pubmed", query, MOST_PAPERS, fits)
    answer = {
        "status": "success",
        "query": query,
        "total_results": len(found),
        "date_range": date_range,
        "open_access": open_access,
        "articles": [_article(paper) for paper in found[: int(max_results)]],
    }
    return covered(answer, found, query)


def _is_open(paper: Paper) -> bool:
    return noise.fraction("open access", paper.id) < OPEN_SHARE


def _article(paper: Paper) -> Answer:
    day = paper.published
    shown = {
        "id": paper.id,
        "title": paper.title,
        "authors": list(paper.authors),
        "journal": paper.venue,
        "publication_date": f"{day.year} {_MONTHS[day.month - 1]} {day.day}",
        "abstract_url": f"https://pubmed.ncbi.nlm.nih.gov/{paper.id}/",
    }
    return shown | ({"doi": paper.doi} if paper.doi else {})


@server.tool
def medrxiv_search(query: str, context: Context, max_results: float = 10) -> Answer:
    _count(context, "medrxiv_search")
    if not query.strip():
        raise _nonsense("Error searching medRxiv: the query is empty")
    found = ranked("medrxiv", query, MOST_PAPERS)
    articles = [
        {
            "title": paper.title,
            "authors": "; ".join(paper.authors),
            "doi": paper.doi,
            "abstract_url": f"https://www.medrxiv.org/content/{paper.doi}v1",
            "publication_date": paper.published.date().isoformat(),
        }
        for paper in found[: int(max_results)]
    ]
    answer = {"status": "success", "query": query, "total_results": len(found), "articles": articles}
    return covered(answer, found, query)


@server.tool
async def calculate_bmi(height_meters: float, weight_kg: float, context: Context) -> Answer:
    _count(context, "calculate_bmi")
    if not height_meters or not weight_kg:
        raise _nonsense("Height and weight are required")
    if not 0.2 <= height_meters <= 3 or not 0.2 <= weight_kg <= 1000:
        raise _nonsense("Height must be between 0.2 and 3 metres and weight between 0.2 and 1000 kilograms")
    return {"status": "success", "bmi": f"{weight_kg / (height_meters * height_meters):.2f}"}


@server.tool
async def ncbi_bookshelf_search(query: str, context: Context, max_results: float = 10) -> Answer:
    _count(context, "ncbi_bookshelf_search")
    if not query.strip():
        raise _nonsense("Error searching NCBI Bookshelf: the query is empty")
    found = volumes(query)
    books = [
        {
            "id": book["id"],
            "title": book["title"],
            "authors": book["authors"],
            "publication_date": book["published"],
            "url": f"https://www.ncbi.nlm.nih.gov/books/{book['id']}/",
        }
        for book in found[: int(max_results)]
    ]
    answer = {"status": "success", "query": query, "total_results": len(found), "books": books}
    return covered(answer, found, query)


@server.tool
def extract_dicom_metadata(file_path: str, context: Context) -> Answer:
    _count(context, "extract_dicom_metadata")
    try:
        found = read_dicom(context.workspace.existing(file_path).read_bytes(), _DICOM_FIELDS.values())
    except LimitError as error:
        raise _nonsense(f"Error parsing DICOM file: {error}") from error
    except PathError as error:
        raise _missing(f"Error parsing DICOM file: ENOENT: {error}") from error
    except NotDicomError as error:
        raise _nonsense(f"Error parsing DICOM file: {error}") from error
    return {"status": "success", **{name: found.get(tag, "") for name, tag in _DICOM_FIELDS.items()}}


@server.tool
async def health_topics(topic: str, context: Context, language: str = "en") -> Answer:
    _count(context, "health_topics")
    if not topic.strip():
        raise _nonsense("Topic is required")
    found = topics(topic, language)
    answer = {
        "status": "success",
        "search_term": topic,
        "language": language,
        "total_results": len(found),
        "health_topics": [_topic(record, language) for record in found],
    }
    return covered(answer, found, topic)


def _topic(record: Record, language: str) -> Answer:
    spanish = language == "es"
    content = record["content_es"] if spanish else record["content"]
    path = f"{'espanol/' if spanish else ''}myhealthfinder/{record['section'].lower().replace(' ', '-')}/{record['id']}"
    return {
        "title": record["title_es"] if spanish else record["title"],
        "url": f"https://odphp.health.gov/{path}",
        "last_updated": record["updated"],
        "section": record["section"],
        "description": content[0],
        "content": [text[:TOPIC_CHARACTERS] for text in content],
    }


@server.tool
async def clinical_trials_search(
    condition: str, context: Context, status: str = "recruiting", max_results: float = 10
) -> Answer:
    _count(context, "clinical_trials_search")
    if not condition.strip():
        raise _nonsense("Condition is required")
    found = trials(condition, _STATUSES.get(status))
    answer = {
        "status": "success",
        "condition": condition,
        "search_status": status,
        "total_results": len(found),
        "trials": [_trial(record) for record in found[: int(max_results)]],
    }
    # That no study of a known condition is in some state is an answer, not a gap.
    return covered(answer, found or trials(condition, None), condition)


def _trial(record: Record) -> Answer:
    return {
        "nct_id": record["id"],
        "title": record["title"],
        "status": record["status"],
        "phase": record["phases"],
        "study_type": record["type"],
        "conditions": record["conditions"],
        "locations": [
            dict(zip(("facility", "city", "state", "country"), site, strict=True))
            for site in record["sites"][:TRIAL_SITES]
        ],
        "sponsor": record["sponsor"],
        "url": f"https://clinicaltrials.gov/study/{record['id']}",
        "eligibility": {
            "gender": record["sex"],
            "min_age": record["min_age"],
            "max_age": record["max_age"],
            "healthy_volunteers": record["healthy"],
        },
    }


@server.tool
def lookup_icd_code(
    context: Context, code: str | None = None, description: str | None = None, max_results: float = 10
) -> Answer:
    _count(context, "lookup_icd_code")
    limit = int(max_results)
    if code and code.strip():
        return _codes("code", code, diagnoses.beginning(code)[:limit])
    if description and description.strip():
        found = diagnoses.search(description, limit)
        return covered(_codes("description", description, found), found or limit < 1, description)
    raise _nonsense("Either code or description is required")


def _codes(search_type: str, term: str, found: Sequence[diagnoses.Diagnosis]) -> Answer:
    shown = [
        {"code": diagnosis.code, "description": diagnosis.name, "category": diagnosis.category} for diagnosis in found
    ]
    return {
        "status": "success",
        "search_type": search_type,
        "search_term": term,
        "total_results": len(shown),
        "codes": shown,
    }


@server.tool
async def get_usage_stats(context: Context) -> Answer:
    _count(context, "get_usage_stats")
    session = noise.token(32, "0123456789abcdef", "healthcare session")
    return {"status": "success", "session_id": session, **_usage(context)}


@server.tool
async def get_all_usage_stats(context: Context) -> Answer:
    _count(context, "get_all_usage_stats")
    return {"status": "success", "overall_stats": _usage(context)}


def _usage(context: Context) -> Answer:
    counts = _counts(context)
    return {"session_start": NOW.isoformat(), "total_calls": counts.total(), "tool_usage": dict(counts)}


def _count(context: Context, tool: str) -> None:
    _counts(context)[tool] += 1


def _counts(context: Context) -> Counter[str]:
    counts: Counter[str] = context.memory.setdefault("healthcare usage", Counter())
    return counts


def _nonsense(message: str) -> SoftError:
    return SoftError({"status": "error", "error_message": message}, outcome="invalid_arguments")


def _missing(message: str, possible: bool = False) -> SoftError:
    return SoftError({"status": "error", "error_message": message}, outcome="gap" if possible else "not_found")


def _is_word(text: str) -> bool:
    return any(character.isalpha() for character in text)
