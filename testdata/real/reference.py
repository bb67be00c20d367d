"""Writes what the reference makes of a real checkpoint of an encoder, for real sentences.

    python reference.py CHECKPOINT OUT

CHECKPOINT is a directory with config.json, model.safetensors and the tokenizer's files; OUT is a directory, into which
one file a batch of sentences.txt goes, in the form of testdata/reference. Run it with the interpreter that
testdata/reference/setup.sh prints.
"""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "reference"))

from common import Case, array, run_all  # first: it settles torch's arithmetic

import numpy as np
import torch
import transformers


def batches():
    """The paragraphs of sentences.txt: {name: [sentence, …]}; the first line of one is its name."""
    paragraphs = [p.strip().splitlines() for p in (HERE / "sentences.txt").read_text().split("\n\n")]
    return {lines[0].strip("# "): lines[1:] for lines in paragraphs}


def encode(checkpoint, name, sentences):
    """The case of one batch: one call, every row padded on the right to the longest."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(checkpoint)
    tokens = tokenizer(sentences, padding=True, truncation=True, max_length=512, return_tensors="np")
    given = {key: tokens[key].astype(np.int64) for key in ("input_ids", "attention_mask", "token_type_ids")}
    seen = given["attention_mask"].astype(bool)[:, :, None]

    def load(dtype, attention):
        model = transformers.BertModel.from_pretrained(checkpoint, dtype=dtype, attn_implementation=attention, add_pooling_layer=False)
        return model.eval()

    def play(model, oracle):
        out = model(**{key: torch.from_numpy(value) for key, value in given.items()})
        return {"model": {"last_hidden_state": array(out.last_hidden_state)}}

    columns = given["input_ids"].shape[1]
    case = Case(name, f"{len(sentences)} sentences in {columns} columns, {int(seen.sum())} tokens")
    case.step("encode", ["model"], run_all(load, play), {"model": given}, lambda _: seen, {"last_hidden_state"})
    return case


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    checkpoint, out = sys.argv[1], pathlib.Path(sys.argv[2])
    for name, sentences in batches().items():
        case = encode(checkpoint, name, sentences)
        case.write(out, pathlib.Path(checkpoint).name)
        print(f"{name}: {case.description}")


if __name__ == "__main__":
    main()
