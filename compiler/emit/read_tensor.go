package emit

import (
	"encoding/binary"
	"math"
	"slices"
	"strconv"

	"mobiusc/compiler/emit/onnxpb"
	"mobiusc/ir"
)

// typ converts a type; name is the value's, for reports. It returns nil for an
// absent type and for one that the IR does not represent.
func (r *reader) typ(name string, p *onnxpb.TypeProto) *ir.Type {
	if p == nil {
		return nil
	}
	if p.GetDenotation() != "" {
		r.drop("value %q: type denotation %q", name, p.GetDenotation())
	}
	r.unknown("type of value", name, p)
	switch t := p.Value.(type) {
	case *onnxpb.TypeProto_TensorType:
		return r.tensorType(name, ir.TensorKind, t.TensorType.GetElemType(), t.TensorType.GetShape())
	case *onnxpb.TypeProto_SparseTensorType:
		return r.tensorType(name, ir.SparseTensorKind, t.SparseTensorType.GetElemType(), t.SparseTensorType.GetShape())
	case *onnxpb.TypeProto_SequenceType:
		return &ir.Type{Kind: ir.SequenceKind, Inner: r.typ(name, t.SequenceType.GetElemType())}
	case *onnxpb.TypeProto_OptionalType:
		return &ir.Type{Kind: ir.OptionalKind, Inner: r.typ(name, t.OptionalType.GetElemType())}
	case *onnxpb.TypeProto_MapType:
		return &ir.Type{Kind: ir.MapKind, Elem: ir.DataType(t.MapType.GetKeyType()), Inner: r.typ(name, t.MapType.GetValueType())}
	case *onnxpb.TypeProto_OpaqueType:
		r.drop("value %q: opaque type %q", name, t.OpaqueType.GetName())
	}
	return nil
}

func (r *reader) tensorType(name string, kind ir.Kind, elem int32, shape *onnxpb.TensorShapeProto) *ir.Type {
	t := &ir.Type{Kind: kind, Elem: ir.DataType(elem), Ranked: shape != nil}
	if shape == nil {
		return t
	}
	t.Shape = make(ir.Shape, len(shape.Dim))
	for i, d := range shape.Dim {
		switch v := d.Value.(type) {
		case *onnxpb.TensorShapeProto_Dimension_DimValue:
			t.Shape[i] = ir.Int(v.DimValue)
		case *onnxpb.TensorShapeProto_Dimension_DimParam:
			t.Shape[i] = r.dim(r.text(v.DimParam))
		}
		if d.GetDenotation() != "" {
			r.drop("value %q: dim denotation %q", name, d.GetDenotation())
		}
	}
	return t
}

// dim reads a dim_param: an expression where it is one, else a name.
func (r *reader) dim(s string) ir.Dim {
	d, ok := r.dims[s]
	if !ok {
		var err error
		if d, err = ir.ParseDim(s); err != nil {
			d = ir.Sym(s)
		}
		r.dims[s] = d
	}
	return d
}

func (r *reader) tensor(p *onnxpb.TensorProto) *ir.Tensor {
	t := &ir.Tensor{
		Name: r.text(p.GetName()),
		Type: ir.DataType(p.GetDataType()),
		Dims: slices.Concat([]int64{}, p.Dims),
		Doc:  r.text(p.GetDocString()),
		Meta: r.meta(p.MetadataProps),
	}
	typed := p.RawData == nil && p.GetDataLocation() != onnxpb.TensorProto_EXTERNAL
	switch {
	case p.GetDataLocation() == onnxpb.TensorProto_EXTERNAL:
		t.External = r.external(t.Name, p.ExternalData)
		if p.RawData != nil {
			r.drop("tensor %q: raw_data beside external data", t.Name)
		}
	case p.RawData != nil:
		t.Raw = p.RawData
	default:
		r.typedData(t, p)
	}
	r.otherFields(t, p, typed)
	if p.GetDataLocation() != onnxpb.TensorProto_EXTERNAL && len(p.ExternalData) > 0 {
		r.drop("tensor %q: external_data without data_location EXTERNAL", t.Name)
	}
	if p.Segment != nil {
		r.drop("tensor %q: segment", t.Name)
	}
	r.unknown("tensor", t.Name, p)
	return t
}

