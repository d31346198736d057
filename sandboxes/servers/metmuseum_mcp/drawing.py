"""Museum cards: a simple drawing of what kind of thing an object is, with its title below.

No photographs of the collection are carried. The drawing is ours and follows from the object's number and kind
alone: a vessel for a vessel, a framed landscape for a landscape. It shows the kind, not the work itself. A `Card` is
the sheet that one is drawn on.
"""

from collections.abc import Callable, Mapping
from math import cos, pi, sin

from PIL import Image

from m3bench.sandboxes.world import noise
from m3bench.sandboxes.world.tables import Record
from m3bench.tasks.drawing.files import jpeg
from m3bench.tasks.drawing.fonts import regular
from m3bench.tasks.drawing.sheet import Colour, Sheet

SIDE = 600

_SCALE = 2
"""Drawn larger and reduced, for smooth edges."""
_WALLS: tuple[Colour, ...] = ((226, 220, 208), (210, 216, 214), (222, 210, 204), (208, 212, 222), (216, 218, 200))
_PIGMENTS: tuple[Colour, ...] = (
    (164, 74, 50),
    (52, 92, 126),
    (196, 152, 64),
    (78, 112, 74),
    (120, 70, 96),
    (62, 74, 92),
    (150, 110, 76),
)
DARK: Colour = (52, 44, 40)
GOLD: Colour = (188, 148, 70)
STONE: Colour = (196, 186, 168)
STEEL: Colour = (142, 150, 158)
PAPER: Colour = (240, 232, 212)


class Card(Sheet):
    """A sheet of `SIDE` units with a pen, and colours picked by the object's number."""

    def __init__(self, number: int) -> None:
        wall = noise.pick(_WALLS, number, "wall")
        super().__init__(Image.new("RGB", (SIDE * _SCALE, SIDE * _SCALE), wall), _SCALE)
        self.number = number
        first = noise.integer(0, len(_PIGMENTS) - 1, number, "pigment")
        self.pigments = _PIGMENTS[first:] + _PIGMENTS[:first]
        self.box(0, 470, SIDE, SIDE, shade(wall, 0.9))

    def caption(self, y: float, words: str, size: float, fill: Colour) -> None:
        """A centred line, cut where it would be too long."""
        letters = regular(size * _SCALE)
        while letters.getlength(words) > (SIDE - 60) * _SCALE:
            words = words[: -2 if words.endswith("…") else -1].rstrip() + "…"
        self.text((SIDE - letters.getlength(words) / _SCALE) / 2, y, words, letters, fill)

    def jpeg(self) -> bytes:
        """The card as a file."""
        return jpeg(self.image.reduce(_SCALE), 85)

    def vary(self, low: float, high: float, key: str) -> float:
        """A number between two that belongs to the object."""
        return noise.between(low, high, self.number, key)


def shade(colour: Colour, factor: float) -> Colour:
    """A colour made darker, or lighter with a factor over 1."""
    red, green, blue = (min(255, round(value * factor)) for value in colour)
    return red, green, blue


def draw(museum_object: Record) -> bytes:
    """The card of an object as JPEG, the same bytes for the same object."""
    card = Card(museum_object["id"])
    _DRAWINGS[museum_object["kind"]](card)
    card.box(20, 520, SIDE - 20, 586, (250, 248, 242), corner=6)
    card.caption(528, museum_object["title"], 20, DARK)
    facts = ", ".join(museum_object[key] for key in ("culture", "date") if key in museum_object)
    card.caption(556, facts, 15, (110, 100, 92))
    return card.jpeg()


def _frame(card: Card, left: float = 110, top: float = 60) -> None:
    right, bottom = SIDE - left, 490 - (top - 60)
    card.box(left + 8, top + 10, right + 8, bottom + 10, (176, 170, 160))
    card.box(left, top, right, bottom, shade(GOLD, 0.8))
    card.box(left + 8, top + 8, right - 8, bottom - 8, GOLD)
    card.box(left + 26, top + 26, right - 26, bottom - 26, shade(GOLD, 0.6))


