"""Colours as office files write them: plain, by name, or of a theme, lighter or darker."""

from collections.abc import Mapping
from typing import Any

from m3bench.tasks.office.marks import WHITE, Colour

A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
OFFICE: Mapping[str, str] = {
    "dk1": "000000",
    "lt1": "FFFFFF",
    "dk2": "1F497D",
    "lt2": "EEECE1",
    "accent1": "4F81BD",
    "accent2": "C0504D",
    "accent3": "9BBB59",
    "accent4": "8064A2",
    "accent5": "4BACC6",
    "accent6": "F79646",
    "hlink": "0000FF",
    "folHlink": "800080",
}
"""The theme of files that have none."""
_MAPPED = {"tx1": "dk1", "bg1": "lt1", "tx2": "dk2", "bg2": "lt2"}
_NAMED = {
    "black": "000000",
    "white": "FFFFFF",
    "red": "FF0000",
    "green": "008000",
    "blue": "0000FF",
    "yellow": "FFFF00",
    "gray": "808080",
    "grey": "808080",
    "orange": "FFA500",
    "purple": "800080",
    "navy": "000080",
    "teal": "008080",
}
_KINDS = ("srgbClr", "schemeClr", "sysClr", "prstClr", "scrgbClr", "hslClr")


def rgb(digits: str) -> Colour:
    """A colour of six hexadecimal digits, or of eight with what covers before them."""
    digits = digits[-6:]
    try:
        return int(digits[:2], 16), int(digits[2:4], 16), int(digits[4:6], 16)
    except ValueError:
        return 0, 0, 0


class OfficeTheme:
    """The colours and fonts of a file's theme.

    Args:
        root: The theme's element; None when the file has none.
        mapping: The master's, of names such as `tx1` to the theme's own.
    """

    def __init__(self, root: Any = None, mapping: Mapping[str, str] | None = None) -> None:
        self._colours = dict(OFFICE)
        self._mapping = {**_MAPPED, **(mapping or {})}
        self.major, self.minor = "Calibri", "Calibri"
        if root is None:
            return
        for node in root.iterfind(f".//{A}clrScheme/*"):
            for value in node:
                self._colours[node.tag.removeprefix(A)] = value.get("lastClr") or value.get("val") or "000000"
        for kind in ("major", "minor"):
            latin = root.find(f".//{A}{kind}Font/{A}latin")
            if latin is not None and latin.get("typeface"):
                setattr(self, kind, latin.get("typeface"))

    def named(self, name: str) -> Colour:
        """A colour of the theme."""
        return rgb(self._colours.get(self._mapping.get(name, name), "000000"))

    def family(self, name: str) -> str:
        """A font by the name in a run, which may stand for one of the theme's."""
        return {"+mj-lt": self.major, "+mn-lt": self.minor}.get(name, name)

    def of(self, parent: Any, placeholder: Colour | None = None) -> tuple[Colour, float] | None:
        """The colour in an element, and how much it covers; None when there is none."""
        if parent is None:
            return None
        found = next((child for kind in _KINDS for child in parent.iterfind(f"{A}{kind}")), None)
        if found is None:
            return None
        return self._changed(found, self._plain(found, placeholder))

    def _plain(self, one: Any, placeholder: Colour | None) -> Colour:
        value = one.get("val", "000000")
        match one.tag.removeprefix(A):
            case "srgbClr":
                return rgb(value)
            case "schemeClr":
                return placeholder if value == "phClr" and placeholder is not None else self.named(value)
            case "sysClr":
                return rgb(one.get("lastClr") or ("FFFFFF" if value == "window" else "000000"))
            case "prstClr":
                return rgb(_NAMED.get(value, "808080"))
        return 128, 128, 128

    def _changed(self, one: Any, colour: Colour) -> tuple[Colour, float]:
        opacity = 1.0
        for change in one:
            share = int(change.get("val", "100000")) / 100_000
            match change.tag.removeprefix(A):
                case "lumMod":
                    colour = lightened(colour, share, 0.0)
                case "lumOff":
                    colour = lightened(colour, 1.0, share)
                case "tint":
                    colour = mixed(WHITE, colour, share)
                case "shade":
                    colour = mixed((0, 0, 0), colour, share)
                case "alpha":
                    opacity = share
        return colour, opacity


def mixed(one: Colour, other: Colour, share: float) -> Colour:
    """A colour between two: so much of the other."""
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(one, other, strict=True))
    return red, green, blue


def lightened(colour: Colour, factor: float, plus: float) -> Colour:
    """A colour with another lightness: multiplied, then added to."""
    low, high = min(colour) / 255, max(colour) / 255
    light = (low + high) / 2
    wanted = min(1.0, max(0.0, light * factor + plus))
    if high == low:
        grey = round(255 * wanted)
        return grey, grey, grey
    depth = (high - low) / (1 - abs(2 * light - 1)) * (1 - abs(2 * wanted - 1))
    base = wanted - depth / 2
    red, green, blue = (round(255 * (base + (part / 255 - low) / (high - low) * depth)) for part in colour)
    return red, green, blue
