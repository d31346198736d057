"""What is one value, not several: what the items of a list and the cells of a table may be."""

from typing import Annotated, TypeAlias

from pydantic import Field as Setting

from m3bench.tasks.answers.codes import Code, Phone, Version
from m3bench.tasks.answers.moments import Date, Time
from m3bench.tasks.answers.names import Choice, Name, Text, YesNo
from m3bench.tasks.answers.places import Coordinate, Pair
from m3bench.tasks.answers.quantity import Integer, Money, Number

Single: TypeAlias = (
    Number | Integer | Money | Date | Time | Version | Phone | Code | Pair | Coordinate | Name | Choice | YesNo | Text
)

Item: TypeAlias = Annotated[Single, Setting(discriminator="type")]
