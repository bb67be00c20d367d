package ir

import (
	"encoding/binary"
	"math"
	"strconv"
)

// atType reports whether a type is next.
func (p *parser) atType() bool { return p.tok.kind == tokIdent && isTypeWord(p.tok.text) }

// isTypeWord reports whether a plain word begins a type. A value of such a name
// is written in quotes.
func isTypeWord(s string) bool {
	switch s {
	case "seq", "optional", "map", "sparse_tensor", Undefined.String():
		return true
	}
	_, ok := DataTypeOf(s)
	return ok
}

// typ reads a type. float is a scalar, float[] a tensor of unknown rank.
func (p *parser) typ() *Type {
	p.enter()
	defer p.leave()
	pos := p.tok.pos
	word := p.ident("a type")
	switch word {
	case "seq":
		return &Type{Kind: SequenceKind, Inner: p.inner(word)}
	case "optional":
		return &Type{Kind: OptionalKind, Inner: p.inner(word)}
	case "sparse_tensor":
		t := p.inner(word)
		if t == nil || t.Kind != TensorKind {
			p.fail(pos, "found sparse_tensor without a tensor type, expected one, as in sparse_tensor(float[2, 3])")
		}
		t.Kind = SparseTensorKind
		return t
	case "map":
		p.expect("(", "after map")
		key := p.elem()
		p.expect(",", "after the key type of a map")
		t := &Type{Kind: MapKind, Elem: key, Inner: p.optionalType()}
		p.expect(")", "after the types of a map")
		return t
	}
	t := &Type{Elem: p.elemOf(word, pos), Ranked: true, Shape: Shape{}}
	if !p.at("[") {
		return t
	}
	t.Shape = nil
	p.list("[", "]", "the dims", func() { t.Shape = append(t.Shape, p.dim()) })
	t.Ranked = t.Shape != nil
	return t
}

// inner reads the type in the parentheses of seq, optional and sparse_tensor.
func (p *parser) inner(word string) *Type {
	p.expect("(", "after "+word)
	t := p.optionalType()
	p.expect(")", "after the type in "+word)
	return t
}

// optionalType reads a type, or nothing where a model leaves it unknown.
func (p *parser) optionalType() *Type {
	if p.at(")") {
		return nil
	}
	return p.typ()
}

func (p *parser) elem() DataType {
	pos := p.tok.pos
	return p.elemOf(p.ident("an element type"), pos)
}

func (p *parser) elemOf(word string, pos int) DataType {
	t, ok := DataTypeOf(word)
	if !ok && word != Undefined.String() {
		p.fail(pos, "found %s, expected a type: float, int64, bool, …, seq, optional, map or sparse_tensor", word)
	}
	return t
}

// dim reads a number, a symbol, an expression in quotes, or ? for an unknown dim.
func (p *parser) dim() Dim {
	t := p.tok
	switch {
	case p.accept("?"):
		return Dim{}
	case t.kind == tokInt:
		return Int(p.int64("a dim"))
	case p.atName():
		p.next()
		if d, err := ParseDim(t.text); err == nil {
			return d
		}
		return Sym(t.text) // a name that another tool made up, such as "batch.1"
	}
	p.unexpected("a dim: a number, a name or ?")
	return Dim{}
}

// tensorOf reads the content of a tensor whose type and name are read already.
func (p *parser) tensorOf(d declaration) *Tensor {
	if d.typ == nil || d.typ.Kind != TensorKind && d.typ.Kind != SparseTensorKind || !d.typ.Ranked {
		p.fail(d.pos, "found a constant without a tensor type with numbers as dims, expected one, as in float[2, 3]")
	}
	dims, ok := d.typ.Shape.Static()
	if !ok {
		p.fail(d.pos, "found the type %s for a constant, expected numbers as dims", d.typ)
	}
	t := &Tensor{Name: d.name, Type: d.typ.Elem, Dims: dims}
	if t.Len() < 0 {
		p.fail(d.pos, "found the dims %d of a constant, expected none below 0 and a product that fits 64 bits", dims)
	}
	want := t.Len()
	n := want
	switch {
	case p.at("["):
		t.External = p.external()
	case p.at("{"):
		n = p.elements(t)
	default:
		p.unexpected("'{' to begin the elements, or '[' for external data")
	}
	if d.typ.Kind == SparseTensorKind {
		t.Sparse = p.indices()
		want = t.Sparse.Dims[0]
	}
	if want = t.entries(want); t.External == nil && n != want {
		p.fail(d.pos, "found %d elements, expected %d for %s", n, want, d.typ)
	}
	return t
}

