// Package verify runs a package in ONNX Runtime and compares what it computes
// with reference tensors: what the parity tests do, and `mobiusc verify`.
//
// A reference file is a safetensors file of one sequence of calls. Its tensors
// are named step{n}.{component}.{part}.{value}: part `in` holds inputs, `out`
// the expected outputs, and `f16`, where it is present, those of the reference's
// own float16 run; testdata/reference/README.md says more.
package verify

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"mobiusc/compiler/checkpoint"
	"mobiusc/internal/diag"
	"mobiusc/internal/ort"
)

// Parts of a call in a reference file.
const (
	partInput   = "in"
	partOutput  = "out"
	partFloat16 = "f16"
)

// Reference is a sequence of calls with their inputs and expected outputs.
type Reference struct {
	Name  string // of the file, without its extension
	Steps []Step
}

// Step is one call of the package: some of its components, one after the other.
type Step struct {
	// Components holds what the file has of each component, by its name.
	Components map[string]*Call
}

// Call is one run of a component.
type Call struct {
	Inputs  map[string]ort.Tensor
	Outputs map[string]ort.Tensor // expected
	Float16 map[string]ort.Tensor // of the reference's float16 run, or empty
}

// ReadReference reads a reference file.
func ReadReference(path string) (*Reference, error) {
	file, found := checkpoint.Open(path, checkpoint.Options{})
	if found.HasErrors() {
		return nil, firstError(found)
	}
	defer file.Close()
	r := &Reference{Name: strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))}
	for _, info := range file.Tensors() {
		n, component, part, value, ok := splitName(info.Name)
		if !ok {
			continue // facts about the step, such as the greedy choice
		}
		raw, err := file.Bytes(info)
		if err != nil {
			return nil, err
		}
		for len(r.Steps) <= n {
			r.Steps = append(r.Steps, Step{map[string]*Call{}})
		}
		call := r.Steps[n].Components[component]
		if call == nil {
			call = &Call{map[string]ort.Tensor{}, map[string]ort.Tensor{}, map[string]ort.Tensor{}}
			r.Steps[n].Components[component] = call
		}
		// The file is unmapped when this function returns.
		call.part(part)[value] = ort.Tensor{Type: info.DType.ONNX(), Dims: info.Shape, Raw: slices.Clone(raw)}
	}
	if len(r.Steps) == 0 {
		return nil, fmt.Errorf("%s holds no tensor named step0.COMPONENT.in.INPUT: it is not a reference file", path)
	}
	return r, nil
}

func (c *Call) part(name string) map[string]ort.Tensor {
	switch name {
	case partInput:
		return c.Inputs
	case partOutput:
		return c.Outputs
	}
	return c.Float16
}

// maxSteps bounds what a name can make this package allocate.
const maxSteps = 10_000

// splitName takes step0.model.out.present.3.key apart.
func splitName(name string) (step int, component, part, value string, ok bool) {
	fields := strings.SplitN(name, ".", 4)
	if len(fields) != 4 || !slices.Contains([]string{partInput, partOutput, partFloat16}, fields[2]) {
		return 0, "", "", "", false
	}
	digits, isStep := strings.CutPrefix(fields[0], "step")
	n, err := strconv.Atoi(digits)
	if !isStep || err != nil || n < 0 || n > maxSteps {
		return 0, "", "", "", false
	}
	return n, fields[1], fields[2], fields[3], true
}

func firstError(l diag.List) error {
	for _, d := range l.Sorted() {
		if d.Severity == diag.Error {
			return fmt.Errorf("%s", d)
		}
	}
	return nil
}
