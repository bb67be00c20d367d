package main

import (
	"fmt"
	"io"
	"strings"

	"mobiusc/compiler/checkpoint"
	"mobiusc/compiler/emit"
	"mobiusc/internal/diag"
	"mobiusc/internal/number"
)

// summarise prints one line about the package in a directory: where it is, its
// components, and what became of its weights, of which some lost values to
// rounding that nothing else says.
func summarise(w io.Writer, dir string, unsaid int) error {
	m, err := emit.ReadManifest(dir)
	if err != nil {
		return err
	}
	var names []string
	for _, c := range m.Components {
		names = append(names, c.Name)
	}
	text := fmt.Sprintf("%s: %s; %s", dir, strings.Join(names, ", "), weightSummary(m))
	if unsaid > 0 {
		text += fmt.Sprintf("; values of %d became subnormal or zero (--verbose lists them)", unsaid)
	}
	if m.Options["dtype"] == "bfloat16" {
		text += "\nit computes in bfloat16, for which ONNX Runtime's CPU provider has no kernels: --dtype float32 and float16 run there"
	}
	_, err = fmt.Fprintln(w, text)
	return err
}

// rounded counts the weights that a conversion made less precise and that are
// reported as notes.
func rounded(found diag.List) int {
	n := 0
	for _, d := range found {
		if checkpoint.IsLossy(d) && d.Severity == diag.Note {
			n++
		}
	}
	return n
}

// weightSummary says what became of the weights: "1,184 weights (54.7 GB) copied".
func weightSummary(m *emit.Manifest) string {
	var all, aside tally
	for _, c := range m.Components {
		for _, t := range c.Tensors {
			if t.Constant {
				continue
			}
			all.add(t.Length)
			if t.Location == c.Model+".data" { // beside the models, which are flat
				aside.add(t.Length)
			}
		}
	}
	switch m.Weights {
	case "copy":
		return all.String() + " copied"
	case "in-place":
		if aside.count == 0 {
			return all.String() + " in place"
		}
		return all.String() + " in place, of which " + aside.String() + " copied"
	case "random":
		return all.String() + " random"
	}
	return all.String() + " not bound"
}

// tally counts weights and their bytes.
type tally struct {
	count int
	bytes int64
}

func (t *tally) add(bytes int64) {
	t.count++
	t.bytes += bytes
}

func (t tally) String() string {
	return fmt.Sprintf("%s (%s)", number.Count(t.count, "weight"), byteSize(t.bytes))
}
