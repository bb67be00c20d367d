#!/usr/bin/env python3
"""Writes verdicts.json: what safetensors 0.8, the reference implementation,
says about each of a list of files."""
import json
import os
import struct

import safetensors

BITS = {"BOOL": 8, "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6, "U8": 8, "I8": 8, "F8_E5M2": 8, "F8_E4M3": 8,
        "F8_E8M0": 8, "F8_E4M3FNUZ": 8, "F8_E5M2FNUZ": 8, "I16": 16, "U16": 16, "F16": 16, "BF16": 16,
        "I32": 32, "U32": 32, "F32": 32, "C64": 64, "F64": 64, "I64": 64, "U64": 64,
        "C128": 128, "I4": 4, "U4": 4, "F8": 8, "f32": 32, "": 8}


def tensor(dtype, shape, begin, end, more=""):
    return '{"dtype":"%s","shape":%s,"data_offsets":[%d,%d]%s}' % (dtype, json.dumps(shape), begin, end, more)


A = '"a":' + tensor("U8", [4], 0, 4)
MAX = 2**63 - 1


def cases():
    """Yields name, header, bytes of data."""
    for dtype, bits in BITS.items():
        yield "dtype " + dtype, '{"a":%s}' % tensor(dtype, [8], 0, bits), bits
    yield "scalar", '{"a":%s}' % tensor("F32", [], 0, 4), 4
    yield "empty tensor", '{"z":%s,%s}' % (tensor("F32", [0, 3], 0, 0), A), 4
    yield "empty tensor at the end", '{%s,"z":%s}' % (A, tensor("F32", [0], 4, 4)), 4
    yield "any order", '{"b":%s,%s}' % (tensor("U8", [2], 4, 6), A), 6
    yield "no tensors", "{}", 0
    yield "no tensors, data", "{}", 4
    yield "padded", "{%s}    " % A, 4
    yield "white space before", " {%s}" % A, 4
    yield "escaped name", '{"\\u0061\\"":%s}' % tensor("U8", [4], 0, 4), 4
    yield "empty name", '{"":%s}' % tensor("U8", [4], 0, 4), 4
    yield "metadata", '{"__metadata__":{"format":"pt"},%s}' % A, 4
    yield "metadata null", '{"__metadata__":null,%s}' % A, 4
    yield "metadata number", '{"__metadata__":{"a":1},%s}' % A, 4
    yield "metadata list", '{"__metadata__":[],%s}' % A, 4
    yield "hole at the start", '{"a":%s}' % tensor("U8", [4], 2, 6), 6
    yield "hole", '{%s,"b":%s}' % (A, tensor("U8", [2], 6, 8)), 8
    yield "overlap", '{%s,"b":%s}' % (A, tensor("U8", [4], 2, 6)), 6
    yield "same bytes", '{%s,"b":%s}' % (A, tensor("U8", [4], 0, 4)), 4
    yield "trailing bytes", "{%s}" % A, 6
    yield "truncated", "{%s}" % A, 3
    yield "reversed offsets", '{"a":%s}' % tensor("U8", [4], 4, 0), 4
    yield "shape and length differ", '{"a":%s}' % tensor("F16", [4], 0, 4), 4
    yield "half a byte", '{"a":%s}' % tensor("F4", [3], 0, 2), 2
    yield "overflow", '{"a":%s}' % tensor("F32", [MAX, MAX], 0, 4), 4
    yield "negative dim", '{"a":%s}' % tensor("U8", [-4], 0, 4), 4
    yield "float dim", '{"a":%s}' % tensor("U8", [4.0], 0, 4), 4
    yield "null dim", '{"a":%s}' % tensor("U8", [None], 0, 4), 4
    yield "huge dim", '{"a":%s}' % tensor("U8", [2**64], 0, 4), 4
    yield "three offsets", '{"a":{"dtype":"U8","shape":[4],"data_offsets":[0,2,4]}}', 4
    yield "missing key", '{"a":{"dtype":"U8","shape":[4]}}', 4
    yield "entry is a list", '{"a":[]}', 0
    yield "header is a list", "[]", 0
    yield "empty header", "", 0
    yield "no JSON", "hello", 0
    yield "two documents", "{}{}", 0
    yield "trailing comma", "{%s,}" % A, 4
    yield "comment", "{%s/**/}" % A, 4
    yield "key twice in an entry", '{"a":{"dtype":"U8","dtype":"U8","shape":[4],"data_offsets":[0,4]}}', 4
    # Accepted there, refused here:
    yield "stricter: tensor twice", "{%s,%s}" % (A, A), 4
    yield "stricter: other key in an entry", '{"a":%s}' % tensor("U8", [4], 0, 4, ',"scale":2'), 4


def main():
    out = []
    for name, header, size in cases():
        raw = header.encode()
        try:
            safetensors.deserialize(struct.pack("<Q", len(raw)) + raw + bytes(size))
            error = ""
        except safetensors.SafetensorError as e:
            error = str(e).removeprefix("Error while deserializing: ")
        out.append({"name": name, "header": header, "data": size, "error": error})
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "verdicts.json")
    with open(path, "w", encoding="utf-8") as f:
        json.dump(out, f, indent=1, ensure_ascii=False)
        f.write("\n")
    print(len(out), "files,", sum(not x["error"] for x in out), "accepted")


if __name__ == "__main__":
    main()
