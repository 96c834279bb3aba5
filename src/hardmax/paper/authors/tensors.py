"""Arrays from the members of an archive: every number that a tensor means must be there, and be finite."""

from math import prod

import numpy as np

from hardmax._validation import InputError
from hardmax.paper.authors.archive import WISH
from hardmax.paper.authors.records import Tensor

_ORDERS = {b"little": "<f4", b"big": ">f4"}
_BYTES = 4  # of a number: torch.FloatStorage is the only storage that is read


def read_order(members: dict[str, bytes], name: str) -> str:
    """The dtype of the numbers; archives that do not say their byte order are older, and little-endian."""
    said = members.get("byteorder", b"little")
    if said not in _ORDERS:
        raise InputError(f"{name} has the byte order {said!r:.40}: expected b'little' or b'big'. Copy it again.")
    return _ORDERS[said]


def read_tensor(tensor: Tensor, members: dict[str, bytes], dtype: str, name: str) -> np.ndarray:
    """The numbers of a tensor as float32; `name` says in errors whose they are."""
    storage = tensor.storage
    data = members.get(f"data/{storage.key}")
    if data is None:
        raise InputError(f"{name}: its numbers (data/{storage.key}) are not in the file. Copy it again.")
    if len(data) != _BYTES * storage.count:
        size = f"{len(data):,} bytes where {storage.count:,} numbers of {_BYTES} belong"
        raise InputError(f"{name}: data/{storage.key} has {size}. Copy the file again.")
    if 0 in tensor.shape:
        raise InputError(f"{name} has shape {tensor.shape}, and so no numbers: {WISH}.")
    last = tensor.offset + sum(
        (size - 1) * stride for size, stride in zip(tensor.shape, tensor.strides, strict=True)
    )  # fmt: skip
    # A stride of 0 would make a large array of few numbers.
    if last >= storage.count or prod(tensor.shape) > storage.count:
        raise InputError(f"{name} has numbers outside of data/{storage.key}: {WISH}.")
    numbers = np.frombuffer(data, dtype)[tensor.offset :]
    steps = [_BYTES * stride for stride in tensor.strides]
    array = np.lib.stride_tricks.as_strided(numbers, tensor.shape, steps).astype(np.float32)
    if not np.isfinite(array).all():
        place = tuple(np.argwhere(~np.isfinite(array))[0].tolist())
        raise InputError(f"{name} is {array[place]} at {place}: expected finite numbers.")
    return array
