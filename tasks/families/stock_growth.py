"""A board with tickers, some of them circled, and an empty field: who grew most, who leads by the books, what two of them paid out."""

import json
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import NamedTuple

from m3bench.tasks.answers.fields import Field, File, Integer, Money, Name, Number, Table
from m3bench.tasks.checks import PictureChanged
from m3bench.tasks.families.base import Composition, Family, Kit, Script, Solution, call, need, table, words
from m3bench.tasks.json_types import Record
from m3bench.tasks.render import backdrops, pen
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.shapes import fade, line, mix, rect
from m3bench.tasks.scene import Box
from m3bench.tasks.task import Reference, ReferenceCall

STYLES = ("screen", "whiteboard", "sheet")
COLUMNS = 3


@dataclass(frozen=True)
class PriceBoard:
    """Where things are on a board."""

    words: tuple[Box, ...]
    field: Box
    """The empty one."""
    ink: str
    """A colour that shows on the field."""


def board(
    canvas: Canvas, rng: random.Random, style: str, heading: str, words: Sequence[str], caption: str
) -> PriceBoard:
    """Fill a canvas with a board.

    Args:
        canvas: Wide enough for 1300 pixels.
        rng: Chooses colours and small differences.
        style: One of `STYLES`.
        heading: Stands above.
        words: Nine short words at most.
        caption: Stands at the empty field.
    """
    drawn = {"screen": _screen, "whiteboard": _whiteboard, "sheet": _sheet}[style]
    return drawn(canvas, rng, heading, words, caption)


def _screen(canvas: Canvas, rng: random.Random, heading: str, words: Sequence[str], caption: str) -> PriceBoard:
    width, height = canvas.width, canvas.height
    back, glow = rng.choice((("#0d1b26", "#ffd166"), ("#11161d", "#7ee08a"), ("#141427", "#8fd3ff")))
    level = backdrops.room(canvas, rng, 0.84)
    left, top, right, bottom = 90, 44, width - 90, height - 150
    canvas.draw(
        rect(width / 2 - 60, bottom, 120, 74, "#565d66"),
        rect(width / 2 - 210, bottom + 66, 420, 22, "#474d55", 10),
        rect(left - 16, top - 16, right - left + 32, bottom - top + 32, "#2b3038", 22),
        rect(left, top, right - left, bottom - top, back, 8),
    )
    canvas.place("potted plant", 70 + rng.uniform(0, 30), level + 96, 150, flip=rng.random() < 0.5)
    canvas.text(heading, left + 46, top + 76, 46, face="mono bold", fill="#f2f5f7")
    canvas.draw(line(left + 40, top + 104, right - 40, top + 104, glow, 4))
    places = _columns(
        canvas, words, left + 56, top + 196, (right - left - 60) / COLUMNS, face="mono bold", fill=glow, size=66
    )
    return _with_field(
        canvas,
        places,
        caption,
        (left + 46, bottom - 190, right - left - 92, 150),
        "#f2f5f7",
        mix(back, "#ffffff", 0.06),
        "mono bold",
    )


def _whiteboard(canvas: Canvas, rng: random.Random, heading: str, words: Sequence[str], caption: str) -> PriceBoard:
    width, height = canvas.width, canvas.height
    backdrops.room(canvas, rng, 0.93)
    left, top, right, bottom = 80, 46, width - 80, height - 118
    pen = rng.choice(("#3f4550", "#6b3f1d", "#4d4a33", "#3b2f63"))
    canvas.draw(
        rect(left + 10, top + 16, right - left, bottom - top, "#00000030", 14),
        rect(left, top, right - left, bottom - top, "#b4bcc4", 14),
        fade("white", "#ffffff", "#f1f4f6"),
        rect(left + 16, top + 16, right - left - 32, bottom - top - 32, "url(#white)", 6),
        rect(width / 2 - 230, bottom - 4, 460, 20, "#9aa3ac", 6),
    )
    for number, colour in enumerate(("#1f4f9a", "#a3262b", "#1f6b45")):
        canvas.draw(rect(width / 2 - 180 + number * 120, bottom - 16, 84, 14, colour, 6))
    canvas.text(heading, left + 64, top + 100, 54, face="round", fill=mix(pen, "#000000", 0.35))
    canvas.draw(line(left + 60, top + 122, left + 72 + canvas.art.width(heading, 54, "round"), top + 118, pen, 5))
    places = _columns(
        canvas, words, left + 72, top + 214, (right - left - 60) / COLUMNS, face="mono bold", fill=pen, size=66
    )
    return _with_field(
        canvas, places, caption, (left + 60, bottom - 200, right - left - 120, 150), "#22262e", "#fbfcfd", "round"
    )


