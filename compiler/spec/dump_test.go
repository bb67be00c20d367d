package spec

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"mobiusc/ir"
	"mobiusc/lowering"
)

// dumpModel writes a model as indented text: one block a line, its options in
// order, bodies below.
func dumpModel(m *lowering.Model) string {
	var b strings.Builder
	fmt.Fprintf(&b, "model %s %s\n", m.Name, DTypeWord(m.Compute))
	for _, c := range m.Components {
		fmt.Fprintf(&b, "component %s prefix=%q states %s → %s\n", c.Name, c.Prefix, c.StateInput, c.StateOutput)
		for _, in := range c.Inputs {
			fmt.Fprintf(&b, "  input %s %s%v", in.Name, DTypeWord(in.Type.Elem), in.Type.Shape)
			if in.From != "" {
				fmt.Fprintf(&b, " from %s", in.From)
			}
			b.WriteString("\n")
		}
		dumpBody(&b, c.Body, "  ")
		for _, out := range c.Outputs {
			fmt.Fprintf(&b, "  output %s = %s\n", out.Name, out.Value)
		}
	}
	return b.String()
}

func dumpBody(b *strings.Builder, body lowering.Body, indent string) {
	for _, blk := range body {
		fmt.Fprintf(b, "%s%s", indent, blk.Decl.Name)
		var bodies []lowering.Body
		dumpRecord(b, blk.Opts, &bodies)
		b.WriteString("\n")
		for i, inner := range bodies {
			if len(bodies) > 1 {
				fmt.Fprintf(b, "%s (%d)\n", indent, i)
			}
			dumpBody(b, inner, indent+"  ")
		}
	}
}

func dumpRecord(b *strings.Builder, r lowering.Record, bodies *[]lowering.Body) {
	for _, name := range slices.Sorted(maps.Keys(r)) {
		switch v := r[name].Value.(type) {
		case lowering.Body:
			*bodies = append(*bodies, v)
		case []lowering.Body:
			*bodies = append(*bodies, v...)
		case lowering.Record:
			fmt.Fprintf(b, " %s{", name)
			dumpRecord(b, v, bodies)
			b.WriteString(" }")
		case ir.DataType:
			fmt.Fprintf(b, " %s=%s", name, DTypeWord(v))
		case *lowering.Rope:
			fmt.Fprintf(b, " %s=%+v", name, *v)
		default:
			fmt.Fprintf(b, " %s=%v", name, v)
		}
	}
}
