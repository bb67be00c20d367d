package validate

import (
	"mobiusc/ir"
	"mobiusc/ops"
)

// maxModelBytes is the size that protobuf readers accept at most.
const maxModelBytes = 1<<31 - 1

// modelFields checks what stands beside the graph and the functions.
func (w *walk) modelFields() {
	m := w.model
	w.irVersion()
	w.imports(m.Graph, m.Opsets)
	seen := map[string]bool{}
	for _, p := range m.Meta {
		if seen[p.Key] {
			w.report(duplicateMetadata, "metadata_props has the key %q twice", p.Key)
		}
		seen[p.Key] = true
	}
	for _, d := range m.Dropped {
		w.report(notRepresented, "the file has %s, which the compiler does not read", d)
	}
	if len(m.Functions) > 0 {
		w.feature(8, "functions")
	}
}

func (w *walk) irVersion() {
	v, newest := w.model.IRVersion, ops.MaxIRVersion()
	switch {
	case v <= 0:
		w.reportHint(irVersion, "set ir_version", "the IR version is %d, expected 1 to %d", v, newest)
	case v > newest:
		w.reportHint(irVersion, "write the model for an older IR version", "the IR version is %d, but the newest that ONNX defines is %d", v, newest)
	case v < 3 && len(w.model.Opsets) > 0:
		w.report(irVersion, "the IR version is %d, which has no opset imports yet, but the model imports some", v)
	case v >= 3 && len(w.model.Opsets) == 0:
		w.reportHint(NoOpsetImport, "import ai.onnx", "the model imports no operator set")
	}
}

// imports checks the opset imports of the model, or of a function, with its graph.
func (w *walk) imports(g *ir.Graph, opsets []ir.Opset) {
	for i, o := range opsets {
		about := ir.Mention{Graph: g, Role: ir.DomainMention, Name: o.Domain}
		newest := ops.MaxOpset(o.Domain)
		switch {
		case newest > 0 && (o.Version < 1 || o.Version > newest):
			w.reportMention(opsetVersion, about, "", "%s version %d is imported, but ONNX defines 1 to %d", domainName(o.Domain), o.Version, newest)
		case o.Version < 1:
			w.reportMention(opsetVersion, about, "", "%s version %d is imported, versions count from 1", domainName(o.Domain), o.Version)
		}
		for _, p := range opsets[:i] {
			if sameDomain(o.Domain, p.Domain) && o.Version != p.Version {
				w.reportMention(opsetConflict, about, "", "%s is imported as version %d and as version %d", domainName(o.Domain), p.Version, o.Version)
			}
		}
	}
}

// domainName names a domain in a message.
func domainName(domain string) string {
	if ops.IsDefault(domain) {
		return "ai.onnx"
	}
	return domain
}

// feature reports what the model's IR version does not have yet.
func (w *walk) feature(since int64, what string) {
	v := w.model.IRVersion
	if v <= 0 || v >= since || w.reported[what] {
		return
	}
	w.reported[what] = true
	w.reportHint(irFeature, "raise the IR version", "IR version %d has no %s, they came with %d", v, what, since)
}

// elemSince gives the IR version that brought an element type; 1 if not listed.
var elemSince = map[ir.DataType]int64{
	ir.BFloat16: 4, ir.Float8E4M3FN: 9, ir.Float8E4M3FNUZ: 9, ir.Float8E5M2: 9, ir.Float8E5M2FNUZ: 9,
	ir.Uint4: 10, ir.Int4: 10, ir.Float4E2M1: 11, ir.Float8E8M0: 12, ir.Uint2: 13, ir.Int2: 13,
}

// declaredType checks a type that the model states somewhere.
func (w *walk) declaredType(name string, t *ir.Type) {
	for depth := 0; t != nil; depth, t = depth+1, t.Inner {
		switch {
		case depth > maxDepth:
			w.report(invalidType, "the type of %q is nested too deeply", name)
			return
		case t.Kind > ir.MapKind:
			w.report(invalidType, "the type of %q is of an unknown kind", name)
			return
		case t.Kind == ir.OptionalKind || t.Kind == ir.SparseTensorKind:
			w.feature(8, "optional and sparse tensor types")
		}
		hasElem := t.Kind == ir.TensorKind || t.Kind == ir.SparseTensorKind || t.Kind == ir.MapKind
		if hasElem && t.Elem != ir.Undefined && !t.Elem.Valid() {
			w.report(invalidType, "the element type of %q is number %d, which ONNX does not define", name, int32(t.Elem))
		}
		w.feature(elemSince[t.Elem], "type "+t.Elem.String())
		for i, d := range t.Shape {
			if n, ok := d.Int(); ok && n < 0 {
				w.report(invalidType, "dim %d of %q is %d, dims are not negative", i, name, n)
			}
		}
	}
}

// totalSize checks the bytes that the model file itself will hold at least.
func (w *walk) totalSize() {
	if w.bytes > maxModelBytes {
		w.reportHint(modelTooLarge, "store tensors as external data",
			"the tensors in the model take %d bytes, a protobuf file holds at most %d", w.bytes, int64(maxModelBytes))
	}
}
