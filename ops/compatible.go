package ops

import (
	"fmt"
	"slices"

	"mobiusc/ir"
)

// Conflict tells why a node written for opset version from would mean something
// else, or nothing, at version to; it returns "" when it keeps its meaning. A
// newer schema that only extends the older one (more types, further optional
// inputs and outputs, further attributes with the old behaviour as default)
// changes nothing. A node cannot move to an older schema.
//
// The node's domain must be standard; of other domains nothing is known but
// that equal versions agree.
func Conflict(n *ir.Node, from, to int64) string {
	if from == to {
		return ""
	}
	op := n.OpType
	a, b := Lookup(n.Domain, op, from), Lookup(n.Domain, op, to)
	switch {
	case a == nil:
		return fmt.Sprintf("%s does not exist at opset %d", op, from)
	case b == nil:
		return fmt.Sprintf("%s does not exist at opset %d", op, to)
	case a == b:
		return ""
	case a.Since > b.Since:
		return fmt.Sprintf("%s-%d is newer than opset %d", op, a.Since, to)
	case b.Deprecated:
		return fmt.Sprintf("%s is deprecated since opset %d", op, b.Since)
	}
	reason := schemaConflict(a, b, n)
	for _, c := range changes {
		if reason == "" && c.op == op && canonical(n.Domain) == c.domain && a.Since < c.at && c.at <= b.Since && c.affects(n) {
			reason = c.what
		}
	}
	if reason == "" {
		return ""
	}
	return fmt.Sprintf("%s-%d and %s-%d differ: %s", op, a.Since, op, b.Since, reason)
}

// schemaConflict tells what of a is not in b as it was; n nil stands for any node.
func schemaConflict(a, b *Schema, n *ir.Node) string {
	if reason := attrConflict(a, b, n); reason != "" {
		return reason
	}
	if reason := paramConflict("input", a.Inputs, b.Inputs); reason != "" {
		return reason
	}
	if reason := paramConflict("output", a.Outputs, b.Outputs); reason != "" {
		return reason
	}
	if b.MinInputs > a.MinInputs || b.MinOutputs > a.MinOutputs {
		return "more inputs or outputs are required"
	}
	return ""
}

// attrConflict compares the attributes. Of an attribute that a node sets, only
// its existence and type matter; of one it leaves out, only the default.
func attrConflict(a, b *Schema, n *ir.Node) string {
	for _, old := range a.Attrs {
		set, unset := true, !old.Required
		if n != nil {
			set = n.Attr(old.Name) != nil
			unset = !set
		}
		new := b.Attr(old.Name)
		switch {
		case new == nil:
			if set {
				return "attribute " + old.Name + " is gone"
			}
		case set && new.Type != old.Type:
			return "attribute " + old.Name + " has another type"
		case unset && new.Required:
			return "attribute " + old.Name + " is required"
		case unset && !sameDefault(old.Default, new.Default):
			return "attribute " + old.Name + " has another default"
		}
	}
	for _, new := range b.Attrs {
		if new.Required && a.Attr(new.Name) == nil {
			return "attribute " + new.Name + " is required"
		}
	}
	return ""
}

func sameDefault(a, b *ir.Attr) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Type == b.Type && a.Int == b.Int && a.Float == b.Float && string(a.Bytes) == string(b.Bytes) &&
		slices.Equal(a.Ints, b.Ints) &&
		slices.EqualFunc(a.Strings, b.Strings, func(x, y []byte) bool { return string(x) == string(y) })
}

// paramConflict compares inputs or outputs by position. A different name at the
// same place is a different parameter: ONNX has never just renamed one, except
// the statistics of BatchNormalization, whose operator changed with them.
func paramConflict(kind string, a, b []Param) string {
	if len(b) < len(a) {
		return fmt.Sprintf("%s %s is gone", kind, a[len(b)].Name)
	}
	for i, old := range a {
		new := b[i]
		switch {
		case new.Name != old.Name:
			return fmt.Sprintf("%s %d is %s instead of %s", kind, i, new.Name, old.Name)
		case new.Option != old.Option && !(old.Option == Single && new.Option == Optional):
			return fmt.Sprintf("%s %s may stand a different number of times", kind, new.Name)
		case new.Homogeneous && !old.Homogeneous:
			return fmt.Sprintf("the types of %s %s must agree", kind, new.Name)
		case !new.Allowed.Contains(old.Allowed):
			return fmt.Sprintf("%s %s admits fewer types", kind, new.Name)
		}
	}
	for _, new := range b[len(a):] {
		if new.Option == Single {
			return fmt.Sprintf("%s %s is required", kind, new.Name)
		}
	}
	return ""
}