// typedData converts the elements of the field that belongs to the tensor's
// type to raw layout.
func (r *reader) typedData(t *ir.Tensor, p *onnxpb.TensorProto) {
	le := binary.LittleEndian
	t.Raw = []byte{}
	switch typedField(t.Type) {
	case stringField:
		t.Raw, t.Strings = nil, p.StringData
	case floatField:
		for _, v := range p.FloatData {
			t.Raw = le.AppendUint32(t.Raw, math.Float32bits(v))
		}
	case doubleField:
		for _, v := range p.DoubleData {
			t.Raw = le.AppendUint64(t.Raw, math.Float64bits(v))
		}
	case int64Field:
		for _, v := range p.Int64Data {
			t.Raw = le.AppendUint64(t.Raw, uint64(v))
		}
	case uint64Field:
		for _, v := range p.Uint64Data {
			t.Raw = r.appendBits(t, int64(v), v>>32 == 0)
		}
	case int32Field:
		for _, v := range p.Int32Data {
			t.Raw = r.appendBits(t, int64(v), fits(v, t.Type))
		}
	}
}

// appendBits appends the low bits of v that one element of t (or one byte of
// packed elements) has.
func (r *reader) appendBits(t *ir.Tensor, v int64, fits bool) []byte {
	bits := max(t.Type.Bits(), 8)
	if !fits && bits < 64 {
		r.drop("tensor %q: the value %d does not fit %s", t.Name, v, t.Type)
	}
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], uint64(v))
	return append(t.Raw, b[:bits/8]...)
}

// fits reports whether an entry of int32_data can be an element of the type:
// signed types extend their sign, floats and packed types are bit patterns.
func fits(v int32, t ir.DataType) bool {
	bits := max(t.Bits(), 8)
	switch {
	case bits >= 32:
		return true
	case t == ir.Int8 || t == ir.Int16:
		return v >= -1<<(bits-1) && v < 1<<(bits-1)
	case t == ir.Int4 || t == ir.Int2:
		return v >= -128 && v < 256
	}
	return v >= 0 && v < 1<<bits
}

// The fields of TensorProto that hold elements, by name.
const (
	noField     = ""
	floatField  = "float_data"
	int32Field  = "int32_data"
	stringField = "string_data"
	int64Field  = "int64_data"
	doubleField = "double_data"
	uint64Field = "uint64_data"
)

// typedField names the field that holds the elements of a type when they are
// not in raw_data.
func typedField(t ir.DataType) string {
	switch t {
	case ir.Float32, ir.Complex64:
		return floatField
	case ir.Float64, ir.Complex128:
		return doubleField
	case ir.Int64:
		return int64Field
	case ir.Uint32, ir.Uint64:
		return uint64Field
	case ir.String:
		return stringField
	}
	if t.Valid() {
		return int32Field
	}
	return noField
}

// otherFields notes elements in fields that do not count for the tensor; typed
// says whether the field of its type does.
func (r *reader) otherFields(t *ir.Tensor, p *onnxpb.TensorProto, typed bool) {
	for _, f := range []struct {
		name string
		n    int
	}{
		{floatField, len(p.FloatData)}, {int32Field, len(p.Int32Data)}, {stringField, len(p.StringData)},
		{int64Field, len(p.Int64Data)}, {doubleField, len(p.DoubleData)}, {uint64Field, len(p.Uint64Data)},
	} {
		if f.n > 0 && !(typed && f.name == typedField(t.Type)) {
			r.drop("tensor %q of type %s: %d elements in %s, which do not count", t.Name, t.Type, f.n, f.name)
		}
	}
}

func (r *reader) external(name string, entries []*onnxpb.StringStringEntryProto) *ir.External {
	e := &ir.External{}
	number := func(key, value string) int64 {
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || n < 0 {
			r.fail("tensor %q: the %s of its external data is %q, expected a number of bytes", name, key, value)
		}
		return n
	}
	for _, p := range entries {
		switch key, value := p.GetKey(), r.text(p.GetValue()); key {
		case "location":
			e.Location = value
		case "offset":
			e.Offset = number(key, value)
		case "length":
			e.Length = number(key, value)
		case "checksum":
			e.Checksum = value
		default:
			r.drop("tensor %q: external_data key %q", name, key)
		}
	}
	return e
}

// sparse converts a sparse tensor: the values' content, the dense dims, and the
// indices as their own tensor.
func (r *reader) sparse(p *onnxpb.SparseTensorProto) *ir.Tensor {
	t := &ir.Tensor{}
	if p.Values != nil {
		t = r.tensor(p.Values)
	}
	t.Sparse = &ir.Tensor{}
	if p.Indices != nil {
		t.Sparse = r.tensor(p.Indices)
	}
	if nnz := sparseCount(t.Sparse); !slices.Equal(t.Dims, []int64{nnz}) {
		r.drop("sparse tensor %q: dims %v of its values, where its indices say [%d]", t.Name, t.Dims, nnz)
	}
	t.Dims = slices.Concat([]int64{}, p.Dims)
	r.unknown("sparse tensor", t.Name, p)
	return t
}

// sparseCount returns the number of stored elements that the indices state.
func sparseCount(indices *ir.Tensor) int64 {
	if len(indices.Dims) == 0 {
		return 0
	}
	return indices.Dims[0]
}