def _portrait(card: Card) -> None:
    _frame(card, 150, 50)
    coat, ground = card.pigments[0], shade(card.pigments[1], 0.7)
    card.box(182, 82, 418, 468, ground)
    tilt = card.vary(-14, 14, "tilt")
    card.polygon([(190, 467), (232, 345), (300 + tilt, 318), (368, 345), (410, 467)], coat)
    card.box(282 + tilt, 280, 318 + tilt, 340, (206, 164, 132))
    card.oval(300 + tilt, 225, 62, 74, shade(card.pigments[3], 0.5))
    card.oval(300 + tilt, 240, 50, 64, (222, 182, 150))
    for side in (-18, 18):
        card.oval(300 + tilt + side, 232, 5, 4, DARK)
    card.line([(300 + tilt, 238), (296 + tilt, 256), (303 + tilt, 258)], (180, 134, 106), 3)
    card.line([(286 + tilt, 278), (314 + tilt, 278)], (170, 92, 84), 4)


def _landscape(card: Card) -> None:
    _frame(card, 70, 90)
    card.box(100, 120, 500, 430, (150, 186, 208))
    card.oval(card.vary(170, 430, "sun"), 180, 26, 26, (244, 222, 150))
    for number in range(3):
        top = 250 + number * 50
        peak = card.vary(170, 430, f"peak{number}")
        colour = shade((112, 144, 108), 1.1 - 0.22 * number)
        card.polygon([(100, 430), (100, top + 40), (peak, top - 34), (500, top + 30), (500, 430)], colour)
    card.polygon([(250, 430), (300, 340), (322, 340), (380, 430)], (186, 208, 214))
    for number in range(5):
        x, y = card.vary(130, 470, f"tree{number}"), card.vary(320, 390, f"root{number}")
        card.box(x - 3, y - 8, x + 3, y + 22, (92, 70, 50))
        card.oval(x, y - 34, 15, 34, (50, 86, 58))


def _still_life(card: Card) -> None:
    _frame(card, 90, 80)
    card.box(120, 110, 480, 360, shade(card.pigments[1], 0.8))
    card.box(120, 340, 480, 440, (140, 104, 72))
    card.polygon([(250, 370), (238, 300), (268, 268), (332, 268), (362, 300), (350, 370)], (218, 214, 204))
    for number in range(7):
        angle = pi * (0.1 + 0.8 * number / 6)
        x, y = 300 - 100 * cos(angle), 250 - 96 * sin(angle)
        card.line([(300, 272), (x, y)], (66, 104, 66), 5)
        for petal in range(6):
            card.oval(x + 13 * cos(petal * pi / 3), y + 13 * sin(petal * pi / 3), 10, 10, card.pigments[number % 3])
        card.oval(x, y, 8, 8, (240, 214, 120))
    for number in range(3):
        card.oval(400 + number * 22, 386 - 12 * (number % 2), 20, 19, card.pigments[2 + number])


def _scene(card: Card) -> None:
    _frame(card, 70, 90)
    card.box(100, 120, 500, 430, shade(card.pigments[2], 0.75))
    card.box(100, 350, 500, 430, shade(card.pigments[2], 0.5))
    for number in range(4):
        x = 155 + number * 96 + card.vary(-14, 14, f"x{number}")
        y = 400 + card.vary(-16, 12, f"y{number}")
        colour = card.pigments[(number + 3) % 7]
        card.polygon([(x - 40, y), (x - 20, y - 130), (x + 20, y - 130), (x + 40, y)], colour)
        card.line([(x + 14, y - 116), (x + 48, y - card.vary(70, 170, f"arm{number}"))], shade(colour, 1.15), 14)
        card.oval(x, y - 156, 21, 26, (222, 182, 150))
        card.oval(x, y - 170, 22, 16, shade(card.pigments[number], 0.5))


def _sheet(card: Card) -> None:
    card.box(98, 58, 518, 490, (176, 170, 160))
    card.box(90, 48, 510, 480, (248, 246, 240))


def _print(card: Card) -> None:
    _sheet(card)
    card.box(130, 96, 470, 432, PAPER)
    ink = (40, 66, 108)
    for number in range(8):
        y = 190 + number * 28
        lift = card.vary(18, 52, f"lift{number}")
        points = [(130 + x, y - lift * sin(x / 340 * pi * 2 + number * 0.8)) for x in range(0, 341, 10)]
        card.line(points, shade(ink, 0.8 + 0.12 * number), 9 - number * 0.6)
    card.polygon([(250, 220), (300, 150), (350, 220)], shade(ink, 1.3))
    card.polygon([(282, 175), (300, 150), (318, 175), (300, 184)], (250, 250, 250))
    card.box(434, 108, 456, 176, card.pigments[0])


