"""Writes the reference models and tensors of this folder, and index.json.

    python generate.py [--check] [MODEL ...]

writes everything, or only the models named and their entries of the index.
With --check it fails if a file is not what the index said before, or if the
index says another thing of it. Run it with the interpreter that setup.sh prints.
"""

import json
import shutil
import sys

import common  # first: it settles torch's arithmetic
import decoders
import encoders
import experts
import images
import layernorm
import qwen3_5
import speech
import statespace

MODELS = {
    "qwen3_5_text": qwen3_5.text,
    "qwen3_5_depth": qwen3_5.depth,
    "qwen3_5_vl": qwen3_5.vision,
    "qwen3_vl": qwen3_5.deepstack,
    **decoders.DECODERS,
    **layernorm.LAYER_NORM,
    **statespace.STATE_SPACE,
    **experts.EXPERTS,
    **encoders.ENCODERS,
    **speech.SPEECH,
    **images.IMAGES,
}


def scripts_hash():
    """One hash over what the tensors come from: the scripts and the package list."""
    sources = sorted([*common.FOLDER.glob("*.py"), common.FOLDER / "requirements.txt"])
    return common.hashlib.sha256("".join(common.sha256(path) for path in sources).encode()).hexdigest()


def make(name):
    """Generates one model anew; returns its entry of the index."""
    folder = common.FOLDER / name
    shutil.rmtree(folder, ignore_errors=True)
    model = MODELS[name]()
    cases = [case.write(folder, name) for case in model.pop("cases")]
    files = sorted(folder.iterdir())
    size = sum(path.stat().st_size for path in files)
    print(f"{name}: {len(cases)} cases, {size / 1e6:.2f} MB")
    return model | {
        "config": f"{name}/config.json",
        "weights": f"{name}/model.safetensors",
        "cases": cases,
        "sha256": {f"{name}/{path.name}": common.sha256(path) for path in files},
    }


def main():
    check = "--check" in sys.argv[1:]
    chosen = [name for name in sys.argv[1:] if name != "--check"] or list(MODELS)
    if unknown := set(chosen) - set(MODELS):
        sys.exit(f"no such model: {', '.join(sorted(unknown))}; there are {', '.join(MODELS)}")
    path, entries = common.FOLDER / "index.json", {}
    if path.exists():
        entries = {model["name"]: model for model in json.loads(path.read_text())["models"]}
    before = dict(entries)
    entries |= {name: make(name) for name in chosen}
    index = {
        "format": 1,
        "provenance": common.provenance() | {"scripts_sha256": scripts_hash()},
        "models": [entries[name] for name in MODELS if name in entries],
    }
    common.write_json(path, index)
    changed = [line for name in chosen for line in differences(before.get(name), entries[name])]
    if check and changed:
        sys.exit("not the same as before:\n  " + "\n  ".join(changed))


def differences(before, entry):
    """What of a model's entry of the index is new: files by their digest, and the entry itself."""
    if before is None:
        return [entry["name"]]
    files = sorted(f for f, digest in entry["sha256"].items() if before["sha256"].get(f) != digest)
    return files or ([] if before == entry else [f"index.json: {entry['name']}"])


if __name__ == "__main__":
    main()
