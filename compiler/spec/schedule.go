package spec

import (
	"mobiusc/compiler/spec/expr"
	"mobiusc/compiler/spec/fault"
	"mobiusc/compiler/spec/tree"
	"mobiusc/internal/diag"
)

// layerList is a list of the config that an expression indexes by the layer.
type layerList struct {
	*readValue
	use diag.Range // where
}

// layerLists returns the lists of the config that an expression indexes by the
// layer, also those that this config does not make it read.
func (ev *evaluator) layerLists(e *expr.Expr) (lists []layerList) {
	expr.Walk(e.Root, func(part expr.Node) {
		index, ok := part.(*expr.Index)
		if !ok {
			return
		}
		path, isPath := expr.Path(index.X)
		if i, isName := index.I.(*expr.Name); isPath && isName && i.Name == "layer" {
			if v := ev.config.values[path]; v != nil {
				lists = append(lists, layerList{v, e.Range(index)})
			}
		}
	})
	return lists
}

// oneForEachLayer refuses a list that is shorter or longer than the layers. One
// that the config states without entries is no list that it leaves out: only an
// empty default stands for none.
func (ev *evaluator) oneForEachLayer(e *expr.Expr, at place) *diag.Diagnostic {
	if at.layer < 0 {
		return nil
	}
	for _, list := range ev.layerLists(e) {
		entries, isList := list.value.([]expr.Value)
		if !isList || int64(len(entries)) == at.layers || len(entries) == 0 && list.key.emptyByDefault() {
			continue
		}
		name := list.source
		if name == "" {
			name = list.key.path
		}
		return fault.BadSchedule(list.at, name, len(entries), at.layers, at.countAt, list.use)
	}
	return nil
}

// emptyByDefault reports whether a key is an empty list where a config does not
// state it.
func (k *configKey) emptyByDefault() bool {
	return k.def != nil && k.def.Kind == tree.List && len(k.def.Items) == 0
}

// placeOfKind returns where the kind of a layer is stated: in the config's list,
// or else in the spec.
func (ev *evaluator) placeOfKind(kind *tree.Node, layer int64) diag.Range {
	if e := ev.expression(kind); e != nil {
		for _, list := range ev.layerLists(e) {
			if list.node != nil && layer < int64(len(list.node.Items)) {
				return list.node.Items[layer].Range
			}
		}
	}
	return kind.Range
}
