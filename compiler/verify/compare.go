package verify

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"mobiusc/internal/ort"
	"mobiusc/ir"
)

// Tolerance says how far a value may be from the expected one: at most
// Abs + Rel·|expected|.
type Tolerance struct{ Abs, Rel float64 }

// Error sums up the difference between two tensors, over the elements that count.
type Error struct {
	Count   int     `json:"count"`
	MaxAbs  float64 `json:"max_abs"`
	MaxRel  float64 `json:"max_rel"` // where the expected value is above 1e-3 of its largest
	RMS     float64 `json:"rms"`
	Outside float64 `json:"outside"` // share of the elements outside the tolerance
	// Argmax is the share of rows in which the largest element is the expected
	// one; -1 where that says nothing.
	Argmax float64 `json:"argmax"`
}

// Result compares one output of one step.
type Result struct {
	Step      int    `json:"step"`
	Component string `json:"component"`
	Value     string `json:"value"`
	DType     string `json:"dtype"` // of the package's output
	Error
	// Reference is the error of the reference's own float16 run, if the file
	// has one.
	Reference *Error `json:"reference_float16,omitempty"`
}

// Compare plays a reference and compares every output that it states. The
// error is Check's, or has one line for each output of another shape.
func (p *Package) Compare(r *Reference, tol Tolerance) ([]Result, error) {
	if err := p.Check(r); err != nil {
		return nil, err
	}
	got, err := p.Run(r)
	if err != nil {
		return nil, err
	}
	var out []Result
	bad := &problems{}
	for n, step := range r.Steps {
		for _, c := range p.components {
			call := step.Components[c.Name]
			if call == nil {
				continue
			}
			bad.place = fmt.Sprintf("%s, step %d, component %s", r.Name, n, c.Name)
			for _, name := range slices.Sorted(maps.Keys(call.Outputs)) {
				want, have := call.Outputs[name].Dims, got[n][c.Name][name].Dims
				if !slices.Equal(want, have) {
					bad.add("output %s is %v, and %v in the reference", name, have, want)
					continue
				}
				result := c.compare(call, name, got[n][c.Name][name], tol)
				result.Step = n
				out = append(out, result)
			}
		}
	}
	return out, bad.err()
}

// compare compares one output, of the expected shape.
func (c *component) compare(call *Call, name string, have ort.Tensor, tol Tolerance) Result {
	want := call.Outputs[name]
	i := slices.IndexFunc(c.session.Outputs, func(p ort.Port) bool { return p.Name == name })
	mask, axis := c.maskOf(call, c.session.Outputs[i].Type.Shape)
	counts := counted(mask, axis, want.Dims)
	rows := 0
	if name == "logits" {
		rows = int(want.Dims[len(want.Dims)-1])
	}
	result := Result{Component: c.Name, Value: name, DType: have.Type.String(), Error: difference(floats(have), floats(want), counts, tol, rows)}
	if f16, ok := call.Float16[name]; ok {
		e := difference(floats(f16), floats(want), counts, tol, rows)
		result.Reference = &e
	}
	return result
}

// maskOf returns the input of the call that says which columns of an output are
// padding, and the output's axis of columns; −1 if there is none. The declared
// dims tell: a mask is [batch, columns], and sequence is the end of past +
// sequence.
func (c *component) maskOf(call *Call, output ir.Shape) (mask ort.Tensor, axis int) {
	for _, in := range c.session.Inputs {
		mask, given := call.Inputs[in.Name]
		if !given || !strings.HasSuffix(in.Name, "attention_mask") || len(in.Type.Shape) != 2 || len(output) < 2 || !output[0].Equal(in.Type.Shape[0]) {
			continue
		}
		columns := in.Type.Shape[1]
		isColumns := func(d ir.Dim) bool {
			return d.Equal(columns) || d.Equal(ir.Sym("sequence")) && columns.Equal(ir.Sym("past").Add(d))
		}
		if axis := slices.IndexFunc(output, isColumns); axis > 0 {
			return mask, axis
		}
	}
	return ort.Tensor{}, -1
}

// counted returns which elements of an output count: what stands in a column
// that is padding is undefined. The columns of the output are the mask's last.
func counted(mask ort.Tensor, axis int, dims []int64) func(i int) bool {
	if axis < 0 {
		return func(int) bool { return true }
	}
	total := mask.Dims[1]
	first := total - dims[axis] // column of the mask that index 0 of the axis is
	inner, all := int64(1), int64(1)
	for a, d := range dims {
		if a > axis {
			inner *= d
		}
		if a > 0 {
			all *= d
		}
	}
	seen := floats(mask)
	return func(i int) bool {
		row, column := int64(i)/all, int64(i)/inner%dims[axis]
		return seen[row*total+first+column] != 0
	}
}

// difference compares the elements that count. rows is the length of the rows
// whose largest elements are compared, or 0.
func difference(got, want []float64, counts func(int) bool, tol Tolerance, rows int) Error {
	e := Error{Argmax: -1}
	largest := 0.0
	for i, w := range want {
		if counts(i) {
			largest = max(largest, math.Abs(w))
		}
	}
	sum, outside := 0.0, 0
	for i, w := range want {
		if !counts(i) {
			continue
		}
		d := distance(got[i], w)
		e.Count++
		e.MaxAbs = max(e.MaxAbs, d)
		if math.Abs(w) > 1e-3*largest {
			e.MaxRel = max(e.MaxRel, d/math.Abs(w))
		}
		sum += d * d
		if !(d <= tol.Abs+tol.Rel*math.Abs(w)) { // also if w is not a number
			outside++
		}
	}
	if e.Count > 0 {
		e.RMS = math.Sqrt(sum / float64(e.Count))
		e.Outside = float64(outside) / float64(e.Count)
	}
	if rows > 0 {
		e.Argmax = argmaxAgreement(got, want, counts, rows)
	}
	return e
}

// distance returns |a − b|: 0 for two equal infinities, infinite if either is
// not a number.
func distance(a, b float64) float64 {
	if a == b {
		return 0
	}
	if d := math.Abs(a - b); !math.IsNaN(d) {
		return d
	}
	return math.Inf(1)
}

func argmaxAgreement(got, want []float64, counts func(int) bool, rows int) float64 {
	same, all := 0, 0
	for i := 0; i+rows <= len(want); i += rows {
		if !counts(i) {
			continue
		}
		all++
		if argmax(got[i:i+rows]) == argmax(want[i:i+rows]) {
			same++
		}
	}
	if all == 0 {
		return -1
	}
	return float64(same) / float64(all)
}

func argmax(row []float64) int {
	best := 0
	for i, v := range row {
		if v > row[best] {
			best = i
		}
	}
	return best
}
