"""The healthcare server: labels, papers, topics, trials, diagnoses, sums and files, all from the frozen world."""

import json
import struct
from collections.abc import Callable
from typing import Any

import pytest

from m3bench.sandboxes.world import diagnoses, tables
from m3bench.sandboxes.world.clock import NOW
from m3bench.sandboxes.world.papers import on
from tests.sandboxes.servers.conftest import Bench
from tests.sandboxes.world.search_quality import Entry, measure, queries

SERVER = "healthcare-mcp"
QUERIES = 60

Search = Callable[[Bench, str], list[str]]


def answer(bench: Bench, tool: str, **arguments: Any) -> dict[str, Any]:
    found = json.loads(bench.text(f"{SERVER}/{tool}", **arguments))
    assert found["status"] == "success"
    return dict(found)


def refusal(bench: Bench, tool: str, **arguments: Any) -> str:
    found = json.loads(bench.error(f"{SERVER}/{tool}", **arguments))
    assert found.keys() == {"status", "error_message"}
    assert found["status"] == "error"
    return str(found["error_message"])


def test_the_tables_are_as_large_as_promised() -> None:
    assert len(tables.load("medicines")) >= 125
    assert len(tables.load("health_topics")) >= 85
    assert len(tables.load("trials")) >= 160
    assert len(on("pubmed")) >= 240
    assert len(diagnoses.by_code()) > 98_000


@pytest.mark.parametrize(
    ("asked", "generic"),
    [
        ("Tylenol", "Acetaminophen"),
        ("PARACETAMOL", "Acetaminophen"),
        ("lidocaine patch", "Lidocaine"),
        ("hydrocortisone cream 1%", "Hydrocortisone"),
        ("oxycodone acetaminophen", "Oxycodone and acetaminophen"),
        ("amoxicilin", "Amoxicillin"),
        ("Tylenol Extra Strength", "Acetaminophen"),
        ("metformin HCl 500 mg tablets", "Metformin hydrochloride"),
        ("prednisone", "Prednisone"),
        ("prednisolone", "Prednisolone"),
    ],
)
def test_a_medicine_is_found_by_any_of_its_names(bench: Bench, asked: str, generic: str) -> None:
    assert answer(bench, "fda_drug_lookup", drug_name=asked)["drugs"][0]["generic_name"] == generic


@pytest.mark.parametrize("name", ["zorbitrexol", "hydroxine", "cream", "tablet 500 mg", "aspirin of the moon"])
def test_what_is_no_medicine_is_not_found_rather_than_guessed(bench: Bench, name: str) -> None:
    assert refusal(bench, "fda_drug_lookup", drug_name=name) == ("Error fetching drug information: HTTP 404: Not Found")


def test_every_medicine_has_a_full_label_of_short_texts(bench: Bench) -> None:
    for medicine in tables.load("medicines"):
        found = answer(bench, "fda_drug_lookup", drug_name=medicine["generic"], search_type="label")["drugs"][0]
        assert found["generic_name"] == medicine["generic"]
        for field in ("indications", "dosage", "warnings", "adverse_reactions", "drug_interactions", "pregnancy"):
            assert 0 < len(found[field][0]) <= 1000, (medicine["id"], field)


def test_the_kind_of_search_decides_which_facts_are_shown(bench: Bench) -> None:
    events = answer(bench, "fda_drug_lookup", drug_name="warfarin", search_type="adverse_events")["drugs"][0]
    assert "bleeding" in events["boxed_warning"][0]
    general = answer(bench, "fda_drug_lookup", drug_name="warfarin")["drugs"][0]
    assert (general["route"], general["marketing_status"]) == (["ORAL"], "Prescription")
    assert "boxed_warning" not in general


def test_both_servers_of_papers_know_the_same_articles(bench: Bench) -> None:
    article = answer(bench, "pubmed_search", query="pericoronitis in young soldiers", max_results=1)["articles"][0]
    other = json.loads(bench.text("paper_search/search_pubmed", query=article["title"], max_results=1))
    assert (other["paper_id"], other["title"], other["doi"]) == (article["id"], article["title"], article["doi"])


def test_articles_are_counted_limited_and_kept_to_their_years(bench: Bench) -> None:
    everything = answer(bench, "pubmed_search", query="warfarin", max_results=100)
    assert everything["total_results"] == len(everything["articles"]) >= 5
    assert len(answer(bench, "pubmed_search", query="warfarin", max_results=2)["articles"]) == 2
    recent = answer(bench, "pubmed_search", query="warfarin", max_results=100, date_range="4")
    years = [int(article["publication_date"][:4]) for article in recent["articles"]]
    assert years
    assert min(years) >= NOW.year - 4
    opened = answer(bench, "pubmed_search", query="diabetes OR trial OR children", max_results=100, open_access=True)
    closed = answer(bench, "pubmed_search", query="diabetes OR trial OR children", max_results=100)
    assert 0 < opened["total_results"] < closed["total_results"]
    assert "number of years" in refusal(bench, "pubmed_search", query="warfarin", date_range="last year")


