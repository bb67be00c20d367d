package emit

import (
	"strconv"

	"mobiusc/ir"
)

// appendValue appends a ValueInfoProto.
func appendValue(b []byte, f field, v *ir.Value) []byte {
	b, at := begin(b, f)
	b = appendText(b, 1, v.Name)
	if v.Type != nil {
		b = appendTypeField(b, 2, v.Type)
	}
	b = appendText(b, 3, v.Doc)
	b = appendMeta(b, 4, v.Meta)
	return end(b, at)
}

func appendTypeField(b []byte, f field, t *ir.Type) []byte {
	b, at := begin(b, f)
	return end(appendType(b, t), at)
}

// appendType appends the content of a TypeProto; nothing for an unknown type.
func appendType(b []byte, t *ir.Type) []byte {
	if t == nil {
		return b
	}
	var at int
	switch t.Kind {
	case ir.TensorKind:
		b, at = begin(b, 1)
		b = appendTensorType(b, t)
	case ir.SparseTensorKind:
		b, at = begin(b, 8)
		b = appendTensorType(b, t)
	case ir.SequenceKind:
		b, at = begin(b, 4)
		b = appendTypeField(b, 1, t.Inner)
	case ir.OptionalKind:
		b, at = begin(b, 9)
		b = appendTypeField(b, 1, t.Inner)
	case ir.MapKind:
		b, at = begin(b, 5)
		b = appendInt(b, 1, int64(t.Elem))
		b = appendTypeField(b, 2, t.Inner)
	default:
		return b
	}
	return end(b, at)
}

func appendTensorType(b []byte, t *ir.Type) []byte {
	b = appendInt(b, 1, int64(t.Elem))
	if !t.Ranked {
		return b
	}
	b, at := begin(b, 2)
	for _, d := range t.Shape {
		var dim int
		b, dim = begin(b, 1)
		if n, ok := d.Int(); ok {
			b = appendInt(b, 1, n)
		} else if d.Known() {
			b = appendText(b, 2, d.String())
		}
		b = end(b, dim)
	}
	return end(b, at)
}

// tensor appends a TensorProto with the elements in raw_data, or the reference
// to external data.
func (w *writer) tensor(b []byte, f field, name string, t *ir.Tensor) []byte {
	if need := len(b) + len(t.Raw); need > MaxProtoBytes {
		w.tooBig(need)
		return b
	}
	b, at := begin(b, f)
	b = appendDims(b, 1, t.Dims)
	b = w.tensorContent(b, name, t)
	return end(b, at)
}

// tensorContent appends every field of a TensorProto but its dims.
func (w *writer) tensorContent(b []byte, name string, t *ir.Tensor) []byte {
	b = appendInt(b, 2, int64(t.Type))
	for _, s := range t.Strings {
		b = appendEntry(b, 6, s)
	}
	b = appendText(b, 8, name)
	if t.External == nil && t.Type != ir.String {
		b = appendEntry(b, 9, t.Raw)
	}
	b = appendText(b, 12, t.Doc)
	if e := t.External; e != nil {
		b = appendExternal(b, e)
	}
	return appendMeta(b, 16, t.Meta)
}

func appendExternal(b []byte, e *ir.External) []byte {
	b = appendProperty(b, 13, "location", e.Location)
	b = appendProperty(b, 13, "offset", strconv.FormatInt(e.Offset, 10))
	if e.Length > 0 {
		b = appendProperty(b, 13, "length", strconv.FormatInt(e.Length, 10))
	}
	if e.Checksum != "" {
		b = appendProperty(b, 13, "checksum", e.Checksum)
	}
	return appendInt(b, 14, 1) // data_location: EXTERNAL
}

// sparse appends a SparseTensorProto.
func (w *writer) sparse(b []byte, f field, name string, t *ir.Tensor) []byte {
	b, at := begin(b, f)
	b, values := begin(b, 1)
	b = appendInt(b, 1, sparseCount(t.Sparse))
	b = end(w.tensorContent(b, name, t), values)
	b = w.tensor(b, 2, t.Sparse.Name, t.Sparse)
	b = appendDims(b, 3, t.Dims)
	return end(b, at)
}

func appendDims(b []byte, f field, dims []int64) []byte {
	for _, d := range dims {
		b = appendInt(b, f, d)
	}
	return b
}