def _photograph(card: Card) -> None:
    _sheet(card)
    card.box(130, 110, 470, 420, (196, 184, 164))
    for number in range(6):
        left = 136 + number * 55
        tone = shade((120, 108, 92), card.vary(0.6, 1.2, f"tone{number}"))
        card.box(left, card.vary(180, 320, f"roof{number}"), left + 48, 420, tone)
    card.box(130, 380, 470, 420, (86, 76, 64))
    card.line([(190, 420), (196, 250), (240, 170)], (58, 50, 42), 7)
    card.line([(194, 300), (160, 220)], (58, 50, 42), 5)


def _manuscript(card: Card) -> None:
    _sheet(card)
    card.box(126, 84, 474, 446, PAPER)
    for inset, colour in ((0, card.pigments[1]), (8, GOLD), (14, PAPER)):
        card.box(136 + inset, 94 + inset, 464 - inset, 436 - inset, colour)
    card.box(170, 128, 430, 300, card.pigments[0])
    card.polygon([(170, 300), (240, 200), (300, 260), (370, 180), (430, 300)], card.pigments[3])
    card.oval(380, 160, 18, 18, GOLD)
    for number in range(6):
        y = 322 + number * 17
        card.line([(180, y), (180 + card.vary(150, 240, f"line{number}"), y)], DARK, 4)


def _scroll(card: Card) -> None:
    card.box(208, 44, 408, 492, (176, 170, 160))
    card.box(200, 50, 400, 484, card.pigments[1])
    card.box(216, 90, 384, 446, PAPER)
    for y in (42, 478):
        card.box(184, y, 416, y + 14, (92, 62, 44), corner=7)
    for number in range(4):
        y = 400 - number * 66
        points = [(216.0, y + 30.0)]
        points += [(x, y - card.vary(0, 54, f"ridge{number}{x}")) for x in range(216, 385, 24)]
        card.polygon([*points, (384, y + 30)], shade((156, 160, 160), 0.7 + number * 0.13))
    card.line([(250, 440), (258, 330), (236, 290)], DARK, 6)
    card.line([(256, 360), (292, 318)], DARK, 4)
    card.box(352, 106, 372, 126, (178, 52, 44))


def _plinth(card: Card, top: float = 430) -> None:
    card.box(196, top, 404, 500, (236, 234, 228))
    card.box(184, top, 416, top + 16, (222, 218, 210))


def _statue(card: Card) -> None:
    _plinth(card)
    light, dark = STONE, shade(STONE, 0.84)
    card.polygon(
        [(250, 430), (236, 330), (228, 250), (262, 214), (338, 214), (372, 250), (364, 330), (350, 430)], light
    )
    card.polygon([(300, 430), (300, 214), (338, 214), (372, 250), (364, 330), (350, 430)], dark)
    card.box(284, 180, 316, 226, dark)
    card.oval(300, 148, 40, 50, light)
    card.oval(300, 124, 43, 32, shade(STONE, 0.72))
    card.line([(300, 140), (295, 160), (304, 162)], shade(STONE, 0.7), 4)
    for number in range(4):
        x = 262 + number * 25
        card.line([(x, 270), (x + card.vary(-16, 16, f"fold{number}"), 420)], shade(STONE, 0.74), 4)


def _animal(card: Card) -> None:
    _plinth(card)
    hide = card.pigments[1]
    for x in (232, 270, 330, 364):
        card.box(x - 15, 370, x + 15, 430, shade(hide, 0.85), corner=6)
    card.oval(300, 340, 96, 58, hide)
    card.oval(396, 312, 46, 38, hide)
    card.oval(424, 326, 26, 24, shade(hide, 1.15))
    card.oval(380, 276, 11, 13, shade(hide, 0.8))
    card.oval(402, 298, 5, 5, DARK)
    card.line([(206, 330), (190, 368)], shade(hide, 0.8), 7)
    for x, y in ((262, 330), (306, 350), (338, 318)):
        for petal in range(5):
            card.oval(x + 12 * cos(petal * 2 * pi / 5), y + 12 * sin(petal * 2 * pi / 5), 6, 6, shade(hide, 1.5))