def test_boolean_queries_are_understood(bench: Bench) -> None:
    found = answer(bench, "pubmed_search", query='"adhesive capsulitis" OR "frozen shoulder"', max_results=10)
    assert len(found["articles"]) >= 4
    assert all(
        "shoulder" in article["title"].lower() or "Adhesive" in article["title"] for article in found["articles"]
    )


@pytest.mark.parametrize(
    ("height", "weight", "bmi"), [(1.75, 70, "22.86"), (2, 100, "25.00"), (1.6, 45.5, "17.77"), (0.5, 3.4, "13.60")]
)
def test_the_body_mass_index_has_two_decimals(bench: Bench, height: float, weight: float, bmi: str) -> None:
    assert answer(bench, "calculate_bmi", height_meters=height, weight_kg=weight)["bmi"] == bmi


@pytest.mark.parametrize(("height", "weight"), [(0, 70), (1.8, 0), (-1.8, 70), (180, 70)])
def test_an_impossible_body_has_no_index(bench: Bench, height: float, weight: float) -> None:
    assert "eight" in refusal(bench, "calculate_bmi", height_meters=height, weight_kg=weight)


def test_topics_come_in_both_languages(bench: Bench) -> None:
    english = answer(bench, "health_topics", topic="healthy eating")["health_topics"][0]
    spanish = answer(bench, "health_topics", topic="alimentación saludable", language="es")["health_topics"][0]
    assert english["title"] == "Healthy Eating"
    assert spanish["title"] == "Alimentación saludable"
    assert all(len(text) <= 500 for text in english["content"] + spanish["content"])


def test_trials_keep_to_the_status_asked_for(bench: Bench) -> None:
    every = answer(bench, "clinical_trials_search", condition="atrial fibrillation", status="all", max_results=100)
    by_status = {trial["nct_id"]: trial["status"] for trial in every["trials"]}
    for status, shown in [
        ("completed", "COMPLETED"),
        ("active", "ACTIVE_NOT_RECRUITING"),
        ("recruiting", "RECRUITING"),
    ]:
        found = answer(bench, "clinical_trials_search", condition="atrial fibrillation", status=status, max_results=100)
        assert {trial["nct_id"] for trial in found["trials"]} == {key for key, has in by_status.items() if has == shown}
    assert all(site["city"] and site["country"] for trial in every["trials"] for site in trial["locations"])


def test_that_no_study_of_a_known_condition_is_recruiting_is_an_answer_and_no_gap(bench: Bench) -> None:
    tool = f"{SERVER}/clinical_trials_search"
    assert bench.reply(tool, condition="osteoporosis", status="recruiting").outcome == "success"
    assert bench.reply(tool, condition="osteoporosis", status="all").outcome == "success"
    assert bench.reply(tool, condition="hangnail", status="recruiting").outcome == "empty"


@pytest.mark.parametrize("code", ["I48", "i48", "I48.", " i 48 "])
def test_a_category_lists_its_billable_codes(bench: Bench, code: str) -> None:
    found = answer(bench, "lookup_icd_code", code=code)["codes"]
    assert [one["code"] for one in found] == [
        "I48.0", "I48.11", "I48.19", "I48.20", "I48.21", "I48.3", "I48.4", "I48.91", "I48.92",
    ]  # fmt: skip
    assert {one["category"] for one in found} == {"I48 Atrial fibrillation and flutter"}


@pytest.mark.parametrize("code", ["S93.401A", "s93401a", "S93401A"])
def test_a_full_code_is_itself_with_its_whole_name(bench: Bench, code: str) -> None:
    found = answer(bench, "lookup_icd_code", code=code, description="asthma")
    assert found["search_type"] == "code"
    assert [(one["code"], one["description"]) for one in found["codes"]] == [
        ("S93.401A", "Sprain of unspecified ligament of right ankle, initial encounter")
    ]


