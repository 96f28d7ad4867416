"""The type of an embedding, and its normalization."""

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float32]


def normalized(vector: npt.ArrayLike) -> Vector:
    """The vector scaled to length one, so that a dot product is the cosine."""
    values = np.asarray(vector, dtype=np.float32)
    length = float(np.linalg.norm(values))
    return values / np.float32(length) if length else values
