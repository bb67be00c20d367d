"""Writes published configurations as the pinned Transformers saves them: ../configs/saved/NAME.json.

    python saved_configs.py NAME ...

A checkpoint that is trained further and saved again gets such a file: other
keys, defaults written out, the rotary embedding in one object. NAME is a file
of ../configs, without its extension. Run it with the interpreter that setup.sh
prints.
"""

import json
import pathlib
import sys
import tempfile

import common  # first: it settles torch's arithmetic
import transformers

CONFIGS = common.FOLDER.parent / "configs"


def saved(name):
    published = json.loads((CONFIGS / f"{name}.json").read_text())
    (architecture,) = published["architectures"]
    keys = {key: value for key, value in published.items() if key != "model_type"}
    config = getattr(transformers, architecture).config_class(**keys)
    with tempfile.TemporaryDirectory() as folder:
        config.save_pretrained(folder)
        return json.loads(pathlib.Path(folder, "config.json").read_text())


for name in sys.argv[1:]:
    common.write_json(CONFIGS / "saved" / f"{name}.json", saved(name))
