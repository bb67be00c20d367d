package expr

import "slices"

// TypeKind is the outer form of a type.
type TypeKind uint8

// The kinds of types. Any is the type of what another finding already concerns.
const (
	Any TypeKind = iota
	NoneType
	BoolType
	IntType
	FloatType
	StringType
	ListType
	RecordType // with the given Fields
	MapType    // from any word to Elem
	OpaqueType // named by Name
)

// Type is the type of an expression, known before any config is read.
type Type struct {
	Kind     TypeKind
	Optional bool // the value may be none
	Elem     *Type
	Fields   map[string]Type
	Name     string // of an opaque type, or of a section for messages
}

// The simple types.
var (
	AnyT    = Type{}
	NoneT   = Type{Kind: NoneType}
	BoolT   = Type{Kind: BoolType}
	IntT    = Type{Kind: IntType}
	FloatT  = Type{Kind: FloatType}
	StringT = Type{Kind: StringType}
)

// ListOfT returns the type of a list.
func ListOfT(elem Type) Type { return Type{Kind: ListType, Elem: &elem} }

// String names the type as messages do.
func (t Type) String() string {
	switch t.Kind {
	case NoneType:
		return "none"
	case BoolType:
		return "true or false"
	case IntType:
		return "a whole number"
	case FloatType:
		return "a number"
	case StringType:
		return "text"
	case ListType:
		return "a list"
	case RecordType, MapType:
		return "a section of the config"
	case OpaqueType:
		return "a " + t.Name + " record"
	}
	return "any value"
}

func (t Type) numeric() bool { return t.Kind == IntType || t.Kind == FloatType || t.Kind == Any }

// Fits reports whether a value of type t can be used where want is needed. none
// fits everywhere: it is absence, and what may not be absent is found later.
func (t Type) Fits(want Type) bool {
	switch {
	case t.Kind == Any || want.Kind == Any || t.Kind == NoneType || t.Kind == want.Kind && t.Name == want.Name && t.Elem == nil:
		return true
	case t.Kind == IntType && want.Kind == FloatType:
		return true
	case t.Kind == ListType && want.Kind == ListType:
		return t.Elem.Fits(*want.Elem)
	case t.Kind == RecordType && want.Kind == RecordType:
		return true
	case t.Kind == MapType && want.Kind == MapType:
		return t.Elem.Fits(*want.Elem)
	}
	return false
}

// join returns the type of a value that has either type.
func join(a, b Type) Type {
	optional := a.Optional || b.Optional || a.Kind == NoneType || b.Kind == NoneType
	out := a
	switch {
	case a.Kind == NoneType:
		out = b
	case b.Kind == NoneType || a.Fits(b) && b.Fits(a):
	case a.Fits(b):
		out = b
	case b.Fits(a):
	default:
		return AnyT
	}
	if a.Kind == Any || b.Kind == Any {
		out = AnyT
	}
	out.Optional = optional && out.Kind != NoneType
	return out
}

// comparable reports whether values of two types can be equal.
func comparable(a, b Type) bool {
	if a.Kind == OpaqueType || b.Kind == OpaqueType {
		return a.Kind == NoneType || b.Kind == NoneType
	}
	return a.Kind == NoneType || b.Kind == NoneType || a.Fits(b) || b.Fits(a)
}

// names returns the fields of a record in order.
func (t Type) names() []string {
	names := make([]string, 0, len(t.Fields))
	for name := range t.Fields {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
