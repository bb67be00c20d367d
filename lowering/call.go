package lowering

import (
	"slices"

	"mobiusc/ir"
)

// SpecDomain is the domain of the functions that a spec defines. No node of it
// remains in a package.
const SpecDomain = "mobiusc.spec"

var callDecl = &Decl{
	Name: "call",
	Doc: "The stream goes through an ONNX function of the section `functions`: it is the function's first input, and its first output is the new stream. " +
		"Every other input is given by its name in the function.",
	Short: "function",
	Options: []Option{
		{Name: "function", Kind: FunctionOption, Required: true, Doc: "the function"},
		{Name: "with", Kind: MapOption, Each: &Option{Name: "with", Kind: ValueOption}, Doc: "values of the component, by the function's input"},
		{Name: "weights", Kind: MapOption, Doc: "parameters, by the function's input", Each: &Option{
			Name: "weights", Kind: RecordOption, Short: "name", Fields: []Option{
				{Name: "name", Kind: NameOption, Required: true, Doc: "path of the tensor in the checkpoint"},
				{Name: "shape", Kind: IntsOption, Required: true, Doc: "its dims"},
			},
		}},
		{Name: "attributes", Kind: MapOption, Each: &Option{Name: "attributes", Kind: FloatOption}, Doc: "numbers, by the function's attribute"},
	},
	Lower: func(b *Builder, blk *Block, x Tensor) Tensor {
		f := b.functions[blk.Opts.Text("function")]
		inputs := make([]*ir.Value, len(f.Body.Inputs))
		inputs[0] = b.Full(x)
		b.callInputs(f, inputs, blk.Opts, x.DType())
		for i, v := range inputs {
			if v == nil {
				b.Fail("function %s needs its input %s: give it under `with` or `weights`", f.Name, f.Body.Inputs[i].Name)
			}
		}
		y := b.Node(SpecDomain, f.Name, inputs, 1, b.callAttributes(f, blk.Opts)...)[0]
		if y.Type == nil || len(y.Type.Shape) == 0 {
			b.Fail("the shape of the result of function %s cannot be told", f.Name)
		}
		return tensorOf(y)
	},
}

// callInputs places values and parameters at the inputs of a function.
func (b *Builder) callInputs(f *ir.Function, inputs []*ir.Value, o Record, dtype ir.DataType) {
	place := func(name string, v func() *ir.Value) {
		switch i := slices.IndexFunc(f.Body.Inputs, func(in *ir.Value) bool { return in.Name == name }); {
		case i < 0:
			b.Fail("function %s has no input %s; it has %s", f.Name, name, ir.ValueNames(f.Body.Inputs))
		case i == 0:
			b.Fail("input %s of function %s is the stream", name, f.Name)
		case inputs[i] != nil:
			b.Fail("input %s of function %s is given twice", name, f.Name)
		default:
			inputs[i] = v()
		}
	}
	for _, name := range o.Record("with").Names() {
		place(name, func() *ir.Value { return b.Full(b.Value(o.Record("with").Text(name))) })
	}
	for _, name := range o.Record("weights").Names() {
		w := o.Record("weights").Record(name)
		dims := w.Ints("shape")
		features := int64(1)
		if len(dims) > 0 {
			features = dims[len(dims)-1]
		}
		place(name, func() *ir.Value { return b.Param(w.Text("name"), dtype, fanIn(features), dims...) })
	}
}

// callAttributes gives the attributes of a call the types that the function has
// for them.
func (b *Builder) callAttributes(f *ir.Function, o Record) []*ir.Attr {
	var attrs []*ir.Attr
	for _, name := range o.Record("attributes").Names() {
		value := o.Record("attributes").Float(name)
		switch t := attributeType(f, name); {
		case t == ir.AttrFloat:
			attrs = append(attrs, b.floatAttr(name, value))
		case t == ir.AttrInt && value == float64(int64(value)):
			attrs = append(attrs, ir.IntAttr(name, int64(value)))
		case t == ir.AttrUndefined:
			b.Fail("function %s has no attribute %s, or does not read it", f.Name, name)
		default:
			b.Fail("attribute %s of function %s is of type %s, and cannot be %g", name, f.Name, t, value)
		}
	}
	return attrs
}

// attributeType returns the type of an attribute of a function: that of its
// default, or what the nodes that read it take.
func attributeType(f *ir.Function, name string) ir.AttrType {
	if a := f.Default(name); a != nil {
		return a.Type
	}
	for n := range f.Body.AllNodes() {
		for _, a := range n.Attrs {
			if a.Ref == name {
				return a.Type
			}
		}
	}
	return ir.AttrUndefined
}
