"""The `amazon` server: a shop's products by keywords, and one product by its number.

The answer is plain text, as from the public server; failures are ordinary results. Every marketplace sells the
same goods and shows prices in its own money. A page holds ten products, so that every one of them can be
reached. No key is needed, so the public server's complaints about keys do not occur.
"""

import re

from m3bench.sandboxes.gaps import covered
from m3bench.sandboxes.identifiers import is_asin
from m3bench.sandboxes.toolserver import ToolServer
from m3bench.sandboxes.world import shop
from m3bench.sandboxes.world.shop import Marketplace, Product
from m3bench.tasks.errors import LimitError, SoftError

server = ToolServer("amazon")

PAGE_SIZE = 10

MOST_LETTERS = 500

_HOST = re.compile(r"(?:https?://)?(?:www\.)?([^/\s]+)/?", re.IGNORECASE)
_NUMBER_IN_ADDRESS = re.compile(r"/(?:dp|product)/(\w{10})")


@server.tool
async def search_products(keywords: str, n: int = 1, page: int = 1, amazon_domain: str = shop.HOME) -> str:
    if not keywords.strip():
        raise SoftError("Missing 'keywords'.", outcome="invalid_arguments")
    if len(keywords) > MOST_LETTERS:
        raise LimitError(f"keywords has {len(keywords)} characters, at most {MOST_LETTERS} are taken: use fewer words.")
    marketplace = _marketplace(amazon_domain)
    first = (max(1, min(page, len(shop.products()))) - 1) * PAGE_SIZE
    found = shop.find(keywords, first + max(1, min(n, PAGE_SIZE)))[first:]
    answer = "\n".join(_entry(product, marketplace) for product in found) if found else "No results."
    return covered(answer, found or first, keywords)


@server.tool
async def get_product(asin: str, amazon_domain: str = shop.HOME) -> str:
    if not asin.strip():
        raise SoftError("Missing 'asin'.", outcome="invalid_arguments")
    marketplace = _marketplace(amazon_domain)
    address = _NUMBER_IN_ADDRESS.search(asin)
    number = (address[1] if address else asin.strip()).upper()
    product = shop.products().get(number)
    if product is None:
        raise SoftError("No product found.", outcome="gap" if is_asin(number) else "not_found")
    return _page(product, marketplace)


def _marketplace(domain: str) -> Marketplace:
    host = _HOST.fullmatch(domain.strip() or shop.HOME)
    found = shop.marketplaces().get(host[1].lower()) if host else None
    if found is None:
        known = ", ".join(shop.marketplaces())
        raise SoftError(
            f"Error: 400 amazon_domain {domain!r} is no marketplace. Use one of {known}.",
            outcome="invalid_arguments",
        )
    return found


def _entry(product: Product, marketplace: Marketplace) -> str:
    return "\n".join(
        [
            f"- {product.title}",
            f"  {product.address(marketplace)}",
            f"  {product.picture}",
            f"  Price: {marketplace.price(product)}",
        ]
    )


def _page(product: Product, marketplace: Marketplace) -> str:
    features = [
        *product.features,
        f"Brand: {product.brand}",
        f"Category: {product.category}",
        f"Rated {product.rating} out of 5 by {product.reviews:,} customers",
    ]
    return "\n".join(
        [
            f"**{product.title}**",
            product.address(marketplace),
            product.picture,
            f"Price: {marketplace.price(product)}",
            "",
            "Features:",
            *(f"- {feature}" for feature in features),
        ]
    )
