"""Encoders: texts in, unit vectors out.

The Protocol is the seam. `MiniLM` (in `minilm`) is the default and needs only numpy; `SentenceTransformerEncoder`
is the reference for it and the door to any other model. `CachedEncoder` (in `cache`) wraps either so that no text is
encoded twice. Nothing heavy is imported before an encoder is opened.
"""

import hashlib
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from m3bench.server.scoring.weights import find
from m3bench.tasks.errors import UserError
from m3bench.tasks.lazy_modules import LazyModule

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from m3bench.server.scoring import cache as caches
    from m3bench.server.scoring import minilm

    Floats = npt.NDArray[np.float32]
else:
    # These need numpy, which a server does not load before it has something to encode.
    caches = LazyModule("m3bench.server.scoring.cache")
    minilm = LazyModule("m3bench.server.scoring.minilm")

MINILM = "minilm"
"""The built-in encoder: all-MiniLM-L6-v2 without torch."""
LIBRARY = "sentence-transformers"
"""Alone, the same weights through the library; with `:MODEL` behind it, any other model."""


class Encoder(Protocol):
    """Turns texts into vectors whose products are cosines."""

    @property
    def id(self) -> str:
        """Names weights and settings: vectors with the same id are interchangeable."""
        ...

    def key(self, text: str) -> str:
        """What the encoder sees of a text: equal keys mean equal vectors. Cheap beside encoding."""
        ...

    def encode(self, texts: Sequence[str]) -> "Floats":
        """One row of unit length per text."""
        ...


class SentenceTransformerEncoder:
    """Any model that sentence-transformers can load, by name or path."""

    def __init__(self, model: str) -> None:
        self._name = model
        self._loaded: Any = None
        self._id: str | None = None

    @property
    def id(self) -> str:
        """Name and hash of the parameters; loads the model."""
        if self._id is None:
            model = self._model()
            digest = hashlib.sha256()
            for name, tensor in sorted(model.state_dict().items()):
                digest.update(name.encode())
                digest.update(tensor.detach().cpu().contiguous().numpy().tobytes())
            self._id = f"{Path(self._name).name}:{digest.hexdigest()[:16]}:{model.max_seq_length}:torch"
        return self._id

    def key(self, text: str) -> str:
        """The text itself: nothing is known of what a model ignores."""
        return text

    def encode(self, texts: Sequence[str]) -> "Floats":
        """One row of unit length per text."""
        vectors: Floats = self._model().encode(
            list(texts), normalize_embeddings=True, convert_to_numpy=True, show_progress_bar=False
        )
        return vectors

    def _model(self) -> Any:
        if self._loaded is None:
            try:
                # An optional package, and one that takes seconds to load.
                from sentence_transformers import SentenceTransformer
            except ImportError:
                raise UserError(
                    f"The encoder {self._name!r} needs sentence-transformers: "
                    "pip install 'm3bench[sentence-transformers]'"
                ) from None
            try:
                self._loaded = SentenceTransformer(self._name, device="cpu")
            except (OSError, ValueError, RuntimeError) as error:
                reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
                raise UserError(f"sentence-transformers cannot load {self._name!r}: {reason}") from error
        return self._loaded


def check_encoder(name: str) -> None:
    """Raise if the name of an encoder is wrong, before anything is scored with it.

    Raises:
        UserError: There is no such encoder, or its package is missing.
    """
    library, colon, model = name.partition(":")
    if name == MINILM:
        return
    if library != LIBRARY or (colon and not model):
        raise UserError(f"There is no encoder {name!r}: choose {MINILM}, {LIBRARY} or {LIBRARY}:MODEL.")
    if find_spec("sentence_transformers") is None:
        raise UserError(f"The encoder {name!r} needs {LIBRARY}: pip install 'm3bench[{LIBRARY}]'")


def open_encoder(
    name: str = MINILM,
    *,
    weights: Path | str | None = None,
    cache: "caches.VectorCache | None" = None,
    report: Callable[[int, int], None] | None = None,
) -> "caches.CachedEncoder":
    """The encoder to score with.

    Args:
        name: `minilm`, `sentence-transformers`, or `sentence-transformers:MODEL` with the name or path of a model.
        weights: Folder of the built-in model's weights, instead of looking for them.
        cache: Where vectors are kept between processes.
        report: Told how far a download of the weights is, in bytes so far and in all.
    """
    check_encoder(name)
    if name != MINILM:
        model = name.partition(":")[2] or str(find(weights, report=report).folder)
        return caches.CachedEncoder(SentenceTransformerEncoder(model), cache)
    return caches.CachedEncoder(minilm.MiniLM(lambda: find(weights, report=report)), cache)
