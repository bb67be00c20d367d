// Package verify runs a package in ONNX Runtime and compares what it computes
// with reference tensors: what the parity tests do, and `mobiusc verify`.
//
// A reference file is a safetensors file of one sequence of calls. Its tensors
// are named step{n}.{component}.{part}.{value}: part `in` holds inputs, `out`
// the expected outputs, and `f16`, where it is present, those of the reference's
// own float16 run; docs/numerics.md says more.
package verify

import (
	"errors"
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
	partGreedy  = "greedy" // of a whole step: the choice after the last column
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

// ReadReference reads a reference file. The error has one line a problem.
func ReadReference(path string) (*Reference, error) {
	file, found := checkpoint.Open(path, checkpoint.Options{})
	if found.HasErrors() {
		return nil, errorsOf(found)
	}
	defer file.Close()
	r := &Reference{Name: strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))}
	bad := &problems{place: path}
	for _, info := range file.Tensors() {
		name, problem := parseName(info.Name)
		elem := info.DType.ONNX()
		switch {
		case problem != "":
			bad.add("tensor %s: %s", info.Name, problem)
			continue
		case name.part == partGreedy:
			r.step(name.step)
			continue // what the logits say as well
		case !comparable(elem):
			bad.add("tensor %s has dtype %s, which reference files do not use", info.Name, info.DType)
			continue
		}
		raw, err := file.Bytes(info)
		if err != nil {
			return nil, err
		}
		// The file is unmapped when this function returns.
		r.call(name.step, name.component).part(name.part)[name.value] = ort.Tensor{Type: elem, Dims: info.Shape, Raw: slices.Clone(raw)}
	}
	if len(r.Steps) == 0 && len(bad.list) == 0 {
		bad.add("it holds no tensor; a reference has tensors named %s", nameForm)
	}
	for n, s := range r.Steps {
		if len(s.Components) == 0 {
			bad.add("it has step %d and no call in step %d", len(r.Steps)-1, n)
			break
		}
	}
	return r, bad.err()
}

// step returns step n, and makes all up to it.
func (r *Reference) step(n int) *Step {
	for len(r.Steps) <= n {
		r.Steps = append(r.Steps, Step{map[string]*Call{}})
	}
	return &r.Steps[n]
}

func (r *Reference) call(n int, component string) *Call {
	components := r.step(n).Components
	if components[component] == nil {
		components[component] = &Call{map[string]ort.Tensor{}, map[string]ort.Tensor{}, map[string]ort.Tensor{}}
	}
	return components[component]
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

// nameForm says how tensors of a reference are named.
const nameForm = "step{n}.{component}.{in|out|f16}.{value}"

// tensorName is the name of a tensor, taken apart.
type tensorName struct {
	step                   int
	component, part, value string
}

// parseName takes step0.model.out.present.3.key apart, or says why it cannot.
func parseName(name string) (n tensorName, problem string) {
	fields := strings.SplitN(name, ".", 4)
	digits, isStep := strings.CutPrefix(fields[0], "step")
	number, err := strconv.Atoi(digits)
	if !isStep || err != nil || strconv.Itoa(number) != digits || number < 0 {
		return n, "the name does not begin with step0, step1, …; want " + nameForm
	}
	if number >= maxSteps {
		return n, fmt.Sprintf("a reference has fewer than %d steps", maxSteps)
	}
	if len(fields) == 2 && fields[1] == partGreedy {
		return tensorName{step: number, part: partGreedy}, ""
	}
	if len(fields) != 4 || fields[1] == "" || fields[3] == "" {
		return n, "want " + nameForm
	}
	if !slices.Contains([]string{partInput, partOutput, partFloat16}, fields[2]) {
		return n, fmt.Sprintf("%q is neither in, out nor f16; want %s", fields[2], nameForm)
	}
	return tensorName{number, fields[1], fields[2], fields[3]}, ""
}

// errorsOf returns the errors among findings as one error. Their codes are about
// checkpoints, and left out.
func errorsOf(l diag.List) error {
	var list []error
	for _, d := range l.Sorted() {
		if d.Severity != diag.Error {
			continue
		}
		message := d.Range.String() + ": " + d.Message
		if d.Hint != "" {
			message += "; " + d.Hint
		}
		list = append(list, errors.New(message))
	}
	return errors.Join(list...)
}
