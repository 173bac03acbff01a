"""FarmHash64 (farmhashna::Hash64, Google's Fingerprint64) of many texts at once, without TensorFlow.

The same numbers as tf.strings.to_hash_bucket_fast, so that a SavedModel can hash in its graph. Written after
https://github.com/google/farmhash (MIT licence); all arithmetic is modulo 2^64, which numpy's uint64 is.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

U = np.uint64
K0, K1, K2 = U(0xC3A5C85C97CB3127), U(0xB492B66FBE98F273), U(0x9AE16A3B2F90404F)
Words = Any  # an array of uint64
PADDING = 64  # bytes after the last text, so that a word may be read beyond its end


def fetch64(data: Words, at: Words) -> Words:
    return sum((data[at + U(i)].astype(U) << U(8 * i) for i in range(8)), start=U(0))


def fetch32(data: Words, at: Words) -> Words:
    return sum((data[at + U(i)].astype(U) << U(8 * i) for i in range(4)), start=U(0))


def rotate(value: Words, shift: int) -> Words:
    return (value >> U(shift)) | (value << U(64 - shift))


def mix(value: Words) -> Words:
    return value ^ (value >> U(47))


def hash16(u: Words, v: Words, mul: Words) -> Words:
    a = mix((u ^ v) * mul)
    return mix((v ^ a) * mul) * mul


def to_3(data: Words, at: Words, length: Words) -> Words:
    a, b, c = (data[at + each].astype(U) for each in (U(0), length >> U(1), length - U(1)))
    y = (a + (b << U(8))) & U(0xFFFFFFFF)
    z = (length + (c << U(2))) & U(0xFFFFFFFF)
    return mix(y * K2 ^ z * K0) * K2


def to_7(data: Words, at: Words, length: Words) -> Words:
    mul = K2 + length * U(2)
    return hash16(length + (fetch32(data, at) << U(3)), fetch32(data, at + length - U(4)), mul)


def to_16(data: Words, at: Words, length: Words) -> Words:
    mul = K2 + length * U(2)
    a = fetch64(data, at) + K2
    b = fetch64(data, at + length - U(8))
    c = rotate(b, 37) * mul + a
    d = (rotate(a, 25) + b) * mul
    return hash16(c, d, mul)


def to_32(data: Words, at: Words, length: Words) -> Words:
    mul = K2 + length * U(2)
    a = fetch64(data, at) * K1
    b = fetch64(data, at + U(8))
    c = fetch64(data, at + length - U(8)) * mul
    d = fetch64(data, at + length - U(16)) * K2
    return hash16(rotate(a + b, 43) + rotate(c, 30) + d, a + rotate(b + K2, 18) + c, mul)


def to_64(data: Words, at: Words, length: Words) -> Words:
    mul = K2 + length * U(2)
    a = fetch64(data, at) * K2
    b = fetch64(data, at + U(8))
    c = fetch64(data, at + length - U(8)) * mul
    d = fetch64(data, at + length - U(16)) * K2
    y = rotate(a + b, 43) + rotate(c, 30) + d
    z = hash16(y, a + rotate(b + K2, 18) + c, mul)
    e = fetch64(data, at + U(16)) * mul
    f = fetch64(data, at + U(24))
    g = (y + fetch64(data, at + length - U(32))) * mul
    h = (z + fetch64(data, at + length - U(24))) * mul
    return hash16(rotate(e + f, 43) + rotate(g, 30) + h, e + rotate(f + a, 18) + g, mul)


def weak(data: Words, at: Words, a: Words, b: Words) -> tuple[Words, Words]:
    w, x, y, z = (fetch64(data, at + U(8 * i)) for i in range(4))
    a = a + w
    b = rotate(b + a + z, 21)
    c = a
    a = a + x + y
    b = b + rotate(a, 44)
    return a + z, b + c


def beyond_64(data: Words, at: Words, length: Words) -> Words:
    """Texts of which all have the same number of 64-byte blocks."""
    seed = U(81)
    x = np.full(len(at), seed)
    y = np.full(len(at), seed * K1 + U(113))
    z = mix(y * K2 + U(113)) * K2
    v0 = v1 = w0 = w1 = np.zeros(len(at), U)
    x = x * K2 + fetch64(data, at)
    last = at + length - U(64)
    for _ in range(int((length[0] - U(1)) // U(64))):
        x = rotate(x + y + v0 + fetch64(data, at + U(8)), 37) * K1
        y = rotate(y + v1 + fetch64(data, at + U(48)), 42) * K1
        x = x ^ w1
        y = y + v0 + fetch64(data, at + U(40))
        z = rotate(z + w0, 33) * K1
        v0, v1 = weak(data, at, v1 * K1, x + w0)
        w0, w1 = weak(data, at + U(32), z + w1, y + fetch64(data, at + U(16)))
        z, x = x, z
        at = at + U(64)
    mul = K1 + ((z & U(0xFF)) << U(1))
    at = last
    w0 = w0 + ((length - U(1)) & U(63))
    v0 = v0 + w0
    w0 = w0 + v0
    x = rotate(x + y + v0 + fetch64(data, at + U(8)), 37) * mul
    y = rotate(y + v1 + fetch64(data, at + U(48)), 42) * mul
    x = x ^ (w1 * U(9))
    y = y + v0 * U(9) + fetch64(data, at + U(40))
    z = rotate(z + w0, 33) * mul
    v0, v1 = weak(data, at, v1 * mul, x + w0)
    w0, w1 = weak(data, at + U(32), z + w1, y + fetch64(data, at + U(16)))
    z, x = x, z
    return hash16(hash16(v0, w0, mul) + mix(y) * K0 + z, hash16(v1, w1, mul) + x, mul)


def fingerprints(texts: Sequence[bytes]) -> np.ndarray:
    """The 64-bit fingerprints, uint64."""
    lengths = np.array([len(each) for each in texts], U)
    data = np.frombuffer(b"".join(texts) + bytes(PADDING), np.uint8)
    starts = np.concatenate((np.zeros(1, U), np.cumsum(lengths, dtype=U)))[:-1]
    result = np.full(len(texts), K2)  # the empty text's
    with np.errstate(over="ignore"):
        for low, high, function in (
            (1, 3, to_3),
            (4, 7, to_7),
            (8, 16, to_16),
            (17, 32, to_32),
            (33, 64, to_64),
        ):
            these = np.flatnonzero((lengths >= low) & (lengths <= high))
            if len(these):
                result[these] = function(data, starts[these], lengths[these])
        long = np.flatnonzero(lengths > 64)
        blocks = (lengths[long] - U(1)) // U(64)
        for number in np.unique(blocks):
            these = long[blocks == number]
            result[these] = beyond_64(data, starts[these], lengths[these])
    return result


def buckets_of(texts: Sequence[str], buckets: int) -> np.ndarray:
    """The bucket of each text, int64 in [0, buckets)."""
    if not texts:
        return np.zeros(0, np.int64)
    return (fingerprints([each.encode() for each in texts]) % U(buckets)).astype(np.int64)


def hash_bucket(text: str, buckets: int) -> int:
    """tf.strings.to_hash_bucket_fast(text, buckets)."""
    return int(buckets_of([text], buckets)[0])
