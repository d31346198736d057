"""Reading a shop's answer."""

import re


def prices(text: str) -> list[float]:
    """The prices of the offers in a search result, in its order, whatever their currency."""
    return [float(price.replace(",", "")) for price in re.findall(r"Price: [^\d\n]*([\d,]+\.\d+)", text)]
