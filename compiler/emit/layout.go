package emit

import (
	"fmt"

	"mobiusc/ir"
)

// The layout of a data file. First the constants that the compiler made, then
// the weights, both in the order of the graph's initializers: a package without
// weights has the same graphs and a data file that ends after the constants.
// A tensor of a page or more begins at a page, so that it can be memory-mapped
// by itself (ONNX asks for it); a smaller one begins at a cache line, so that
// thousands of them do not take a page each.
const (
	pageSize  = 4096
	smallSize = 64
	// inlineSize is the size in bytes below which a constant stays in the model
	// file. It is the default threshold of the onnx package.
	inlineSize = 1024
)

// layout is the content of a component's data file.
type layout struct {
	constants []constant
	size      int64 // bytes of the constants and the weights
	weights   int   // how many tensors are not constants
}

type constant struct {
	name   string
	offset int64
	raw    []byte
}

// place returns the offset of the next tensor of the given length.
func (l *layout) place(length int64) int64 {
	to := int64(smallSize)
	if length >= pageSize {
		to = pageSize
	}
	offset := (l.size + to - 1) / to * to
	l.size = offset + length
	return offset
}

// plan gives every external initializer of the graph that has no location yet a
// place in the data file, and moves constants of [inlineSize] bytes and more
// there. Initializers that already have a location (in a checkpoint's own file)
// are left alone.
func plan(g *ir.Graph, file string) (*layout, error) {
	l := &layout{}
	for _, v := range g.Initializers {
		t := v.Init
		if t == nil || t.External != nil || t.Sparse != nil || len(t.Raw) < inlineSize {
			continue
		}
		length := int64(len(t.Raw))
		c := constant{name: v.Name, offset: l.place(length), raw: t.Raw}
		l.constants = append(l.constants, c)
		t.Raw, t.External = nil, &ir.External{Location: file, Offset: c.offset, Length: length}
	}
	for _, v := range g.Initializers {
		t := v.Init
		if t == nil || t.External == nil || t.External.Location != "" {
			continue
		}
		length := t.ByteLen()
		if length < 0 {
			return nil, fmt.Errorf("initializer %q: a tensor of type %s and dims %v has no size in bytes", v.Name, t.Type, t.Dims)
		}
		t.External = &ir.External{Location: file, Offset: l.place(length), Length: length}
		l.weights++
	}
	return l, nil
}
