package lowering

import (
	"fmt"
	"math"

	"mobiusc/ir"
)

// positionBiasOption declares what attention adds to its scores by position.
var positionBiasOption = Option{
	Name: "position_bias", Kind: RecordOption, Doc: "what is added to the scores by the positions of query and key", Fields: []Option{
		{Name: "relative_bias", Kind: RecordOption, Required: true,
			Doc: "a learned bias a head and bucket of distances (arXiv 1910.10683): every distance its own bucket up to half of them, then " +
				"logarithmically wider; with a bidirectional mask half the buckets are for later keys", Fields: []Option{
				{Name: "name", Kind: NameOption, Required: true, Doc: "module path of the table [buckets, heads]; blocks that name the same one share it"},
				{Name: "buckets", Kind: IntOption, Required: true, Doc: "rows of the table"},
				{Name: "max_distance", Kind: IntOption, Required: true, Doc: "the distance from which on all are in the last bucket"},
			}},
	},
}

// relativeBias returns the bias of every head, query and key, [1, heads,
// sequence, total] in the compute dtype. Queries are the last positions. It is
// made once a component for equal rules.
//
// The bucket of each distance is a constant: it is the bias of each distance
// that is looked up at run time, exact where the bucket's logarithm would be
// rounded.
func (a *attention) relativeBias(m maskSpec) *ir.Value {
	o := a.o.Record("position_bias").Record("relative_bias")
	buckets, furthest := o.Int("buckets"), o.Int("max_distance")
	path := a.Join(o.Text("name"))
	key := fmt.Sprintf("relative bias %s %d %d %d %t %s %s", path, a.heads, buckets, furthest, m.causal, m.sequence, m.total)
	return once(a.Builder, key, "", func() (bias *ir.Value) {
		a.Within("/"+path, func() {
			rule := bucketRule{buckets: buckets, maxDistance: furthest, bidirectional: !m.causal}
			if !rule.valid() {
				a.Fail("%d buckets cannot hold the distances up to %d", buckets, furthest)
			}
			table := a.Param("weight", a.component.compute, Init{Std: 0.5}, buckets, a.heads)
			bucketOf, last := a.table("buckets", ir.Ints64(rule.all()...)), furthest
			if m.causal {
				last = 0
			}
			byDistance := a.Op("Transpose", []*ir.Value{a.Binary("Gather", table, bucketOf)}, ir.IntsAttr("perm", 1, 0)) // [heads, distances]
			near := a.Op("Clip", []*ir.Value{a.distances(m), a.IntScalar(-furthest), a.IntScalar(last)})
			index := a.Binary("Add", near, a.IntScalar(furthest))
			biases := a.Op("Gather", []*ir.Value{byDistance, index}, ir.IntAttr("axis", 1))
			bias = a.Op("Unsqueeze", []*ir.Value{biases, a.Ints(0)})
		})
		return bias
	})
}

// biasedMask returns the relative bias with the least value of its type where
// the mask hides a key.
func (a *attention) biasedMask(m maskSpec, keep *ir.Value) *ir.Value {
	bias := a.relativeBias(m)
	if keep == nil {
		return bias
	}
	key := fmt.Sprintf("masked bias %p %p", bias, keep)
	return once(a.Builder, key, "mask", func() *ir.Value {
		return a.Op("Where", []*ir.Value{keep, bias, a.Scalar(bias.Type.Elem, lowest(bias.Type.Elem))})
	})
}

// lowest returns the least finite value of a float type.
func lowest(t ir.DataType) float64 {
	if t == ir.Float16 {
		return -65504
	}
	return -3.3895313892515355e38 // of bfloat16; float32 has one, too
}

// distances returns int64 [sequence, total]: the position of the key minus that
// of the query.
func (b *Builder) distances(m maskSpec) *ir.Value {
	keys, queries := b.slots(m)
	return b.Binary("Sub", keys, queries)
}

// bucketRule sorts distances into buckets. Formula: Transformers, in the
// float32 arithmetic that decides on which side of a border a distance falls.
type bucketRule struct {
	buckets, maxDistance int64
	bidirectional        bool
}

// oneSided returns the buckets of one direction, and how many of them hold one
// distance each.
func (r bucketRule) oneSided() (all, exact int64) {
	all = r.buckets
	if r.bidirectional {
		all /= 2
	}
	return all, all / 2
}

func (r bucketRule) valid() bool {
	_, exact := r.oneSided()
	return exact > 0 && r.maxDistance > exact && r.maxDistance <= 1<<16
}

// all returns the bucket of every distance from −maxDistance to maxDistance, or
// to 0 where no key is later than its query.
func (r bucketRule) all() []int64 {
	last := r.maxDistance
	if !r.bidirectional {
		last = 0
	}
	var out []int64
	for d := -r.maxDistance; d <= last; d++ {
		out = append(out, r.bucket(d))
	}
	return out
}

// bucket returns the bucket of a key that is so many positions after its query.
func (r bucketRule) bucket(distance int64) int64 {
	n, exact := r.oneSided()
	first := int64(0)
	if distance > 0 {
		first = n // later keys are in the second half
	}
	d := max(distance, -distance)
	if d < exact {
		return first + d
	}
	octaves := float32(math.Log(float64(float32(d)/float32(exact)))) / float32(math.Log(float64(r.maxDistance)/float64(exact)))
	return first + min(exact+int64(octaves*float32(n-exact)), n-1)
}
