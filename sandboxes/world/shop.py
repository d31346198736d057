"""Goods of the frozen world: what a shop sells, what each costs, and where.

A product has one price, in US dollars; a marketplace in another country shows the same price in its own money.
Books are those of the table `books`, sold under their ten-digit number as the public shop does; every other
product gets a number made from its id, so that links look real and lead nowhere.
"""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from decimal import ROUND_HALF_UP, Decimal
from functools import cache

from m3bench.sandboxes.world import noise, tables
from m3bench.sandboxes.world.search import SearchIndex, both, fold, words
from m3bench.sandboxes.world.tables import Record

HOME = "amazon.com"

_NUMBER_ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_PICTURE_ALPHABET = _NUMBER_ALPHABET + "abcdefghijklmnopqrstuvwxyz"
_MOST_REVIEWS = 400_000
_UNIT = re.compile(r"(\d)(?=(?:mg|mcg|g|kg|ml|l|oz|fl|lb|ct|count|pack|pk|inch|in|ft|gb|tb|w)\b)", re.IGNORECASE)
_ISBN = re.compile(r"(?<![\w-])(?:97[89][- ]?)?\d{1,5}[- ]?\d{1,7}[- ]?\d{1,7}[- ]?[\dXx](?![\w-])")
"""The number of a book as it is printed on it, or anything that is as long."""


@dataclass(frozen=True, kw_only=True)
class Product:
    """One thing for sale."""

    id: str
    """Words of the title, as addresses have them."""
    asin: str
    title: str
    brand: str
    kind: str
    """What it is in a word or two."""
    category: str
    price: float
    """In US dollars."""
    rating: float
    reviews: int
    terms: tuple[str, ...]
    """Other words that people look for it by."""
    features: tuple[str, ...]

    @property
    def picture(self) -> str:
        """The address of its picture."""
        name = noise.token(10, _PICTURE_ALPHABET, "product picture", self.id)
        return f"https://m.media-amazon.com/images/I/7{name}._AC_UL320_.jpg"

    def address(self, marketplace: "Marketplace") -> str:
        """The address of its page."""
        return f"https://www.{marketplace.id}/{self.id}/dp/{self.asin}"


@dataclass(frozen=True, kw_only=True)
class Marketplace:
    """The shop in one country and how it writes money."""

    id: str
    """Its host name without `www.`."""
    currency: str
    rate: float
    """Units of its money for one US dollar."""
    before: str
    after: str
    decimals: int
    thousands: str
    point: str

    def price(self, product: Product) -> str:
        """What a product costs here, as it is shown."""
        smallest = Decimal(1).scaleb(-self.decimals)
        amount = (Decimal(str(product.price)) * Decimal(str(self.rate))).quantize(smallest, ROUND_HALF_UP)
        whole, _, part = f"{amount:,}".partition(".")
        figure = whole.replace(",", self.thousands) + (self.point + part if part else "")
        return f"{self.before}{figure}{self.after}"


@cache
def products() -> Mapping[str, Product]:
    """Everything for sale, by number."""
    return {product.asin: product for product in _products()}


@cache
def marketplaces() -> Mapping[str, Marketplace]:
    """The shop's countries by host name."""
    return {record["id"]: Marketplace(**record) for record in tables.load("marketplaces")}


def find(keywords: str, limit: int) -> list[Product]:
    """The products that fit the words best; of those that fit alike, the most bought first."""
    text = _ISBN.sub(lambda isbn: _book_number(isbn[0]), _UNIT.sub(r"\1 ", keywords))
    found = [products()[record["asin"]] for _, record in _index().search(text, limit, coverage=both(text))]
    kind = _kind_asked(text)
    if kind and not any(kind in fold(product.title) or kind == fold(product.kind) for product in found):
        # What only shares a word with the thing, as a gaming keyboard with a gaming laptop, is not the thing.
        meant = [record["asin"] for _, record in _index().search(kind, limit) if fold(record["kind"]) == kind]
        found = [products()[asin] for asin in meant] + found
    return found[:limit]


def _book_number(written: str) -> str:
    """The long number of a book that is for sale, whichever of its two numbers was written, and however."""
    signs = re.sub(r"[- ]", "", written).upper()
    if len(signs) == 10 and signs in products():
        return next(term for term in products()[signs].terms if term.isdigit() and len(term) == 13)
    return signs if len(signs) == 13 and signs.startswith(("978", "979")) else written


def _kind_asked(keywords: str) -> str:
    """The kind of article that the last words name, as in `gaming laptop`; empty when they name none."""
    asked = words(keywords)
    ends = (" ".join(asked[start:]) for start in range(len(asked)))
    return next((end.removesuffix("s") for end in ends if {end, end.removesuffix("s")} & _kinds()), "")


@cache
def _kinds() -> frozenset[str]:
    return frozenset(fold(product.kind) for product in products().values())


@cache
def _index() -> SearchIndex[Record]:
    fields = {"kind": 3.0, "title": 3.0, "brand": 3.0, "terms": 3.0, "category": 1.2, "features": 0.8}
    return SearchIndex([asdict(product) for product in products().values()], fields, prior=_popularity)


def _popularity(record: Record) -> float:
    return min(1.0, math.log1p(record["reviews"]) / math.log(_MOST_REVIEWS))


def _products() -> Iterator[Product]:
    books = {record["id"]: record for record in tables.load("books")}
    for record in tables.load("products"):
        yield _book(record, books[record["book_id"]]) if "book_id" in record else _goods(record)


def _goods(record: Record) -> Product:
    return Product(
        id=record["id"],
        asin="B0Z" + noise.token(8, _NUMBER_ALPHABET, "product number", record["id"])[1:],
        title=record["title"],
        brand=record["brand"],
        kind=record["kind"],
        category=record["category"],
        price=record["price"],
        rating=record["rating"],
        reviews=record["reviews"],
        terms=tuple(record["terms"]),
        features=tuple(record["features"]),
    )


def _book(record: Record, book: Record) -> Product:
    return Product(
        id=record["id"],
        asin=book["isbn10"],
        title=f"{book['title']} by {', '.join(book['authors'])}",
        brand=book["publisher"],
        kind="book",
        category="Books",
        price=record["price"],
        rating=record["rating"],
        reviews=record["reviews"],
        terms=(book["title"], book["id"], *book["authors"], *book["subjects"]),
        features=(book["description"], f"{book['pages']} pages, published {book['year']}"),
    )
