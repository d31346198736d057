"""Texts of every kind an encoder may meet, made up by a seed."""

import json
import random

_ALPHABETS = (
    "abcdefghijklmnopqrstuvwxyz",
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
    "àéîõüçñßøåÄÖÜŁŞğİı",
    "αβγδεζηθικλμνξοπρσςτυφχψωΑΒΓΔΣΩ",
    "абвгдежзийклмнопрстуфхцчшщъыьэюя",
    "ابتثجحخدذرزسشصضطظعغفقكلمنهوي",
    "अआइईउऊकखगघचछजझटठडढणतथदधनपफबभम",
    "日本語漢字中文字符测试電車東京天気",
    "가나다라마바사아자차카타파하한국어",
    "😀🍎🚲🗺️⚡🦉",
    " \t\n\r\u00a0\u2003\u200b\u0301\ufeff\x07\x1b",
    "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~“”…—«»¿",
)
_WORDS = (
    "search", "Restaurants", "near", "lighthouse", "price", "weather", "Zürich", "naïve", "O'Hare", "3.14",
    "2025-01-03", "media/picture_01.png", "https://example.org/a?b=c", "amazon.com", "[SEP]", "[MASK]",
    "ＦＵＬＬ", "e\u0301", "ﬁne", "x" * 120,
)  # fmt: skip


def varied_texts(count: int, seed: int = 0) -> list[str]:
    """JSON, words, scripts, noise, the empty text, and a few of 5000 characters."""
    source = random.Random(seed)
    texts = ["", " ", "null", "{}", "\u0301", "[SEP]" * 10, "a" * 5000, "日本 " * 1700, "word, " * 900]
    texts += [" ".join(source.choices(_WORDS, k=700))[:5000] for _ in range(3)]
    makers = (_json, _json, _json, _words, _scripts, _noise)
    while len(texts) < count:
        texts.append(source.choice(makers)(source))
    return texts


def _json(source: random.Random) -> str:
    keys = source.sample(("query", "n", "title", "location", "units", "path", "ids", "filled"), source.randint(1, 3))
    values = (
        lambda: " ".join(source.choices(_WORDS[:12], k=source.randint(1, 2))),
        lambda: source.randint(-5, 2000),
        lambda: round(source.uniform(-180, 180), 4),
        lambda: source.choice((True, False, None)),
        lambda: [source.randint(0, 9) for _ in range(3)],
    )
    data = {key: source.choice(values)() for key in keys}
    return json.dumps(data, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _words(source: random.Random) -> str:
    return " ".join(source.choices(_WORDS, k=source.randint(1, 4)))


def _scripts(source: random.Random) -> str:
    alphabets = source.sample(_ALPHABETS, 2)
    return "".join(source.choice(source.choice(alphabets)) for _ in range(source.randint(1, 12)))


def _noise(source: random.Random) -> str:
    return "".join(source.choice(source.choice(_ALPHABETS)) for _ in range(source.randint(1, 10)))
