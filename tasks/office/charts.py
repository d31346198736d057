"""Charts."""
from dataclasses import dataclass, field
from typing import Any
@dataclass
class Drawn:
    marks: list = field(default_factory=list)
    unknown: list = field(default_factory=list)
def drawn(root: Any, box: Any, owner: str, theme: Any, size: float) -> Drawn:
    return Drawn(unknown=['chart'])
