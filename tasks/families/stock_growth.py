"""A board with tickers: the dearer two are compared, and the winner's growth is written on the picture."""

import json
import random
import re
from datetime import date, timedelta
from typing import Any

from m3bench.tasks.checks import AnswerNames, CallMade, PictureChanged
from m3bench.tasks.families.base import Composition, Kit, Script, Solution, call
from m3bench.tasks.families.texts import Tables, tables
from m3bench.tasks.render.boards import STYLES, board
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.task import ReferenceCall

_LETTERS = 57.0
"""Pixels that a character of the drawn text takes at scale 2."""


class _Tables(Tables):
    headings: tuple[str, ...]
    captions: tuple[str, ...]


_tables = tables("stock_growth", _Tables)


class StockGrowth:
    """Read tickers, find the dearest two, compare their growth, ask the analysts, and write on the picture."""

    name = "stock_growth"
    servers = ("ocr", "yahoo-finance", "imagesorcery-mcp")

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """A board with four to six tickers and an empty field."""
        canvas = Canvas(kit.art, 1360, 900)
        tickers = [company["id"] for company in kit.world("companies") if re.fullmatch(r"[A-Z]{3,5}", company["id"])]
        words = rng.sample([ticker for ticker in tickers if ticker != "GOOG"], rng.choice((4, 4, 5, 6)))
        style = rng.choice(STYLES)
        field = board(canvas, rng, style, rng.choice(_tables().headings), words, rng.choice(_tables().captions))
        canvas.light(rng, 0.3 if style == "screen" else 0.7)
        return Composition.of(canvas, tickers=words, field=field.box, ink=field.ink)

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """Read, quote, compare, ask, write."""
        start, end, months = *_window(rng), rng.randint(2, 6)
        (text,) = await play.step(call("ocr/perform_ocr", {"input_data": path}, free=("config", "language")))
        read = set(re.findall(r"[A-Z]{3,5}", text.upper()))
        # A letter that was misread is plain to see in the picture: such tickers come last.
        listed = sorted(composition.facts["tickers"], key=lambda ticker: ticker not in read)
        texts = await play.step(*(call("yahoo-finance/get_stock_info", {"ticker": ticker}) for ticker in listed))
        infos = {ticker: json.loads(text) for ticker, text in zip(listed, texts, strict=True)}
        dearest = sorted(listed, key=lambda ticker: -infos[ticker]["currentPrice"])[:2]
        texts = await play.step(*(_history(ticker, start, end) for ticker in dearest))
        growths = {ticker: _growth(json.loads(text), start, end) for ticker, text in zip(dearest, texts, strict=True)}
        best = max(dearest, key=lambda ticker: growths[ticker])
        other = next(ticker for ticker in dearest if ticker != best)
        name = infos[best]["shortName"]
        (text,) = await play.step(
            call(
                "yahoo-finance/get_recommendations",
                {"ticker": best, "recommendation_type": "upgrades_downgrades", "months_back": months},
            )
        )
        ratings = json.loads(text)
        last = [rating for rating in ratings if rating["GradeDate"][:10] == ratings[0]["GradeDate"][:10]]
        figure = f"{abs(growths[best]):.2f}"
        label = f"{best} {growths[best]:+.2f}%"
        await play.step(
            call(
                "imagesorcery-mcp/draw_texts",
                {"input_path": path, "texts": [_lettering(label, composition)]},
                free=("output_path",),
            )
        )
        return Solution(
            wording=f"Read the tickers in {path}, find the two with the highest currentPrice, compare their closes of {start} and {end}, "
            f"read the upgrades and downgrades of the better over {months} months and draw its growth into the empty field.",
            answer=f"The two dearest are {dearest[0]} and {dearest[1]}. {name} ({best}) did better: {growths[best]:+.2f}% against "
            f"{growths[other]:+.2f}% for {other}. The latest rating is {ratings[0]['ToGrade']} by {ratings[0]['Firm']}. I wrote {label} "
            "into the empty field.",
            checks=(
                AnswerNames(
                    all_of=(
                        (best, name),
                        tuple(rating["Firm"] for rating in last),
                        tuple(rating["ToGrade"] for rating in last),
                    )
                ),
                AnswerNames(all_of=((figure,),)),
                PictureChanged(
                    source=path.removeprefix("./"), pattern="*.png", boxes=(composition.facts["field"],), margin=16
                ),
                CallMade(tool="imagesorcery-mcp/draw_texts", containing=figure),
            ),
            given={"start": _said(start), "end": _said(end), "months": str(months)},
        )


def _window(rng: random.Random) -> tuple[date, date]:
    """Two days of trading, three to nine weeks apart: Tuesdays and Wednesdays that are no holidays."""
    start = date(2025, 1, 7) + timedelta(weeks=rng.randint(0, 32), days=rng.randint(0, 1))
    return start, start + timedelta(weeks=rng.randint(3, 8))


def _history(ticker: str, start: date, end: date) -> ReferenceCall:
    """The call for the days from `start` to `end`, whose end is not included on that server."""
    after = [(end + timedelta(days=days)).isoformat() for days in range(1, 5)]
    arguments = {"ticker": ticker, "start_date": start.isoformat(), "end_date": after[0], "interval": "1d"}
    before = [(start - timedelta(days=days)).isoformat() for days in range(4)]
    either: dict[str, list[Any]] = {"start_date": before, "end_date": after, "interval": ["1d", None]}
    return call("yahoo-finance/get_historical_stock_prices", arguments, either=either)


def _growth(rows: list[dict[str, Any]], start: date, end: date) -> float:
    closes = {row["Date"][:10]: row["Close"] for row in rows}
    first, last = closes[start.isoformat()], closes[end.isoformat()]
    return round(float(last / first - 1) * 100, 2)


def _lettering(label: str, composition: Composition) -> dict[str, Any]:
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
