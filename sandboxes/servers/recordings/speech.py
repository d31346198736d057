"""Writes down what is said, with PocketSphinx and the English model that it brings.

It is an old engine and makes mistakes. Told which words may occur, it makes few: then each passage between two pauses
is heard as one or more of them.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from m3bench.sandboxes.servers.recordings.files import RATE, library
from m3bench.sandboxes.servers.recordings.tones import passages

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Samples = NDArray[np.float64]

_MARGIN = RATE // 10
"""Samples around a passage that are heard with it."""
_GRAMMAR = "words"
_WEIGHTS = {"lw": 1.0, "wip": 1e-10, "silprob": 0.3}
"""Make silence likely and a word more than is needed unlikely: else breath is heard as `eight`."""


@dataclass(frozen=True, kw_only=True)
class Said:
    """What was heard between two pauses."""

    start: float
    end: float
    text: str


def transcribed(samples: "Samples", words: Sequence[str]) -> tuple[list[Said], list[str]]:
    """What is said, and those of the words that the engine has no sound for.

    Args:
        samples: The sound.
        words: Words and phrases that may occur; any when empty.
    """
    # A new engine each time: it adapts to what it heard before, and a call must not depend on earlier ones.
    if not words:
        return list(_heard(library("pocketsphinx").Decoder(samprate=RATE, loglevel="FATAL"), samples)), []
    engine = library("pocketsphinx").Decoder(samprate=RATE, loglevel="FATAL", lm=None, **_WEIGHTS)
    wanted = list(dict.fromkeys(" ".join(re.findall(r"[a-z']+", word.lower())) for word in words))
    known = [word for word in wanted if word and all(engine.lookup_word(part) for part in word.split())]
    unknown = [word for word in wanted if word and word not in known]
    if not known:
        return [], unknown
    engine.add_jsgf_string(_GRAMMAR, f"#JSGF V1.0; grammar g; public <g> = ( {' | '.join(known)} )+ ;")
    engine.activate_search(_GRAMMAR)
    return list(_heard(engine, samples)), unknown


def _heard(engine: Any, samples: "Samples") -> Iterator[Said]:
    import numpy as np

    # Perfect silence, which no microphone makes, confuses the engine.
    hiss = np.random.default_rng(0).normal(0, 0.001, len(samples))
    peak = max(float(np.abs(samples).max()), 1e-6)
    level = np.clip((samples * 0.7 / peak + hiss) * 32767, -32768, 32767).astype("<i2")
    for first, last in passages(samples):
        engine.start_utt()
        engine.process_raw(level[max(0, first - _MARGIN) : last + _MARGIN].tobytes(), full_utt=True)
        engine.end_utt()
        found = engine.hyp()
        if found is not None and found.hypstr:
            yield Said(start=round(first / RATE, 2), end=round(last / RATE, 2), text=found.hypstr)