def _sheet(canvas: Canvas, rng: random.Random, heading: str, words: Sequence[str], caption: str) -> PriceBoard:
    width, height = canvas.width, canvas.height
    backdrops.table(canvas, rng)
    left, right, bottom = 50.0, width - 50.0, height - 178.0
    backdrops.paper(canvas, rng, (left, 34, right, bottom))
    beside = ["coffee", "computer mouse", "fountain pen", "mobile phone", "calendar", "tea", "keyboard"]
    for number, thing in enumerate(rng.sample(beside, 3)):
        canvas.place(
            thing, width * (number + 0.5) / 3 + rng.uniform(-90, 90), height - 22, 118, flip=rng.random() < 0.5
        )
    canvas.text(heading, left + 60, 122, 54, face="serif bold", fill="#2c2a28")
    places = _columns(
        canvas, words, left + 66, 234, (right - left - 60) / COLUMNS, face="mono bold", fill="#26303f", size=66
    )
    return _with_field(
        canvas, places, caption, (left + 56, bottom - 184, right - left - 112, 142), "#22262e", "#fffef9", "serif bold"
    )


def _columns(
    canvas: Canvas, words: Sequence[str], x: float, y: float, wide: float, *, face: str, fill: str, size: float
) -> tuple[Box, ...]:
    """Columns, read row by row; returns where the words are."""
    places = (divmod(number, COLUMNS) for number in range(len(words)))
    return tuple(
        canvas.text(word, x + column * wide, y + row * size * 1.7, size, face=face, fill=fill)
        for word, (row, column) in zip(words, places, strict=True)
    )


def _with_field(
    canvas: Canvas, words: tuple[Box, ...], caption: str, area: tuple[float, float, float, float], ink: str, fill: str,
    face: str,
) -> PriceBoard:  # fmt: skip
    """Finish a board with a caption and the empty field to its right, in an area by its corner and size."""
    x, y, width, height = area
    canvas.text(caption, x, y + height / 2 + 14, 40, face=face, fill=ink)
    left = x + canvas.art.width(caption, 40, face) + 34
    canvas.draw(
        rect(left, y, x + width - left, height, fill, 8, f'stroke="{ink}" stroke-width="4" stroke-dasharray="16 10"')
    )
    field = (round(left) + 6, round(y) + 6, round(x + width) - 6, round(y + height) - 6)
    return PriceBoard(words=words, field=field, ink=ink)


FIRST = date(2025, 1, 7)
"""The first day of trading that a question may name."""
_LETTERS = 57.0
"""Pixels that a character of the drawn text takes at scale 2."""
_FOREIGN = {"TSM", "BABA"}
"""Companies whose books are not in dollars."""
_SHARES = 9


class _Measure(NamedTuple):
    said: str
    key: str
    statement: str


