"""Tokens and vectors as the original libraries make them, kept so that a test can do without these.

`python -m tests.server.scoring.stored` writes `minilm.npz` anew; it needs sentence-transformers and tokenizers.
"""

from pathlib import Path

import numpy as np

from m3bench.server.scoring import weights
from m3bench.server.scoring.minilm import MAX_TOKENS
from tests.server.scoring.varied import varied_texts

FILE = Path(__file__).with_name("minilm.npz")

VECTORS_OF = varied_texts(60)
TOKENS_OF = varied_texts(300, seed=1)


def main() -> None:
    """Write the file."""
    from sentence_transformers import SentenceTransformer
    from tokenizers import Tokenizer

    folder = str(weights.find(download=False).folder)
    tokenizer = Tokenizer.from_file(f"{folder}/tokenizer.json")
    tokenizer.enable_truncation(MAX_TOKENS)
    tokenizer.no_padding()
    tokens = [tokenizer.encode(text).ids for text in TOKENS_OF]
    vectors = SentenceTransformer(folder, device="cpu").encode(VECTORS_OF, normalize_embeddings=True)
    np.savez_compressed(
        FILE, vectors=np.asarray(vectors, np.float32), tokens=np.array([id for ids in tokens for id in ids], np.uint16),
        ends=np.cumsum([len(ids) for ids in tokens]),
    )  # fmt: skip


if __name__ == "__main__":
    main()