def _mask(card: Card) -> None:
    colour = (206, 172, 124)
    card.oval(300, 270, 120, 172, shade(colour, 0.7))
    card.oval(300, 266, 108, 158, colour)
    for number in range(9):
        angle = pi + pi * number / 8
        card.oval(300 + 112 * cos(angle), 210 + 112 * sin(angle), 14, 18, shade(colour, 0.8))
    for side in (-44, 44):
        card.oval(300 + side, 246, 27, 13, (246, 238, 222))
        card.oval(300 + side, 246, 10, 11, DARK)
        card.arc(300 + side, 250, 36, 205, 335, shade(colour, 0.5), 7)
    card.polygon([(300, 250), (276, 322), (324, 322)], shade(colour, 0.82))
    card.oval(300, 364, 38, 14, shade(colour, 0.6))


def _vessel(card: Card) -> None:
    _plinth(card)
    clay, wide = (186, 100, 60), card.vary(92, 126, "belly")
    for side in (-1, 1):
        card.arc(300 + side * (wide - 30), 196, 56, 270 if side > 0 else 90, 90 if side > 0 else 270, DARK, 13)
    outline = [
        (300 + side * across, y)
        for side, rows in (
            (-1, ((52, 100), (36, 128), (36, 168), (wide, 256), (wide * 0.8, 340), (40, 404), (58, 430))),
            (1, ((58, 430), (40, 404), (wide * 0.8, 340), (wide, 256), (36, 168), (36, 128), (52, 100))),
        )
        for across, y in rows
    ]
    card.polygon(outline, clay)
    card.box(300 - wide + 4, 246, 300 + wide - 4, 258, DARK)
    for number in range(9):
        x = 300 - wide + 24 + number * (2 * wide - 48) / 8
        card.polygon([(x - 9, 240), (x, 216), (x + 9, 240)], DARK)
    card.box(300 - wide * 0.86, 330, 300 + wide * 0.86, 342, DARK)
    card.oval(300, 294, 18, 24, DARK)
    card.oval(300, 100, 56, 12, shade(clay, 0.7))


def _plate(card: Card) -> None:
    card.oval(306, 276, 196, 196, (176, 170, 160))
    for radius, colour in ((192, (244, 242, 236)), (172, card.pigments[1]), (160, (244, 242, 236))):
        card.oval(300, 266, radius, radius, colour)
    for number in range(16):
        angle = number * pi / 8
        card.oval(300 + 128 * cos(angle), 266 + 128 * sin(angle), 15, 15, card.pigments[number % 2])
    for number in range(6):
        angle = number * pi / 3
        card.oval(300 + 42 * cos(angle), 266 + 42 * sin(angle), 30, 30, card.pigments[2])
    card.oval(300, 266, 28, 28, GOLD)


def _bell(card: Card) -> None:
    bronze = (112, 126, 96)
    card.arc(300, 112, 36, 180, 360, shade(bronze, 0.7), 14)
    card.polygon([(248, 120), (352, 120), (378, 220), (396, 400), (204, 400), (222, 220)], bronze)
    card.box(190, 392, 410, 424, shade(bronze, 0.8), corner=10)
    for y in (180, 260, 340):
        card.box(214, y, 386, y + 9, shade(bronze, 1.25))
    card.oval(300, 300, 26, 26, shade(bronze, 1.3))
    card.oval(300, 440, 20, 20, shade(bronze, 0.6))


def _armour(card: Card) -> None:
    _plinth(card, 446)
    light, dark = shade(STEEL, 1.2), shade(STEEL, 0.8)
    card.polygon([(214, 446), (206, 320), (232, 278), (368, 278), (394, 320), (386, 446)], STEEL)
    card.polygon([(300, 446), (300, 278), (368, 278), (394, 320), (386, 446)], dark)
    for side in (-1, 1):
        card.oval(300 + side * 102, 312, 44, 40, light if side < 0 else dark)
    card.box(262, 246, 338, 292, dark, corner=10)
    card.oval(300, 188, 68, 84, STEEL)
    card.box(238, 176, 362, 192, DARK, corner=6)
    card.polygon([(244, 200), (356, 200), (330, 262), (300, 276), (270, 262)], light)
    for number in range(5):
        card.oval(274 + number * 13, 232, 3, 3, DARK)
    card.line([(300, 104), (300, 172)], light, 9)
    card.polygon([(300, 112), (326, 62), (380, 50), (366, 96), (318, 122)], card.pigments[0])