class StockGrowth(Family):
    """Read the circled tickers, then compare prices, reports or dividends."""

    name = "stock_growth"
    servers = ("ocr", "yahoo-finance", "imagesorcery-mcp")
    headings = words()
    captions = words()
    measures = table(tuple[_Measure, ...])

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """A board with nine tickers, of which three or four are circled in red and two in blue, and an empty field."""
        canvas = Canvas(kit.art, 1360, 900)
        companies = {company["id"]: company for company in kit.world("companies")}
        tickers = [ticker for ticker in companies if re.fullmatch(r"[A-Z]{3,5}", ticker)]
        words = rng.sample([ticker for ticker in tickers if ticker != "GOOG"], _SHARES)
        style = rng.choice(STYLES)
        drawn = board(canvas, rng, style, rng.choice(self.headings), words, rng.choice(self.captions))
        canvas.light(rng, 0.3 if style == "screen" else 0.7)
        many = rng.choice((3, 3, 4))
        order = rng.sample(range(_SHARES), _SHARES)
        red, blue, other = sorted(order[:many]), sorted(order[many : many + 2]), order[-1]
        for colour, numbers in ((pen.RED, red), (pen.BLUE, blue), (pen.GREEN, (other,))):
            for number in numbers:
                pen.loop(canvas, rng, drawn.words[number], colour, air=12, width=6)
        return Composition.of(
            canvas,
            names={word: companies[word]["name"] for word in words},
            spelled={word: spelled(companies[word]) for word in words},
            red=[words[number] for number in red],
            blue=[words[number] for number in blue],
            field=drawn.field,
            ink=drawn.ink,
        )

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """Read the board, then go for what is asked."""
        await play.step(call("ocr/perform_ocr", {"input_data": path}, free=("config", "language")))
        plan = {"growth": _growth, "books": _books, "dividends": _dividends}[play.goal]
        return await plan(
            rng, composition, composition.facts["blue" if play.goal == "dividends" else "red"], path, play
        )


async def _growth(
    rng: random.Random, composition: Composition, listed: Sequence[str], path: str, play: Script
) -> Solution:
    """The prices of those in red, the history of the two dearest, and the winner written on the picture."""
    start, end = _window(rng)
    texts = await play.step(*(call("yahoo-finance/get_stock_info", {"ticker": ticker}) for ticker in listed))
    prices = {ticker: json.loads(text)["currentPrice"] for ticker, text in zip(listed, texts, strict=True)}
    one, two, three, *_ = sorted(prices.values(), reverse=True)
    need(one > two * 1.01 > two > three * 1.02, "it is not plain which two are the dearest")
    dearest = sorted(listed, key=lambda ticker: -prices[ticker])[:2]
    texts = await play.step(*(_history(ticker, start, end) for ticker in dearest))
    closes = {ticker: _closes(json.loads(text), start, end) for ticker, text in zip(dearest, texts, strict=True)}
    growths = {ticker: round((last / first - 1) * 100, 2) for ticker, (first, last) in closes.items()}
    best, other = sorted(dearest, key=lambda ticker: -growths[ticker])
    need(growths[best] - growths[other] >= 0.3 and growths[best] >= 0.5, "no clear winner")
    label = f"{best} {growths[best]:+.2f}%"
    drawn = {"input_path": path, "texts": [_lettering(label, composition)]}
    (text,) = await play.step(call("imagesorcery-mcp/draw_texts", drawn, free=("output_path",)))
    field = composition.facts["field"]
    changed = PictureChanged(source=path.removeprefix("./"), pattern="*.png", boxes=(field,), margin=16)
    costs = tuple((_share(ticker, composition), Money(value=price, unit="USD")) for ticker, price in prices.items())
    return Solution(
        wording=f"Read the tickers circled in red in {path}, find the two with the highest currentPrice, compare their closes of {start} and {end}, "
        "and draw the better one's growth into the empty field.",
        answer=f"Prices now: {', '.join(f'{ticker} {price:.2f}' for ticker, price in prices.items())} dollars. "
        f"The two dearest are {dearest[0]} and {dearest[1]}. {best} did better: {growths[best]:+.2f}% against "
        f"{growths[other]:+.2f}% for {other}. I wrote {label} into the empty field.",
        fields=(
            Field(
                name="prices",
                meaning="each share circled in red and what it costs now, in dollars",
                value=Table(columns=("ticker", "price"), rows=costs),
            ),
            Field(
                name="winner",
                meaning="the ticker of whichever of the two most expensive shares gained more",
                value=_share(best, composition),
                compared=(growths[best], growths[other]),
            ),
            Field(
                name="growth",
                meaning="how much it gained from the first close to the second",
                value=Number(value=growths[best], unit="%", decimals=2),
                derived=closes[best],
            ),
            Field(
                name="picture",
                meaning="a copy of the picture with ticker and growth written into the empty field",
                value=File(form="png", value=json.loads(text)["images"][0], holds=(changed,)),
            ),
        ),
        given={"start": _said(start), "end": _said(end)},
        alternatives=(_by_eye(play),),
    )


