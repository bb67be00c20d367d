#!/usr/bin/env python3
"""Writes reference.bin.gz: what NumPy 2.4 and ml_dtypes 0.6 make of every
16-bit pattern, and of the 32- and 64-bit patterns at which rounding decides.

The file holds sections of little-endian words, in this order:

    f16 → f32, f64, bf16      results for the patterns 0 … 65535
    bf16 → f32, f64, f16      the same
    f32: n, then n inputs; results as f64, f16, bf16
    f64: n, then n inputs; results as f32, f16, bf16

n is a uint64. Each section but n holds the difference of each word to the one
before it (modulo the word size), which makes the file small. ml_dtypes converts f64 to bf16 by way of f32 and so rounds twice;
the f64 → bf16 results are therefore computed with exact integers here, and
compared with ml_dtypes where rounding to f32 is exact.
"""
import gzip
import os

import ml_dtypes
import numpy as np

F16, BF16 = np.float16, ml_dtypes.bfloat16
BITS = {np.dtype(F16): np.uint16, np.dtype(BF16): np.uint16,
        np.dtype(np.float32): np.uint32, np.dtype(np.float64): np.uint64}


def cast(bits, source, target):
    """Returns the bit patterns of the target values."""
    with np.errstate(all="ignore"):
        return bits.view(source).astype(target).view(BITS[np.dtype(target)])


def neighbours(bits16, source, wide):
    """Returns, for every value of a 16-bit format and every midpoint between two,
    the wide pattern itself and the ones next to it, in both signs."""
    values = cast(bits16, source, np.float64).view(np.float64)
    values = np.unique(values[np.isfinite(values) & (values >= 0)])
    middle = (values[1:] + values[:-1]) / 2
    largest = values[-1] + (values[-1] - values[-2]) / 2  # from here on: infinity
    exact = np.concatenate([values, middle, [largest]])
    with np.errstate(over="ignore"):
        bits = exact.astype(wide).view(BITS[np.dtype(wide)]).astype(np.uint64)
    bits = np.unique(np.concatenate([bits, bits + np.uint64(1), np.maximum(bits, 1) - np.uint64(1)]))
    sign = np.uint64(1) << np.uint64(8 * np.dtype(wide).itemsize - 1)
    return np.concatenate([bits, bits | sign])


def edges(wide):
    """Returns the input patterns for a wide format."""
    every = np.arange(65536, dtype=np.uint16)
    bits = 8 * np.dtype(wide).itemsize
    fraction = {32: 23, 64: 52}[bits]
    inf = ((1 << (bits - 1 - fraction)) - 1) << fraction
    nan = [inf | 1, inf | 1 << (fraction - 1), inf | 1 << (fraction - 10), inf | 1 << (fraction - 11),
           inf | 1 << (fraction - 7), inf | 1 << (fraction - 8), inf | 0x12345, inf | ((1 << fraction) - 1)]
    special = [0, 1, inf, inf - 1, (1 << fraction) - 1, 1 << fraction] + nan
    special = np.array(special + [s | 1 << (bits - 1) for s in special], np.uint64)
    random = np.random.default_rng(1).integers(0, 1 << bits, 4096, np.uint64, endpoint=False) \
        if bits == 32 else np.random.default_rng(1).integers(0, (1 << 64) - 1, 4096, np.uint64)
    parts = [special, random, neighbours(every, F16, wide)]
    # Every 7th bfloat16 keeps the file small; all exponents and signs remain.
    parts.append(neighbours(every[::7].copy(), BF16, wide))
    if bits == 64:  # what rounding twice gets wrong: just beside a midpoint
        parts += [neighbours(every[::7].copy(), BF16, np.float64) ^ np.uint64(1 << 20)]
    return np.unique(np.concatenate(parts)).astype(BITS[np.dtype(wide)])


def bf16_from_f64(bits):
    """Rounds one f64 pattern to bf16, once, to nearest even, with integers."""
    sign, exponent, fraction = bits >> 63 << 15, bits >> 52 & 0x7FF, bits & ((1 << 52) - 1)
    if exponent == 0x7FF:
        return sign | (0x7FC0 if fraction else 0x7F80)
    if exponent == 0:
        return sign
    significand = fraction | 1 << 52
    target = max(exponent - 1023 + 127, 1)          # biased exponent of the result, 1 for subnormals
    shift = 45 + target - (exponent - 1023 + 127)   # 45 = 52 - 7
    quotient, rest = significand >> shift, significand & ((1 << shift) - 1)
    half = 1 << (shift - 1)
    quotient += rest > half or (rest == half and quotient & 1)
    return sign | min(((target - 1) << 7) + quotient, 0x7F80)


def main():
    every = np.arange(65536, dtype=np.uint16)
    out = [cast(every, F16, t) for t in (np.float32, np.float64, BF16)]
    out += [cast(every, BF16, t) for t in (np.float32, np.float64, F16)]

    f32 = edges(np.float32)
    out += [np.array([len(f32)], np.uint64), f32]
    out += [cast(f32, np.float32, t) for t in (np.float64, F16, BF16)]

    f64 = edges(np.float64)
    exact = np.array([bf16_from_f64(int(b)) for b in f64], np.uint16)
    theirs = cast(f64, np.float64, BF16)
    through = cast(f64, np.float64, np.float32)
    same = cast(through, np.float32, np.float64) == f64
    assert (exact[same] == theirs[same]).all()
    assert (exact != theirs).any()
    out += [np.array([len(f64)], np.uint64), f64]
    out += [through, cast(f64, np.float64, F16), exact]

    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "reference.bin.gz")
    with open(path, "wb") as raw, gzip.GzipFile(fileobj=raw, mode="wb", mtime=0, filename="") as f:
        for a in out:
            words = np.diff(a, prepend=a.dtype.type(0))
            f.write(words.astype(a.dtype.newbyteorder("<")).tobytes())
    print(len(f32), "f32 and", len(f64), "f64 inputs,", os.path.getsize(path), "bytes")


if __name__ == "__main__":
    main()