@pytest.mark.slow
def test_codes_that_do_not_exist_are_an_empty_list_and_none_at_all_is_refused(bench: Bench) -> None:
    assert answer(bench, "lookup_icd_code", code="Q99.99X")["codes"] == []
    assert answer(bench, "lookup_icd_code", code="...")["codes"] == []
    assert answer(bench, "lookup_icd_code", description="qwxzvk blorf")["codes"] == []
    assert refusal(bench, "lookup_icd_code") == "Either code or description is required"


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("hay fever", "J30.1"),
        ("frozen shoulder", "M75.00"),
        ("heart attack", "I21.9"),
        ("hypertension", "I10"),
        ("permanent atrial fibrilation", "I48.21"),
        ("sequela sprain unspecified ligament right ankle", "S93.401S"),
    ],
)
def test_a_diagnosis_is_found_by_words_of_every_day(bench: Bench, words: str, code: str) -> None:
    found = answer(bench, "lookup_icd_code", description=words, max_results=20)["codes"]
    assert code in [one["code"] for one in found]


def test_the_classification_is_whole() -> None:
    known = diagnoses.by_code()
    assert sum(one.billable for one in known.values()) == 74_719
    assert known["E1165"].name == "Type 2 diabetes mellitus with hyperglycemia"
    assert all(one.name and not one.name.startswith("~") for one in known.values())


def _element(group: int, number: int, kind: str, text: bytes, order: str = "<") -> bytes:
    text += b" " * (len(text) % 2)
    return struct.pack(f"{order}HH", group, number) + kind.encode() + struct.pack(f"{order}H", len(text)) + text


def _dicom(syntax: bytes, body: bytes) -> bytes:
    return bytes(128) + b"DICM" + _element(2, 0x10, "UI", syntax + b"\0" * (len(syntax) % 2)) + body


def _implicit(group: int, number: int, text: bytes) -> bytes:
    text += b" " * (len(text) % 2)
    return struct.pack("<HHI", group, number, len(text)) + text


_SEQUENCE = (
    struct.pack("<HH2s2xI", 8, 0x1110, b"SQ", 0xFFFFFFFF)
    + struct.pack("<HHI", 0xFFFE, 0xE000, 0xFFFFFFFF)
    + _element(8, 0x1030, "LO", b"not this one")
    + struct.pack("<HHI", 0xFFFE, 0xE00D, 0)
    + struct.pack("<HHI", 0xFFFE, 0xE0DD, 0)
)
_EXPLICIT_BODY = _element(8, 0x1030, "LO", b"CT chest") + _SEQUENCE + _element(0x10, 0x10, "PN", "Müller^Eva".encode())
_BIG_BODY = _element(8, 0x1030, "LO", b"CT chest", ">") + _element(0x10, 0x10, "PN", "Müller^Eva".encode(), ">")
_IMPLICIT_BODY = _implicit(8, 0x1030, b"CT chest") + _implicit(0x10, 0x10, "Müller^Eva".encode())


@pytest.mark.parametrize(
    ("syntax", "body"),
    [
        (b"1.2.840.10008.1.2.1", _EXPLICIT_BODY),
        (b"1.2.840.10008.1.2.2", _BIG_BODY),
        (b"1.2.840.10008.1.2", _IMPLICIT_BODY),
    ],
)
def test_a_scan_tells_whose_it_is_in_every_writing(bench: Bench, syntax: bytes, body: bytes) -> None:
    (bench.folder / "scan.dcm").write_bytes(_dicom(syntax, body))
    assert answer(bench, "extract_dicom_metadata", file_path="./scan.dcm") == {
        "status": "success",
        "patientName": "Müller^Eva",
        "patientId": "",
        "studyDescription": "CT chest",
        "seriesDescription": "",
    }


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"hello",
        bytes(400),
        _dicom(b"1.2.840.10008.1.2.1.99", _EXPLICIT_BODY),
        _dicom(b"1.2.840.10008.1.2.1", _EXPLICIT_BODY)[:-3],
        _dicom(b"1.2.840.10008.1.2.1", _SEQUENCE[:-8]),
        _dicom(b"1.2.840.10008.1.2.1", _SEQUENCE[:20] * 60),
    ],
)
def test_what_is_no_scan_is_refused(bench: Bench, data: bytes) -> None:
    (bench.folder / "scan.dcm").write_bytes(data)
    assert refusal(bench, "extract_dicom_metadata", file_path="scan.dcm").startswith("Error parsing DICOM file: ")


def test_a_missing_scan_and_one_outside_are_not_there(bench: Bench) -> None:
    for path in ("none.dcm", "../scan.dcm", "/etc/passwd"):
        assert "ENOENT" in refusal(bench, "extract_dicom_metadata", file_path=path)