async def _books(
    rng: random.Random, composition: Composition, listed: Sequence[str], path: str, play: Script
) -> Solution:
    """The yearly report of those in red; of the leader, what the last broker and the newest headline say."""
    measure, months = rng.choice(StockGrowth.measures), rng.randint(2, 9)
    need(not _FOREIGN & set(listed), "some books are in another currency")
    texts = await play.step(
        *(
            call("yahoo-finance/get_financial_statement", {"ticker": ticker, "financial_type": measure.statement})
            for ticker in listed
        )
    )
    reports = {ticker: json.loads(text)[0] for ticker, text in zip(listed, texts, strict=True)}
    need(all(measure.key in report for report in reports.values()), "some do not report that figure")
    amounts = {ticker: report[measure.key] for ticker, report in reports.items()}
    best, *others = sorted(listed, key=lambda ticker: -amounts[ticker])
    need(amounts[best] > max(0, amounts[others[0]]) * 1.05, "two of them are about equal")
    wanted = {"ticker": best, "recommendation_type": "upgrades_downgrades", "months_back": months}
    rated = call("yahoo-finance/get_recommendations", wanted)
    said, news = await play.step(rated, call("yahoo-finance/get_yahoo_finance_news", {"ticker": best}))
    ratings, headlines = json.loads(said), re.findall(r"^- (.*)$", news, re.MULTILINE)
    need(len(ratings) > 1 and ratings[0]["GradeDate"][:10] > ratings[1]["GradeDate"][:10], "two brokers were the last")
    firm, grade = ratings[0]["Firm"], ratings[0]["ToGrade"]
    figures = tuple((_share(ticker, composition), Number(value=money, unit="USD")) for ticker, money in amounts.items())
    return Solution(
        wording=f"Read the tickers circled in red in {path}, find which has the highest {measure.key} in its newest yearly statement, and "
        f"give the latest of its upgrades and downgrades over {months} months and its newest headline.",
        answer=f"In dollars: {', '.join(f'{ticker} {amount:,}' for ticker, amount in amounts.items())}. {best} leads. "
        f'{firm} rated it last, "{grade}". The newest headline: {headlines[0]}',
        fields=(
            Field(
                name="figures",
                meaning="each company circled in red and that figure of it, in dollars",
                value=Table(columns=("ticker", "figure"), rows=figures),
            ),
            Field(
                name="company",
                meaning="which of them leads by that figure",
                value=_share(best, composition),
                compared=tuple(float(amounts[ticker]) for ticker in (best, *others)),
            ),
            Field(
                name="broker",
                meaning="the firm that rated it last",
                value=Name(value=firm, others=tuple(sorted({rating["Firm"] for rating in ratings} - {firm}))),
            ),
            Field(
                name="rating",
                meaning="what that firm rates it now",
                value=Name(value=grade, others=tuple(sorted({rating["ToGrade"] for rating in ratings} - {grade}))),
            ),
            Field(
                name="headline",
                meaning="the first headline in its news, word for word",
                value=Name(value=headlines[0], others=tuple(headlines[1:])),
            ),
        ),
        given={"measure": measure.said, "months": str(months)},
        alternatives=(_by_eye(play),),
    )


