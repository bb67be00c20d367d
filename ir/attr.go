package ir

// AttrType is the type of an attribute. Its values are those of ONNX's
// AttributeProto.AttributeType.
type AttrType int32

// The attribute types ONNX defines.
const (
	AttrUndefined     AttrType = 0
	AttrFloat         AttrType = 1
	AttrInt           AttrType = 2
	AttrString        AttrType = 3
	AttrTensor        AttrType = 4
	AttrGraph         AttrType = 5
	AttrFloats        AttrType = 6
	AttrInts          AttrType = 7
	AttrStrings       AttrType = 8
	AttrTensors       AttrType = 9
	AttrGraphs        AttrType = 10
	AttrSparseTensor  AttrType = 11
	AttrSparseTensors AttrType = 12
	AttrTypeProto     AttrType = 13
	AttrTypeProtos    AttrType = 14
)

var attrTypes = [...]string{
	"undefined", "float", "int", "string", "tensor", "graph", "floats", "ints", "strings", "tensors", "graphs",
	"sparse_tensor", "sparse_tensors", "type_proto", "type_protos",
}

// String returns the name ONNX's textual syntax gives the attribute type.
func (t AttrType) String() string {
	if t >= 0 && int(t) < len(attrTypes) {
		return attrTypes[t]
	}
	return "unknown"
}

// AttrTypeOf returns the attribute type with the given textual name.
func AttrTypeOf(name string) (AttrType, bool) {
	for i, s := range attrTypes {
		if i != 0 && s == name {
			return AttrType(i), true
		}
	}
	return AttrUndefined, false
}

// Attr is one attribute of a node. Exactly the field that Type names is
// meaningful, or Ref, which names an attribute parameter of the function whose
// body holds the node.
type Attr struct {
	Name string
	Type AttrType
	Ref  string
	Doc  string

	Float   float32
	Int     int64
	Bytes   []byte // AttrString
	Tensor  *Tensor
	Graph   *Graph
	Floats  []float32
	Ints    []int64
	Strings [][]byte
	Tensors []*Tensor
	Graphs  []*Graph
	TypeVal *Type
	Types   []*Type
}

// IntAttr returns an integer attribute.
func IntAttr(name string, v int64) *Attr { return &Attr{Name: name, Type: AttrInt, Int: v} }

// FloatAttr returns a float attribute.
func FloatAttr(name string, v float32) *Attr { return &Attr{Name: name, Type: AttrFloat, Float: v} }

// StringAttr returns a string attribute.
func StringAttr(name, v string) *Attr { return &Attr{Name: name, Type: AttrString, Bytes: []byte(v)} }

// IntsAttr returns an attribute that is a list of integers.
func IntsAttr(name string, v ...int64) *Attr { return &Attr{Name: name, Type: AttrInts, Ints: v} }

// GraphAttr returns an attribute that holds a subgraph.
func GraphAttr(name string, g *Graph) *Attr { return &Attr{Name: name, Type: AttrGraph, Graph: g} }

// TensorAttr returns an attribute that holds a tensor.
func TensorAttr(name string, t *Tensor) *Attr { return &Attr{Name: name, Type: AttrTensor, Tensor: t} }
