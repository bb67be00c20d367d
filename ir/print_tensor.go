package ir

import (
	"encoding/binary"
	"math"
	"strconv"
	"strings"
)

func (w *writer) typ(t *Type) {
	if t == nil {
		return
	}
	switch t.Kind {
	case SequenceKind:
		w.str("seq(")
		w.typ(t.Inner)
	case OptionalKind:
		w.str("optional(")
		w.typ(t.Inner)
	case MapKind:
		w.str("map(", t.Elem.String(), ", ")
		w.typ(t.Inner)
	case SparseTensorKind:
		w.str("sparse_tensor(")
		w.tensorType(t)
	default:
		w.tensorType(t)
		return
	}
	w.str(")")
}

func (w *writer) tensorType(t *Type) {
	w.str(t.Elem.String())
	switch {
	case !t.Ranked:
		w.str("[]")
	case len(t.Shape) > 0:
		w.str("[")
		each(w, t.Shape, ",", w.dim)
		w.str("]")
	}
}

func (w *writer) dim(d Dim) {
	n, isNumber := d.Int()
	switch {
	case isNumber:
		w.int(n)
	case d.Known():
		w.id(d.String())
	default:
		w.str("?")
	}
}

// head writes the type of a constant.
func (w *writer) head(t *Tensor) {
	if t.Sparse != nil {
		w.str("sparse_tensor(")
	}
	w.str(t.Type.String())
	if len(t.Dims) > 0 {
		w.str("[")
		each(w, t.Dims, ",", w.int)
		w.str("]")
	}
	if t.Sparse != nil {
		w.str(")")
	}
}

func (w *writer) initializer(v *Value) {
	w.head(v.Init)
	w.str(" ")
	w.id(v.Name)
	w.str(" = ")
	w.content(v.Init)
}

// tensor writes a constant that is the value of an attribute. The = keeps
// external data apart from the dims.
func (w *writer) tensor(t *Tensor) {
	w.head(t)
	if t.Name != "" {
		w.str(" ")
		w.id(t.Name)
	}
	if t.External != nil {
		w.str(" =")
	}
	w.str(" ")
	w.content(t)
}

func (w *writer) content(t *Tensor) {
	if t.External != nil {
		w.external(t.External)
	} else {
		w.elements(t)
	}
	if t.Sparse != nil {
		w.str(" ")
		w.tensor(t.Sparse)
	}
}

func (w *writer) external(e *External) {
	w.str(`["location": `, quote(e.Location))
	if e.Offset != 0 {
		w.str(`, "offset": "`, strconv.FormatInt(e.Offset, 10), `"`)
	}
	if e.Length != 0 {
		w.str(`, "length": "`, strconv.FormatInt(e.Length, 10), `"`)
	}
	if e.Checksum != "" {
		w.str(`, "checksum": `, quote(e.Checksum))
	}
	w.str("]")
}

// shown is how many elements of a tensor are written when the others are left out.
const shown = 4

// elements writes the elements of a tensor in memory.
func (w *writer) elements(t *Tensor) {
	n, ok := t.literals()
	switch {
	case !ok:
		w.str("{... ", strconv.Itoa(len(t.Raw)+len(t.Strings)), " bytes or strings, which the dims do not fit}")
		return
	case w.MaxElements == 0 || n <= w.MaxElements:
		w.str("{")
		w.first(t, n)
		w.str("}")
	default:
		w.str("{")
		w.first(t, shown)
		w.str(", ... ", strconv.FormatInt(n, 10), " elements}")
	}
}

// first writes the first n literals of a tensor.
func (w *writer) first(t *Tensor, n int64) {
	for i := range n {
		if i > 0 {
			w.str(", ")
		}
		w.element(t, i)
	}
}

// literals returns the count of literals that stand for the content of the
// tensor; ok is false when there are more or fewer bytes or strings than that.
func (t *Tensor) literals() (n int64, ok bool) {
	n = t.Len()
	if t.Sparse != nil {
		n = 0
		if len(t.Sparse.Dims) > 0 {
			n = t.Sparse.Dims[0]
		}
	}
	n = t.entries(n)
	if t.Type == String {
		return n, int64(len(t.Strings)) == n
	}
	size, have := t.entryBytes(), int64(len(t.Raw))
	if size == 0 {
		return 0, n == 0 && have == 0
	}
	return n, have%size == 0 && have/size == n
}

// entryBytes is the size of what one literal of the tensor stands for (see
// entries), or 0 when the elements are no bytes.
func (t *Tensor) entryBytes() int64 {
	switch bits := int64(t.Type.Bits()); {
	case t.Type == Complex64, t.Type == Complex128:
		return bits / 16
	default:
		return (bits + 7) / 8
	}
}

// element writes literal i of a tensor.
func (w *writer) element(t *Tensor, i int64) {
	le := binary.LittleEndian
	switch t.Type {
	case String:
		w.str(quote(string(t.Strings[i])))
	case Float32, Complex64:
		w.float32(math.Float32frombits(le.Uint32(t.Raw[4*i:])))
	case Float64, Complex128:
		w.str(formatFloat(math.Float64frombits(le.Uint64(t.Raw[8*i:])), 64))
	case Int8:
		w.int(int64(int8(t.Raw[i])))
	case Int16:
		w.int(int64(int16(le.Uint16(t.Raw[2*i:]))))
	case Int32:
		w.int(int64(int32(le.Uint32(t.Raw[4*i:]))))
	case Int64:
		w.int(int64(le.Uint64(t.Raw[8*i:])))
	default:
		var bits uint64
		size := t.entryBytes()
		for j := range size {
			bits |= uint64(t.Raw[size*i+j]) << (8 * j)
		}
		w.str(strconv.FormatUint(bits, 10))
	}
}

func (w *writer) float32(f float32) { w.str(formatFloat(float64(f), 32)) }

// formatFloat returns the shortest literal that reads back as f. It never looks
// like an integer: ONNX's parser makes a broken attribute of "float = 1".
func formatFloat(f float64, bits int) string {
	switch {
	case math.IsNaN(f) && math.Signbit(f):
		return "-nan"
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	}
	s := strconv.FormatFloat(f, 'g', -1, bits)
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	return s
}