async def _dividends(
    rng: random.Random, composition: Composition, listed: Sequence[str], path: str, play: Script
) -> Solution:
    """What the two in blue paid, and what it buys at the price of the better payer."""
    shares, year = rng.choice((40, 60, 80, 120, 150)), rng.choice((2023, 2024))
    _, day = _window(rng)
    texts = await play.step(*(call("yahoo-finance/get_stock_actions", {"ticker": ticker}) for ticker in listed))
    parts = {ticker: _paid(json.loads(text), year) for ticker, text in zip(listed, texts, strict=True)}
    paid = {ticker: round(sum(amounts) * shares, 2) for ticker, amounts in parts.items()}
    better, other = sorted(listed, key=lambda ticker: -paid[ticker])
    need(paid[other] > 0 and paid[better] > paid[other] * 1.05, "both must pay, and one of them more")
    (text,) = await play.step(_history(better, day, day))
    price, _ = _closes(json.loads(text), day, day)
    bought = sum(paid.values()) / price
    count = int(bought)
    need(count >= 1 and 0.03 < bought - count < 0.97, "it is not plain how many shares that buys")
    need(len({count, int(paid[better] / price), int(paid[other] / price)}) == 3, "half of the money would buy as many")
    return Solution(
        wording=f"Read the tickers in {path}; for the two circled in blue add up the dividends of {year}, times {shares}; "
        f"divide the sum by what the one that paid more closed at on {day}.",
        answer=f"In {year}, {shares} shares paid {paid[better]:.2f} dollars of {better} and {paid[other]:.2f} dollars of {other}. "
        f"At {price:.2f} dollars, the close of {_said(day)}, the money buys {count} shares of {better}.",
        fields=(
            Field(
                name="dividends",
                meaning="what each of the two shares circled in blue paid in all: ticker, dollars",
                value=Table(
                    columns=("ticker", "amount"),
                    rows=tuple(
                        (_share(ticker, composition), Money(value=paid[ticker], unit="USD")) for ticker in listed
                    ),
                ),
                derived=tuple(amount for amounts in parts.values() for amount in amounts),
            ),
            Field(
                name="better_payer",
                meaning="the ticker of the one that paid more",
                value=_share(better, composition),
                compared=(paid[better], paid[other]),
            ),
            Field(
                name="new_shares",
                meaning="how many whole shares of it all that money buys at that close",
                value=Integer(value=count),
                derived=(price,),
            ),
        ),
        given={"shares": str(shares), "year": str(year), "day": _said(day)},
        alternatives=(_by_eye(play),),
    )


def _by_eye(play: Script) -> Reference:
    return play.varied("the board read by eye", {0: ()})


def spelled(company: Record) -> tuple[str, ...]:
    """A company's name, and what people call it."""
    return (company["name"], *company["known_as"])


def _share(ticker: str, composition: Composition) -> Name:
    """A share by its ticker or its company's name, and none of the others on the board."""
    names = {one: (one, *said) for one, said in composition.facts["spelled"].items()}
    return Name(
        value=ticker,
        aliases=names[ticker][1:],
        others=tuple(name for one, said in names.items() if one != ticker for name in said),
        context=(*names[ticker], "NASDAQ NYSE ticker symbol shares stock"),
    )


def _window(rng: random.Random) -> tuple[date, date]:
    """Two days of trading, three to nine weeks apart: Tuesdays and Wednesdays that are no holidays."""
    start = FIRST + timedelta(weeks=rng.randint(0, 32), days=rng.randint(0, 1))
    return start, start + timedelta(weeks=rng.randint(3, 8))


def _history(ticker: str, start: date, end: date) -> ReferenceCall:
    """The call for the days from `start` to `end`, whose end is not included on that server."""
    after = [(end + timedelta(days=days)).isoformat() for days in range(1, 5)]
    arguments = {"ticker": ticker, "start_date": start.isoformat(), "end_date": after[0], "interval": "1d"}
    before = [(start - timedelta(days=days)).isoformat() for days in range(4)]
    either: dict[str, Sequence[object]] = {"start_date": before, "end_date": after, "interval": ["1d", None]}
    return call("yahoo-finance/get_historical_stock_prices", arguments, either=either)


def _closes(rows: Sequence[Record], start: date, end: date) -> tuple[float, float]:
    closes = {row["Date"][:10]: float(row["Close"]) for row in rows}
    return closes[start.isoformat()], closes[end.isoformat()]


def _paid(rows: Sequence[Record], year: int) -> tuple[float, ...]:
    """The dividends of a year."""
    return tuple(float(row["Dividends"]) for row in rows if row["Date"][:4] == str(year) and row["Dividends"])


def _lettering(label: str, composition: Composition) -> Record:
    """The text in the middle of the empty field."""
    left, top, right, bottom = composition.facts["field"]
    scale = round(min(2.4, 2 * (right - left - 60) / (_LETTERS * len(label))), 2)
    blue_green_red = [int(composition.facts["ink"][place : place + 2], 16) for place in (5, 3, 1)]
    return {
        "text": label, "x": left + 30, "y": round((top + bottom) / 2 + 10.5 * scale), "font_scale": scale,
        "color": blue_green_red, "thickness": 3,
    }  # fmt: skip


def _said(day: date) -> str:
    return f"{day.day} {day:%B %Y}"
