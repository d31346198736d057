"""The `math` server: arithmetic, statistics and trigonometry on JavaScript numbers.

The public server is JavaScript, so every number is a double and is printed as JavaScript prints it: `9.5`,
`3`, `1e+21`, `Infinity`, `NaN`.
"""

import math
from collections import Counter
from collections.abc import Callable

from m3bench.sandboxes.toolserver import ToolServer

server = ToolServer("math", error="MCP error -32602: {message}")


def number_text(value: float) -> str:
    """A double as JavaScript prints it."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if value == 0:
        return "0"
    mantissa, _, exponent = f"{value:e}".partition("e")
    digits, _, power = repr(float(value)).partition("e")
    if abs(value) >= 1e21 or abs(value) < 1e-6:
        if not power:
            digits = mantissa.rstrip("0").rstrip(".")
        return f"{digits.removesuffix('.0')}e{int(power or exponent):+d}"
    if not power:
        return digits.removesuffix(".0")
    return (
        f"{value:.0f}" if abs(value) >= 1 else f"{value:.{len(digits.replace('-', '')) + abs(int(power))}f}".rstrip("0")
    )


@server.tool
async def add(firstNumber: float, secondNumber: float) -> str:
    return number_text(_double(firstNumber) + _double(secondNumber))


@server.tool
async def subtract(minuend: float, subtrahend: float) -> str:
    return number_text(_double(minuend) - _double(subtrahend))


@server.tool
async def multiply(firstNumber: float, SecondNumber: float) -> str:
    return number_text(_double(firstNumber) * _double(SecondNumber))


@server.tool
async def division(numerator: float, denominator: float) -> str:
    return number_text(_divide(_double(numerator), _double(denominator)))


@server.tool
async def modulo(numerator: float, denominator: float) -> str:
    numerator, denominator = _double(numerator), _double(denominator)
    if denominator == 0 or math.isinf(numerator):
        return "NaN"
    return number_text(math.fmod(numerator, denominator))


@server.tool
async def sum_(numbers: list[float]) -> str:
    return number_text(_total(numbers))


@server.tool
async def mean(numbers: list[float]) -> str:
    return number_text(_divide(_total(numbers), len(numbers)))


@server.tool
async def median(numbers: list[float]) -> str:
    ordered = sorted(map(_double, numbers))
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return number_text(ordered[middle])
    return number_text((ordered[middle - 1] + ordered[middle]) / 2)


@server.tool
async def mode(numbers: list[float]) -> str:
    counts = Counter(map(_double, numbers))
    most = max(counts.values(), default=0)
    winners = ", ".join(number_text(value) for value, count in counts.items() if count == most)
    return f"Entries ({winners}) appeared {most} times"


@server.tool
async def min_(numbers: list[float]) -> str:
    return number_text(min(map(_double, numbers), default=math.inf))


@server.tool
async def max_(numbers: list[float]) -> str:
    return number_text(max(map(_double, numbers), default=-math.inf))


@server.tool
async def floor(number: float) -> str:
    return number_text(_whole(math.floor, number))


@server.tool
async def ceiling(number: float) -> str:
    return number_text(_whole(math.ceil, number))


@server.tool
async def round_(number: float) -> str:
    # JavaScript rounds halves towards positive infinity.
    return number_text(_whole(lambda value: math.floor(value) + (value - math.floor(value) >= 0.5), number))


@server.tool
async def sin(number: float) -> str:
    return number_text(_real(math.sin, number))


@server.tool
async def arcsin(number: float) -> str:
    return number_text(_real(math.asin, number))


@server.tool
async def cos(number: float) -> str:
    return number_text(_real(math.cos, number))


@server.tool
async def arccos(number: float) -> str:
    return number_text(_real(math.acos, number))


@server.tool
async def tan(number: float) -> str:
    return number_text(_real(math.tan, number))


@server.tool
async def arctan(number: float) -> str:
    return number_text(_real(math.atan, number))


@server.tool
async def radiansToDegrees(number: float) -> str:
    return number_text(_double(number) * (180 / math.pi))


@server.tool
async def degreesToRadians(number: float) -> str:
    return number_text(_double(number) * (math.pi / 180))


def _double(value: float) -> float:
    """A JSON number as JavaScript reads it: one too large for a double is infinite."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _total(numbers: list[float]) -> float:
    # Left to right, as JavaScript adds: sum() compensates for rounding and would differ in the last digit.
    total = 0.0
    for value in numbers:
        total += _double(value)
    return total


def _divide(numerator: float, denominator: float) -> float:
    if denominator != 0:
        return numerator / denominator
    if numerator == 0 or math.isnan(numerator):
        return math.nan
    return math.copysign(math.inf, numerator) * math.copysign(1.0, denominator)


def _whole(function: Callable[[float], float], number: float) -> float:
    value = _double(number)
    return value if math.isinf(value) else float(function(value))


def _real(function: Callable[[float], float], number: float) -> float:
    try:
        return function(_double(number))
    except ValueError:
        return math.nan
