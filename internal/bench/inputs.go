//go:build unix

package main

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"mobiusc/internal/ort"
	"mobiusc/ir"
)

// aliases are the names that models give the sizes that a request states.
var aliases = map[string][]string{
	"sequence": {"sequence_len", "seq_len"},
	"past":     {"past_sequence_len", "past_seq_len"},
}

// bindInputs makes up inputs of the requested sizes: tokens, positions and masks
// as a model expects them, other numbers normally distributed.
func bindInputs(s *ort.Session, r request) (*ort.Binding, error) {
	sizes := map[string]int64{}
	for name, n := range r.Sizes {
		sizes[name] = n
		for _, alias := range aliases[name] {
			sizes[alias] = n
		}
	}
	inputs := map[string]ort.Tensor{}
	for _, p := range s.Inputs {
		t := ort.Tensor{Type: p.Type.Elem}
		count := int64(1)
		for _, d := range p.Type.Shape {
			n, ok := d.Eval(sizes)
			if !ok {
				return nil, fmt.Errorf("input %s: the size of %s is not given", p.Name, d)
			}
			t.Dims = append(t.Dims, n)
			count *= n
		}
		var err error
		if t.Raw, err = content(p.Name, t, count, r, sizes["past"]); err != nil {
			return nil, err
		}
		inputs[p.Name] = t
	}
	return s.Bind(inputs)
}

func content(name string, t ort.Tensor, count int64, r request, past int64) ([]byte, error) {
	raw := make([]byte, 0, count*int64(t.Type.Bits())/8)
	switch t.Type {
	case ir.Int64:
		for i := range count {
			raw = binary.LittleEndian.AppendUint64(raw, uint64(integer(name, i, t.Dims, r, past)))
		}
	case ir.Float32:
		rng := rand.New(rand.NewPCG(1, uint64(len(name))))
		for range count {
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(float32(number(name, rng))))
		}
	default:
		return nil, fmt.Errorf("input %s: no content is known for %s", name, t.Type)
	}
	return raw, nil
}

func integer(name string, i int64, dims []int64, r request, past int64) int64 {
	if given := r.Ints[name]; given != nil {
		return given[i]
	}
	switch name {
	case "attention_mask":
		return 1
	case "position_ids":
		return past + i%dims[len(dims)-1]
	}
	return i * 7919 % 251 // tokens: any that every vocabulary has
}

// number draws an element of a float input. The inputs of a recurrence are in
// the range that keeps it stable: decays below 0, rates between 0 and 1, keys of
// about unit length at a width of 128.
func number(name string, rng *rand.Rand) float64 {
	switch {
	case name == "decay":
		return -0.1 * rng.ExpFloat64()
	case name == "beta":
		return rng.Float64()
	case strings.HasSuffix(name, "state"):
		return 0.1 * rng.NormFloat64()
	}
	return rng.NormFloat64() / math.Sqrt(128)
}
