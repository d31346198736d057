"""Reading a shop's answer."""

import re

SHOPS = {
    "American": ("amazon.com", "USD"),
    "British": ("amazon.co.uk", "GBP"),
    "Canadian": ("amazon.ca", "CAD"),
    "Australian": ("amazon.com.au", "AUD"),
    "Irish": ("amazon.ie", "EUR"),
}
"""Where the shop is and what money it takes, by the word that a question has for it."""


def prices(text: str) -> list[float]:
    """The prices of the offers in a search result, in its order, whatever their currency."""
    return [float(price.replace(",", "")) for price in re.findall(r"Price: [^\d\n]*([\d,]+\.\d+)", text)]


def title(text: str) -> str:
    """What the first offer in a search result is called."""
    return text.split("\n")[0].removeprefix("- ")


def asin(text: str) -> str:
    """The number of the first offer in a search result."""
    found = re.search(r"/dp/(\w{10})", text)
    assert found, text
    return found[1]


def rated(page: str) -> tuple[float, int]:
    """The rating on a product's page, and by how many customers."""
    found = re.search(r"Rated ([\d.]+) out of 5 by ([\d,]+)", page)
    assert found, page
    return float(found[1]), int(found[2].replace(",", ""))


def hosts(domain: str) -> tuple[str | None, ...]:
    """The ways to name a shop in a call: the American one may be left out."""
    return (domain, None) if domain == "amazon.com" else (domain,)
