"""Eight colour schemes, and which text can be read on which colour.

A scheme names what a colour is for, so that a template says `primary` and not a number. `neon_vibrant` is the
only scheme meant for dark slides throughout.
"""

from dataclasses import dataclass

from pptx.dml.color import RGBColor

from m3bench.sandboxes.servers.ppt.registry import refusal

WHITE = RGBColor(255, 255, 255)
DEFAULT = "modern_blue"


@dataclass(frozen=True, kw_only=True)
class Scheme:
    """The colours of a presentation by purpose."""

    name: str
    primary: RGBColor
    """Titles and large dark areas; white text can be read on it."""
    secondary: RGBColor
    accent1: RGBColor
    accent2: RGBColor
    light: RGBColor
    """Backgrounds and cards; the text colour can be read on it."""
    text: RGBColor

    def colour(self, purpose: str) -> RGBColor:
        """The colour for a purpose; besides the scheme's own there is `white`."""
        if purpose == "white":
            return WHITE
        found = getattr(self, purpose)
        assert isinstance(found, RGBColor)
        return found

    @property
    def series(self) -> tuple[RGBColor, ...]:
        """Colours for chart series, told apart also in print."""
        strong = (self.primary, self.accent1, self.secondary, self.accent2)
        return (*strong, *(blend(colour, WHITE, 0.45) for colour in strong))


PURPOSES = ("primary", "secondary", "accent1", "accent2", "light", "text")


def blend(colour: RGBColor, other: RGBColor, share: float) -> RGBColor:
    """A colour with some share of another."""
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(colour, other, strict=True))
    return RGBColor(red, green, blue)


def contrast(one: RGBColor, other: RGBColor) -> float:
    """The contrast ratio of two colours, 1 to 21, as accessibility guidelines define it."""
    bright, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


def is_dark(colour: RGBColor) -> bool:
    """Whether white reads better on it than black."""
    return contrast(colour, WHITE) > contrast(colour, RGBColor(0, 0, 0))


def readable_on(ground: RGBColor, dark: RGBColor) -> RGBColor:
    """White or the given dark colour, whichever reads better."""
    return WHITE if contrast(WHITE, ground) >= contrast(dark, ground) else dark


def scheme(name: str) -> Scheme:
    """The scheme of a name."""
    if name.lower() not in SCHEMES:
        raise refusal("color_scheme", f"{name[:40]!r} is not known. Use one of: {', '.join(SCHEMES)}")
    return SCHEMES[name.lower()]


def scheme_or_default(name: str) -> Scheme:
    """The scheme of a name, the default one when there is none."""
    return SCHEMES.get(name.lower(), SCHEMES[DEFAULT])


def _luminance(colour: RGBColor) -> float:
    red, green, blue = map(_linear, colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(part: int) -> float:
    return part / 255 / 12.92 if part <= 10 else float(((part / 255 + 0.055) / 1.055) ** 2.4)


def _of(name: str, *colours: str) -> Scheme:
    values = {purpose: RGBColor.from_string(colour) for purpose, colour in zip(PURPOSES, colours, strict=True)}
    return Scheme(name=name, **values)


SCHEMES = {
    item.name: item
    for item in (
        _of("modern_blue", "1B4B8A", "2F86C6", "17A398", "F2A33A", "EDF3FA", "1F2A37"),
        _of("corporate_gray", "3A424D", "74808F", "0E7CA6", "C8792B", "F1F3F5", "262B31"),
        _of("elegant_green", "1D5B47", "4C9A76", "B8903F", "7A5236", "EEF5F0", "1E2E28"),
        _of("warm_red", "97262C", "CF5A43", "E59A3C", "5E4057", "FCF2ED", "3A2222"),
        _of("pastel_dream", "6B5B9A", "8FB3D6", "DB8FA6", "84BBA0", "F6F3FB", "3E3556"),
        _of("nature_earth", "52612F", "8C6E47", "C4873A", "5A7D79", "F7F3E8", "352F25"),
        _of("neon_vibrant", "1A1338", "7B2BD0", "00D8F0", "FF3D9A", "EFEBFA", "221A44"),
        _of("minimalist_mono", "202124", "5F6368", "9AA0A6", "B23A2E", "F5F5F5", "202124"),
    )
}
"""All schemes by name."""
