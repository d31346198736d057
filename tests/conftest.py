"""What holds for all tests."""

import os

from hypothesis import settings

# On a busy machine the threads of BLAS and torch spend their time waiting for each other.
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(name, "1")

# A shared machine makes any single example slow at times; that is not a failure.
settings.register_profile("m3bench", deadline=None)
settings.load_profile("m3bench")