// indices reads the indices of a sparse tensor, which follow its elements.
func (p *parser) indices() *Tensor {
	d := declaration{pos: p.tok.pos}
	if p.atType() {
		d.typ = p.typ()
	}
	if d.typ == nil || d.typ.Kind != TensorKind || d.typ.Elem != Int64 || len(d.typ.Shape) == 0 {
		p.fail(d.pos, "found no indices after the elements of a sparse tensor, expected them, as in int64[2] {0, 3}")
	}
	return p.tensorOf(d)
}

// entries returns how many literals stand for n elements in a text: one each, a
// complex number two, and types below 8 bits one for each byte they fill.
func (t *Tensor) entries(n int64) int64 {
	switch bits := int64(t.Type.Bits()); {
	case t.Type == Complex64, t.Type == Complex128:
		return 2 * n
	case bits != 0 && bits < 8 && n >= 0:
		perByte := 8 / bits
		return n/perByte + (n%perByte+perByte-1)/perByte
	}
	return n
}

// elements reads { literal, … } and returns the count of literals. Types without
// a literal of their own (float16, bfloat16, float8…) are written as the
// integers of their bits, types below 8 bits as the bytes they are packed in.
func (p *parser) elements(t *Tensor) (n int64) {
	p.list("{", "}", "the elements", func() {
		if p.at(".") {
			p.fail(p.tok.pos, "found a tensor whose elements were left out when it was printed; print it in full")
		}
		n++
		switch t.Type {
		case String:
			t.Strings = append(t.Strings, []byte(p.str("an element")))
		case Float32, Complex64:
			t.Raw = binary.LittleEndian.AppendUint32(t.Raw, math.Float32bits(float32(p.float(32))))
		case Float64, Complex128:
			t.Raw = binary.LittleEndian.AppendUint64(t.Raw, math.Float64bits(p.float(64)))
		case Int8, Int16, Int32, Int64:
			t.Raw = appendInt(t.Raw, p.integer(t.Type, true), t.Type.Bits())
		case Undefined:
			p.unexpected("no elements in a tensor of type undefined")
		default:
			t.Raw = appendInt(t.Raw, p.integer(t.Type, false), t.Type.Bits())
		}
	})
	return n
}

// integer reads one integer literal of the width of a type; the result holds
// its bits.
func (p *parser) integer(t DataType, signed bool) uint64 {
	if p.tok.kind != tokInt {
		if t.Bits() < 32 && !signed && t != Uint8 && t != Uint16 && t != Bool {
			p.unexpected("an integer, the bits of a " + t.String())
		}
		p.unexpected("an integer")
	}
	var bits uint64
	var err error
	switch {
	case t == Bool:
		bits, err = strconv.ParseUint(p.tok.text, 10, 1)
	case signed:
		var i int64
		i, err = strconv.ParseInt(p.tok.text, 10, t.Bits())
		bits = uint64(i)
	default:
		bits, err = strconv.ParseUint(p.tok.text, 10, max(8, t.Bits()))
	}
	if err != nil {
		p.fail(p.tok.pos, "found %s, which is out of the range of %s", p.tok.text, t)
	}
	p.next()
	return bits
}

// appendInt appends the low bits, at least 8, of an integer in little-endian order.
func appendInt(raw []byte, v uint64, bits int) []byte {
	for ; bits > 0; bits -= 8 {
		raw = append(raw, byte(v))
		v >>= 8
	}
	return raw
}

// external reads where the content of a tensor lies.
func (p *parser) external() *External {
	e := &External{}
	p.list("[", "]", "the place of external data", func() {
		pos := p.tok.pos
		key := p.str("a key")
		p.expect(":", "after "+key)
		at := p.tok.pos
		value := p.str("a value")
		var err error
		switch key {
		case "location":
			e.Location = value
		case "offset":
			e.Offset, err = strconv.ParseInt(value, 10, 64)
		case "length":
			e.Length, err = strconv.ParseInt(value, 10, 64)
		case "checksum":
			e.Checksum = value
		default:
			p.fail(pos, "found the key %q of external data, expected location, offset, length or checksum", key)
		}
		if err != nil {
			p.fail(at, "found the %s %q of external data, expected a number of bytes", key, value)
		}
	})
	return e
}