def _shield(card: Card) -> None:
    for radius, colour in ((184, shade(STEEL, 0.7)), (174, GOLD), (158, STEEL), (92, shade(STEEL, 0.75))):
        card.oval(300, 266, radius, radius, colour)
    for number in range(24):
        angle = number * pi / 12
        card.oval(300 + 166 * cos(angle), 266 + 166 * sin(angle), 5, 5, DARK)
    for number in range(12):
        angle = number * pi / 6
        tips = [(300 + 146 * cos(angle), 266 + 146 * sin(angle))]
        tips += [(300 + 100 * cos(angle + turn), 266 + 100 * sin(angle + turn)) for turn in (-0.16, 0.16)]
        card.polygon(tips, GOLD)
    card.oval(300, 266, 34, 34, GOLD)


def _textile(card: Card) -> None:
    card.box(138, 58, 478, 492, (176, 170, 160))
    for inset, colour in enumerate((card.pigments[0], PAPER, card.pigments[1], card.pigments[2])):
        card.box(130 + inset * 14, 50 + inset * 14, 470 - inset * 14, 484 - inset * 14, colour)
    for row in range(6):
        for column in range(5):
            x, y = 204 + column * 48, 122 + row * 58
            colour = card.pigments[3 + (row + column) % 3]
            card.polygon([(x, y - 24), (x + 20, y), (x, y + 24), (x - 20, y)], colour)
            card.polygon([(x, y - 10), (x + 8, y), (x, y + 10), (x - 8, y)], PAPER)
    for number in range(28):
        thread = 134 + number * 12.2
        for top in (38, 484):
            card.line([(thread, top), (thread, top + 12)], PAPER, 3)


def _tile(card: Card) -> None:
    card.box(110, 56, 490, 486, card.pigments[1])
    card.box(124, 70, 476, 472, (238, 236, 226))
    for row in range(4):
        for column in range(4):
            x, y = 168 + column * 88, 121 + row * 100
            for point in range(8):
                angle = point * pi / 4
                tips = [(x + 42 * cos(angle), y + 46 * sin(angle))]
                tips += [(x + 20 * cos(angle + turn), y + 20 * sin(angle + turn)) for turn in (-0.4, 0.4)]
                card.polygon(tips, card.pigments[(row + column) % 2 * 2])
            card.oval(x, y, 20, 20, card.pigments[1])
            card.oval(x, y, 9, 9, GOLD)


def _jewel(card: Card) -> None:
    card.box(150, 70, 450, 480, shade(card.pigments[5], 0.6), corner=20)
    for number in range(25):
        angle = pi * (0.02 + 0.96 * number / 24)
        size = 8 + 7 * sin(angle)
        card.oval(300 - 108 * cos(angle), 150 + 180 * sin(angle), size, size, GOLD)
        card.oval(300 - 108 * cos(angle) - 2, 148 + 180 * sin(angle), size / 3, size / 3, (250, 232, 176))
    card.oval(300, 384, 44, 48, GOLD)
    card.oval(300, 384, 31, 35, card.pigments[0])
    card.oval(290, 370, 9, 10, shade(card.pigments[0], 1.6))
    for side in (-1, 1):
        card.oval(300 + side * 50, 430, 11, 16, card.pigments[3])


def _clock(card: Card) -> None:
    wood = (84, 54, 40)
    card.box(226, 236, 374, 440, wood)
    card.box(206, 430, 394, 500, shade(wood, 0.8))
    card.box(212, 60, 388, 244, shade(wood, 0.9), corner=16)
    card.polygon([(212, 74), (300, 26), (388, 74)], GOLD)
    card.oval(300, 152, 78, 78, GOLD)
    card.oval(300, 152, 68, 68, (250, 248, 240))
    for number in range(12):
        angle = number * pi / 6
        card.oval(300 + 56 * cos(angle), 152 + 56 * sin(angle), 4, 4, DARK)
    for angle, length in ((card.vary(0, 2 * pi, "hour"), 32), (card.vary(0, 2 * pi, "minute"), 50)):
        card.line([(300, 152), (300 + length * cos(angle), 152 + length * sin(angle))], DARK, 5)
    card.box(252, 262, 348, 420, (214, 206, 186))
    card.line([(300, 262), (308, 376)], GOLD, 6)
    card.oval(309, 386, 22, 22, GOLD)