def test_calls_are_counted_also_those_that_failed(bench: Bench) -> None:
    answer(bench, "calculate_bmi", height_meters=1.8, weight_kg=80)
    refusal(bench, "fda_drug_lookup", drug_name="zorbitrexol")
    stats = answer(bench, "get_usage_stats")
    assert stats["tool_usage"] == {"calculate_bmi": 1, "fda_drug_lookup": 1, "get_usage_stats": 1}
    overall = answer(bench, "get_all_usage_stats")["overall_stats"]
    assert overall["total_calls"] == 4
    assert overall["session_start"] == stats["session_start"] == NOW.isoformat()


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("fda_drug_lookup", {"drug_name": " "}),
        ("pubmed_search", {"query": ""}),
        ("medrxiv_search", {"query": " "}),
        ("ncbi_bookshelf_search", {"query": ""}),
        ("health_topics", {"topic": ""}),
        ("clinical_trials_search", {"condition": ""}),
    ],
)
def test_an_empty_question_is_refused(bench: Bench, tool: str, arguments: dict[str, str]) -> None:
    assert refusal(bench, tool, **arguments)


def _medicine(bench: Bench, text: str) -> list[str]:
    found = json.loads(bench.reply(f"{SERVER}/fda_drug_lookup", drug_name=text).result["content"][0]["text"])
    return [drug["generic_name"] for drug in found.get("drugs", ())]


def _topics(bench: Bench, text: str) -> list[str]:
    return [one["title"] for one in answer(bench, "health_topics", topic=text)["health_topics"]]


def _trials(bench: Bench, text: str) -> list[str]:
    found = answer(bench, "clinical_trials_search", condition=text, status="all")
    return [one["title"] for one in found["trials"]]


def _diagnoses(bench: Bench, text: str) -> list[str]:
    return [one["description"] for one in answer(bench, "lookup_icd_code", description=text)["codes"]]


def _entries(search: Search) -> list[Entry]:
    if search is _medicine:
        return [Entry(one["generic"], one["generic"], tuple(one["brands"])) for one in tables.load("medicines")]
    if search is _diagnoses:
        names = sorted({one.name for one in diagnoses.by_code().values() if one.billable and len(one.bare) < 7})
        return [Entry(name, name) for name in names[:: len(names) // 400]]
    table = "health_topics" if search is _topics else "trials"
    return [Entry(one["title"], one["title"], (one["title"].upper(),)) for one in tables.load(table)]


@pytest.mark.sample(1)
@pytest.mark.parametrize("search", [_medicine, _topics, _trials, _diagnoses])
def test_searches_find_what_is_meant_and_no_nonsense(bench: Bench, search: Search) -> None:
    asked = queries(_entries(search), search.__name__, QUERIES)
    measure(asked, lambda text: search(bench, text)).check()


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("UTI", "N39.0"),
        ("Parkinson's disease", "G20.A1"),
        ("sinus infections", "J01.90"),
        ("gerd", "K21.9"),
        ("breast cancer", "C50.919"),
        ("lice", "B85.2"),
        ("als", "G12.21"),
        ("herniated disc", "M51.26"),
        ("afib", "I48.91"),
        ("flu", "J11.1"),
    ],
)
def test_what_people_call_a_diagnosis_gives_its_code_first(bench: Bench, words: str, code: str) -> None:
    found = json.loads(bench.text("healthcare-mcp/lookup_icd_code", description=words))
    codes = [one["code"] for one in found["codes"]]
    assert codes[0] == code
    assert len(set(codes)) == len(codes)


def test_each_usual_name_leads_to_a_code_that_can_stand_on_a_bill() -> None:
    for record in tables.load("diagnosis_names"):
        assert diagnoses.by_code()[diagnoses.bare(record["code"])].billable, record


@pytest.mark.parametrize(
    ("name", "generic", "status"),
    [
        ("Adderall", "Amphetamine and dextroamphetamine", "Prescription"),
        ("ramipril", "Ramipril", "Prescription"),
        ("Differin gel", "Adapalene", "Over-the-counter"),
        ("humira", "Adalimumab", "Prescription"),
        ("citalopram 20 mg", "Citalopram", "Prescription"),
    ],
)
def test_common_medicines_are_found_by_either_name(bench: Bench, name: str, generic: str, status: str) -> None:
    drug = answer(bench, "fda_drug_lookup", drug_name=name)["drugs"][0]
    assert (drug["generic_name"], drug["marketing_status"]) == (generic, status)


def test_a_medicine_without_a_full_label_names_what_is_missing(bench: Bench) -> None:
    full = {medicine["generic"] for medicine in tables.load("medicines")}
    for medicine in tables.load("more_medicines")[::9]:
        assert medicine["generic"] not in full
        drug = answer(bench, "fda_drug_lookup", drug_name=medicine["generic"], search_type="label")["drugs"][0]
        assert drug["generic_name"] == medicine["generic"]
        assert drug["indications"][0]
        assert not set(drug) & set(drug["not_covered"].split())