// change is a version at which an operator got another meaning under a schema
// that only looks extended.
type change struct {
	domain, op string
	at         int64
	what       string
	affects    func(*ir.Node) bool
}

// changes holds what the documentation says of such versions. Whoever adds a
// release of ONNX compares the documentation of each pair of neighbouring
// versions whose schemas look compatible, and enters the pair, read, in
// testdata/compatible.txt; a test fails while one is missing. Left out are
// corrections of the text that no implementation follows by version, such as the
// output size of pooling under auto_pad, and answers to questions that the older
// text left open.
var changes = []change{
	{"", "PRelu", 7, "slope is broadcast from the last dim instead of along the channels", always},
	{"", "OneHot", 11, "negative indices count from the end instead of selecting nothing", always},
	{"", "ConvTranspose", 11, "the odd element of automatic padding moved to the other side", func(n *ir.Node) bool {
		return n.Attr("auto_pad") != nil || n.Attr("output_shape") != nil
	}},
	{"", "Softmax", 13, "axis is one dim instead of the first of those flattened together", always},
	{"", "LogSoftmax", 13, "axis is one dim instead of the first of those flattened together", always},
	{"", "Hardmax", 13, "axis is one dim instead of the first of those flattened together", always},
	{"", "Resize", 13, "coordinate_transformation_mode tf_half_pixel_for_nn is gone", func(n *ir.Node) bool {
		a := n.Attr("coordinate_transformation_mode")
		return a != nil && (a.Ref != "" || string(a.Bytes) == "tf_half_pixel_for_nn")
	}},
	{"", "RoiAlign", 16, "coordinates are shifted by half a pixel unless coordinate_transformation_mode says otherwise", always},
	{"", "Split", 18, "without the input split, num_outputs is required", func(n *ir.Node) bool { return n.Input(1) == nil }},
	{"", "GridSample", 20, "the modes bilinear and bicubic are called linear and cubic", always},
	{"", "GroupNormalization", 21, "scale and bias have one element a channel instead of one a group", always},
	{"", "AveragePool", 22, "with ceil_mode, windows that start in the padding are dropped", hasCeilMode},
	{"", "MaxPool", 22, "with ceil_mode, windows that start in the padding are dropped", hasCeilMode},
	{"", "LpPool", 22, "with ceil_mode, windows that start in the padding are dropped", hasCeilMode},
	{"", "Cast", 24, "an infinity saturates to the largest value of float8e4m3fnuz and float8e5m2fnuz instead of becoming NaN", func(n *ir.Node) bool {
		a := n.Attr("to")
		return a != nil && a.Ref == "" && isFNUZ(ir.DataType(a.Int))
	}},
	{"", "CastLike", 24, "an infinity saturates to the largest value of float8e4m3fnuz and float8e5m2fnuz instead of becoming NaN", func(n *ir.Node) bool {
		v := n.Input(1)
		return v != nil && v.Type != nil && isFNUZ(v.Type.Elem)
	}},
	{"", "Range", 27, "float16 and bfloat16 are counted in float32", func(n *ir.Node) bool {
		v := n.Input(0)
		return v != nil && v.Type != nil && (v.Type.Elem == ir.Float16 || v.Type.Elem == ir.BFloat16)
	}},
	{"ai.onnx.ml", "LabelEncoder", 4, "every NaN is the same key, and of equal keys the last one counts", always},
}

func isFNUZ(t ir.DataType) bool { return t == ir.Float8E4M3FNUZ || t == ir.Float8E5M2FNUZ }

func always(*ir.Node) bool { return true }

func hasCeilMode(n *ir.Node) bool {
	a := n.Attr("ceil_mode")
	return a != nil && (a.Ref != "" || a.Int != 0)
}