def _stele(card: Card) -> None:
    card.box(190, 150, 410, 486, STONE)
    card.oval(300, 152, 110, 100, STONE)
    card.arc(300, 156, 92, 180, 360, shade(STONE, 0.7), 5)
    card.oval(300, 120, 17, 17, card.pigments[0])
    for side in (-1, 1):
        card.polygon([(300 + side * 18, 112), (300 + side * 82, 104), (300 + side * 20, 136)], card.pigments[2])
        x = 300 + side * 52
        card.polygon([(x - 20, 268), (x - 13, 198), (x + 13, 198), (x + 20, 268)], shade(STONE, 0.72))
        card.oval(x, 184, 13, 15, shade(STONE, 0.72))
        card.line([(x, 212), (300 + side * 8, 222)], shade(STONE, 0.72), 8)
    for row in range(6):
        y = 296 + row * 31
        card.line([(204, y - 8), (396, y - 8)], shade(STONE, 0.78), 2)
        for column in range(9):
            x, ink = 216 + column * 21, shade(STONE, 0.6)
            sign = noise.integer(0, 3, card.number, row, column)
            if sign == 0:
                card.oval(x, y + 7, 7, 6, ink)
            elif sign == 1:
                card.line([(x - 7, y + 12), (x, y), (x + 7, y + 12)], ink, 3)
            elif sign == 2:
                card.box(x - 6, y + 1, x + 6, y + 13, ink)
            else:
                card.line([(x, y - 1), (x, y + 14)], ink, 4)


def _temple(card: Card) -> None:
    sand = (206, 176, 130)
    card.box(0, 440, SIDE, 510, shade(sand, 0.8))
    card.polygon([(96, 450), (116, 140), (484, 140), (504, 450)], sand)
    card.box(100, 122, 500, 146, shade(sand, 1.12))
    card.box(238, 210, 362, 450, shade(sand, 0.45))
    for x in (150, 208, 392, 450):
        card.box(x - 17, 200, x + 17, 450, shade(sand, 0.88))
        card.polygon([(x - 29, 176), (x + 29, 176), (x + 17, 206), (x - 17, 206)], shade(sand, 1.15))
    card.oval(300, 172, 15, 15, card.pigments[0])
    for side in (-1, 1):
        card.polygon([(300 + side * 16, 164), (300 + side * 88, 158), (300 + side * 18, 184)], card.pigments[2])


def _furniture(card: Card) -> None:
    wood = (112, 76, 50)
    for left in (150, 304):
        card.box(left, 50, left + 146, 490, wood)
        for number in range(3):
            top = 70 + number * 138
            card.box(left + 16, top, left + 130, top + 120, shade(wood, 0.75))
            x, y = left + 73, top + 60
            for turn in range(4):
                angle = turn * pi / 2 + pi / 4
                card.oval(x + 24 * cos(angle), y + 24 * sin(angle), 22, 22, shade(wood, 1.25))
            card.oval(x, y, 13, 13, shade(wood, 0.6))


def _instrument(card: Card) -> None:
    wood = (134, 88, 54)
    card.polygon([(130, 300), (130, 190), (330, 160), (470, 230), (470, 300)], shade(wood, 0.7))
    card.polygon([(150, 200), (210, 70), (450, 90), (470, 230), (330, 166)], wood)
    card.box(120, 296, 480, 356, wood, corner=6)
    card.box(134, 310, 466, 342, (246, 242, 232))
    for number in range(28):
        x = 134 + number * 11.86
        card.line([(x, 310), (x, 342)], DARK, 1)
        if number % 7 not in (0, 3):
            card.box(x - 3, 310, x + 3, 328, DARK)
    for x in (150, 300, 450):
        card.box(x - 9, 356, x + 9, 496, shade(wood, 0.8))


_DRAWINGS: Mapping[str, Callable[[Card], None]] = {
    "animal": _animal,
    "armour": _armour,
    "bell": _bell,
    "clock": _clock,
    "furniture": _furniture,
    "instrument": _instrument,
    "jewel": _jewel,
    "landscape": _landscape,
    "manuscript": _manuscript,
    "mask": _mask,
    "photograph": _photograph,
    "plate": _plate,
    "portrait": _portrait,
    "print": _print,
    "scene": _scene,
    "scroll": _scroll,
    "shield": _shield,
    "statue": _statue,
    "stele": _stele,
    "still life": _still_life,
    "temple": _temple,
    "textile": _textile,
    "tile": _tile,
    "vessel": _vessel,
}
KINDS = frozenset(_DRAWINGS)
