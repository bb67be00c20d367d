package checkpoint

import (
	"fmt"
	"slices"
)

// assemble joins the tensors of parameters that a checkpoint may store in
// parts: the rows of one after those of the other. A parameter whose own name is
// in the checkpoint is stored as it is.
func (b *binder) assemble(items []*item, params []Param) []*item {
	held := map[string]*item{}
	for _, x := range items {
		held[x.name] = x
	}
	joined := map[*item]bool{}
	for _, p := range params {
		if len(p.Parts) == 0 || held[p.Name] != nil || b.broken[p.Name] {
			continue
		}
		parts, missing := b.partsOf(p, held)
		for _, x := range parts {
			joined[x] = true
		}
		b.missing = append(b.missing, missing...)
		x := b.joinParts(p, parts)
		if x == nil || len(missing) > 0 {
			b.broken[p.Name] = true // reported
			continue
		}
		held[p.Name] = x
		items = append(items, x)
	}
	return slices.DeleteFunc(items, func(x *item) bool { return joined[x] })
}

// partsOf returns the tensors of a parameter's parts, and what is not there.
func (b *binder) partsOf(p Param, held map[string]*item) (parts []*item, missing []Param) {
	for _, name := range p.Parts {
		if x := held[name]; x != nil {
			parts = append(parts, x)
			continue
		}
		missing = append(missing, Param{Name: name, DType: p.DType, Shape: p.partShape(), Range: p.Range})
	}
	return parts, missing
}

// partShape returns the shape of each part: an equal share of the rows.
func (p Param) partShape() []int64 {
	last := len(p.Shape) - 1
	return []int64{elements(p.Shape[:last]) / int64(len(p.Parts)), p.Shape[last]}
}

// joinParts returns the parts as one tensor of the parameter's shape; nil if one
// does not fit, which is reported.
func (b *binder) joinParts(p Param, parts []*item) *item {
	x := &item{name: p.Name}
	var nodes []node
	want, fits := p.partShape(), true
	for _, part := range parts {
		if !slices.Equal(part.node.dims(), want) {
			b.unfit(Param{Name: part.name, Shape: want, Range: p.Range}, part, wrongShape)
			fits = false
			continue
		}
		if problem := joinable(parts[0].node, part.node, 0); problem != "" {
			b.faults.Add(partMisfit(p, parts[0], part, problem))
			fits = false
		}
		nodes, x.tensors = append(nodes, part.node), append(x.tensors, part.tensors...)
	}
	if !fits || len(nodes) == 0 {
		return nil
	}
	x.node = reshapeOf(concatOf(nodes, 0), p.Shape)
	x.steps = append(slices.Clip(parts[0].steps), fmt.Sprintf("join the rows of %d tensors", len(nodes)), Reshape{p.Shape}.String())
	return x
}
