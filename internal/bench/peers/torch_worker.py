"""Runs a model of transformers with random weights, eager, on the CPU, for the benchmark: the protocol of ../worker.go.

usage: torch_worker.py CONFIG.json THREADS all|last

The last argument says of which tokens there are logits.
"""

import json
import sys
import time

begin = time.perf_counter()

import torch  # noqa: E402
from transformers import AutoConfig, AutoModelForCausalLM, DynamicCache  # noqa: E402


def status(field):
    with open("/proc/self/status") as f:
        for line in f:
            if line.startswith(field + ":"):
                return int(line.split()[1]) << 10
    return 0


def reset_peak():
    try:
        with open("/proc/self/clear_refs", "w") as f:
            f.write("5")
    except OSError:
        pass  # the peak is then that of the process's life


def answer(**fields):
    print(json.dumps(fields), flush=True)


class Shape:
    """Inputs of one shape: tokens, and the cache of those before them."""

    def __init__(self, model, sizes, kept):
        self.model, self.kept, self.past = model, kept, sizes.get("past", 0)
        batch = sizes["batch"]
        self.tokens = torch.arange(batch * sizes["sequence"]).reshape(batch, -1) * 7919 % 251
        self.cache = None
        if self.past:
            before = torch.arange(batch * self.past).reshape(batch, -1) * 7919 % 251
            self.cache = model(input_ids=before, use_cache=True).past_key_values

    def run(self):
        """One call. With a past the cache grows by what is run: a token a call, which changes no time that is seen."""
        cache = self.cache if self.past else DynamicCache(config=self.model.config)
        start, cpu = time.perf_counter(), time.process_time()
        self.model(input_ids=self.tokens, past_key_values=cache, use_cache=True, logits_to_keep=self.kept)
        return time.perf_counter() - start, time.process_time() - cpu


@torch.inference_mode()
def main(path, threads, logits):
    torch.set_num_threads(int(threads))
    torch.set_num_interop_threads(1)
    kept = 1 if logits == "last" else 0  # 0: all
    config = AutoConfig.for_model(**json.load(open(path)))
    config._attn_implementation = "eager"
    model = AutoModelForCausalLM.from_config(config, attn_implementation="eager", dtype=torch.float32).eval()
    answer(load=time.perf_counter() - begin, cpu=time.process_time(), resident=status("VmRSS"), peak=status("VmHWM"))
    last, shape = None, None
    for line in sys.stdin:
        request = json.loads(line)
        fields = {"seconds": [], "cpu": [], "resident": 0, "error": ""}
        try:
            if request["sizes"] != last:
                shape = None
                reset_peak()
                fields["resident"] = status("VmRSS")
                shape, last = Shape(model, request["sizes"], kept), request["sizes"]
            for _ in range(request["runs"]):
                seconds, cpu = shape.run()
                fields["seconds"].append(seconds)
                fields["cpu"].append(cpu)
        except RuntimeError as e:
            fields["error"] = str(e)
        answer(peak=status("VmHWM"), **fields)


main(*sys.argv[1:])
