package ops_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"mobiusc/internal/ort"
	"mobiusc/ir"
)

// linearAttentionBound is the largest error of an output or a state against the
// float64 recurrence that a body may have, relative to the largest value.
const linearAttentionBound = 5e-6

// The sizes of the test: small heads, of unequal widths.
const (
	batch    = 2
	keyDim   = 16
	valueDim = 8
)

var sequenceLengths = []int64{1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 128, 200, 1024}

// grouping says how many heads there are of each.
type grouping struct {
	name                string
	query, keys, values int64
}

var groupings = []grouping{
	{"value heads share keys", 2, 2, 4},
	{"query heads share keys", 4, 2, 2},
}

// outputHeads returns the heads of the result.
func (g grouping) outputHeads() int64 { return max(g.query, g.values) }

// TestLinearAttention checks every rule in every form (chunk size 1 is the
// token-by-token form) against the recurrence in float64, on keys and gates that
// are hard for one form or another. The lengths are below, at and above the
// chunks, and every run starts from a state that is not zero.
func TestLinearAttention(t *testing.T) {
	for _, rule := range []string{"linear", "gated", "delta", "gated_delta"} {
		for _, g := range groupings {
			t.Run(rule+"/"+g.name, func(t *testing.T) {
				t.Parallel()
				testForms(t, rule, g, []int64{1, 16, 32, 64, 128}, 1)
			})
		}
	}
}

// TestLinearAttentionByKeyDim checks a decay for every key dim, which has one form.
func TestLinearAttentionByKeyDim(t *testing.T) {
	for _, rule := range []string{"gated", "gated_delta"} {
		for _, g := range groupings {
			t.Run(rule+"/"+g.name, func(t *testing.T) {
				t.Parallel()
				testForms(t, rule, g, []int64{32}, keyDim)
			})
		}
	}
}

// testForms runs a rule with each chunk size on all data sets. decays is the
// number of decays of a head: 1 or keyDim.
func testForms(t *testing.T, rule string, g grouping, chunks []int64, decays int64) {
	var forms []*ort.Session
	for _, chunk := range chunks {
		forms = append(forms, load(t, linearAttentionNode(rule, g, chunk, decays), 22))
	}
	for _, set := range dataSets {
		worst := make([]float64, len(forms))
		for _, length := range sequenceLengths {
			d := newData(set, g, length, decays)
			inputs := d.tensors()
			output, state := d.recurrence(rule)
			for i, form := range forms {
				got, err := form.Run(inputs)
				if err != nil {
					t.Fatal(err)
				}
				e := max(relativeError(floats(got["output"]), output), relativeError(floats(got["present"]), state))
				if !(e <= linearAttentionBound) {
					t.Errorf("%s, %d tokens, chunks of %d: relative error %.2g", set.name, length, chunks[i], e)
				}
				worst[i] = max(worst[i], e)
			}
		}
		t.Logf("%s: %.1e with chunks of %d", set.name, worst, chunks)
	}
}

func linearAttentionNode(rule string, g grouping, chunk, decays int64) *ir.Node {
	rows := func(name string, width int64) *ir.Value {
		return ir.NewValue(name, ir.TensorOf(ir.Float32, ir.Int(batch), ir.Sym("length"), ir.Int(width)))
	}
	state := func(name string) *ir.Value {
		return ir.NewValue(name, ir.TensorOf(ir.Float32, ir.Int(batch), ir.Int(g.values), ir.Int(keyDim), ir.Int(valueDim)))
	}
	inputs := []*ir.Value{
		rows("query", g.query*keyDim), rows("key", g.keys*keyDim), rows("value", g.values*valueDim),
		state("past"), rows("decay", g.values*decays), rows("beta", g.values),
	}
	outputs := []*ir.Value{rows("output", g.outputHeads()*valueDim), state("present")}
	n := ir.NewNode("mobiusc", "LinearAttention", inputs, outputs,
		ir.IntAttr("q_num_heads", g.query), ir.IntAttr("k_num_heads", g.keys), ir.IntAttr("v_num_heads", g.values),
		ir.StringAttr("update_rule", rule), ir.IntAttr("chunk_size", chunk))
	n.Name = "attn"
	return n
}

// dataSet makes the keys and gates of one token and head. Keys are normalised
// afterwards, as models do.
type dataSet struct {
	name string
	// key fills a key, of which shared is a direction that all tokens have in common.
	key   func(r *rand.Rand, key, shared []float64)
	decay func(r *rand.Rand, token int64) float64 // in log space
	beta  func(r *rand.Rand) float64
}

var dataSets = []dataSet{
	{"random", randomKey, usualDecay, usualBeta},
	{"after SiLU", siluKey, usualDecay, usualBeta},
	{"all the same", sameKey, usualDecay, usualBeta},
	{"all the same, beta 1", sameKey, usualDecay, one},
	{"correlated, beta 1", correlatedKey, usualDecay, one},
	{"correlated after SiLU, beta 1, no decay", correlatedSiluKey, noDecay, one},
	{"decay cliffs", siluKey, cliffs, usualBeta},
	{"no decay", siluKey, noDecay, usualBeta},
	{"decay of minus infinity", siluKey, endless, usualBeta},
}

func randomKey(r *rand.Rand, key, _ []float64) {
	for i := range key {
		key[i] = r.NormFloat64()
	}
}

func siluKey(r *rand.Rand, key, _ []float64) {
	for i := range key {
		key[i] = silu(r.NormFloat64())
	}
}

func sameKey(_ *rand.Rand, key, shared []float64) { copy(key, shared) }

func correlatedKey(r *rand.Rand, key, shared []float64) {
	for i := range key {
		key[i] = shared[i] + 0.05*r.NormFloat64()
	}
}

func correlatedSiluKey(r *rand.Rand, key, shared []float64) {
	for i := range key {
		key[i] = silu(shared[i] + 0.3*r.NormFloat64())
	}
}

func silu(x float64) float64 { return x / (1 + math.Exp(-x)) }

func usualDecay(r *rand.Rand, _ int64) float64 { return -math.Exp(r.NormFloat64() - 2) }
func noDecay(*rand.Rand, int64) float64        { return 0 }
func usualBeta(r *rand.Rand) float64           { return 1 / (1 + math.Exp(-r.NormFloat64())) }
func one(*rand.Rand) float64                   { return 1 }

// cliffs drops everything now and then, and hardly anything between.
func cliffs(r *rand.Rand, token int64) float64 {
	if token%7 == 3 {
		return -50
	}
	return -0.01 * r.Float64()
}

func endless(r *rand.Rand, token int64) float64 {
	if token%11 == 4 {
		return math.Inf(-1)
	}
	return usualDecay(r, token)
}

// data is one input: rows [batch, length, heads·width] and a state [batch, value
// heads, keyDim, valueDim], in numbers that float32 holds exactly.
type data struct {
	grouping
	length, decays                                int64
	queryRows, keyRows, valueRows, decay, beta, s []float64
}

func newData(set dataSet, g grouping, length, decays int64) *data {
	r := rand.New(rand.NewPCG(uint64(length), 20251))
	d := &data{grouping: g, length: length, decays: decays}
	tokens := batch * length
	d.queryRows = normalised(tokens*g.query, func(_ int64, row []float64) { randomKey(r, row, nil) })
	shared := make([][]float64, batch*g.keys)
	for i := range shared {
		shared[i] = make([]float64, keyDim)
		randomKey(r, shared[i], nil)
	}
	d.keyRows = normalised(tokens*g.keys, func(i int64, row []float64) {
		row0, head := i/(length*g.keys), i%g.keys
		set.key(r, row, shared[row0*g.keys+head])
	})
	d.valueRows = exact(tokens*g.values*valueDim, func(int64) float64 { return r.NormFloat64() })
	d.decay = exact(tokens*g.values*decays, func(i int64) float64 { return set.decay(r, i/(g.values*decays)%length) })
	d.beta = exact(tokens*g.values, func(int64) float64 { return set.beta(r) })
	d.s = exact(batch*g.values*keyDim*valueDim, func(int64) float64 { return r.NormFloat64() })
	return d
}

// exact returns n values, each rounded to float32.
func exact(n int64, value func(i int64) float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = float64(float32(value(int64(i))))
	}
	return out
}

// normalised returns n rows of keyDim values, each of length 1.
func normalised(n int64, fill func(i int64, row []float64)) []float64 {
	out := make([]float64, n*keyDim)
	for i := range n {
		row := out[i*keyDim:][:keyDim]
		fill(i, row)
		norm := math.Sqrt(dot(row, row))
		for j := range row {
			row[j] = float64(float32(row[j] / norm))
		}
	}
	return out
}

func dot(a, b []float64) (sum float64) {
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

func (d *data) tensors() map[string]ort.Tensor {
	rows := func(values []float64, width int64) ort.Tensor { return tensor(values, batch, d.length, width) }
	return map[string]ort.Tensor{
		"query": rows(d.queryRows, d.query*keyDim), "key": rows(d.keyRows, d.keys*keyDim),
		"value": rows(d.valueRows, d.values*valueDim), "past": tensor(d.s, batch, d.values, keyDim, valueDim),
		"decay": rows(d.decay, d.values*d.decays), "beta": rows(d.beta, d.values),
	}
}

// recurrence returns the result [batch, length, output heads·valueDim] and the
// last state, computed token by token in float64 from the definition:
//
//	S ← exp(g) S;  v ← β (v − Sᵀk);  S ← S + k vᵀ;  o = d^-1/2 Sᵀ q
func (d *data) recurrence(rule string) (output, state []float64) {
	decays, corrects := rule == "gated" || rule == "gated_delta", rule == "delta" || rule == "gated_delta"
	state = append([]float64(nil), d.s...)
	output = make([]float64, batch*d.length*d.outputHeads()*valueDim)
	for b := range int64(batch) {
		for h := range d.values {
			s := state[(b*d.values+h)*keyDim*valueDim:][:keyDim*valueDim]
			for t := range d.length {
				token := b*d.length + t
				if decays {
					d.fade(s, token*d.values+h)
				}
				d.write(s, token, h, corrects)
				d.read(s, token, h, output)
			}
		}
	}
	return output, state
}

// fade applies the decays of one head of one token.
func (d *data) fade(s []float64, head int64) {
	for i := range int64(keyDim) {
		keep := math.Exp(d.decay[head*d.decays+i%d.decays])
		for j := range valueDim {
			s[i*valueDim+int64(j)] *= keep
		}
	}
}

// write adds k vᵀ to the state of value head h.
func (d *data) write(s []float64, token, h int64, corrects bool) {
	k := d.keyRows[(token*d.keys+h/(d.values/d.keys))*keyDim:][:keyDim]
	v := d.valueRows[(token*d.values+h)*valueDim:][:valueDim]
	for j := range valueDim {
		add := v[j]
		if corrects {
			for i := range k {
				add -= s[i*valueDim+j] * k[i]
			}
			add *= d.beta[token*d.values+h]
		}
		for i := range k {
			s[i*valueDim+j] += k[i] * add
		}
	}
}

// read reads the state of value head h with every query head that belongs to it.
func (d *data) read(s []float64, token, h int64, output []float64) {
	shared := d.values / d.keys // value heads of a query head; 1 where query heads share keys
	for n := range d.outputHeads() / d.values {
		head := h*(d.outputHeads()/d.values) + n
		q := d.queryRows[(token*d.query+head/shared)*keyDim:][:keyDim]
		o := output[(token*d.outputHeads()+head)*valueDim:][:valueDim]
		for i := range q {
			for j := range o {
				o[j] += q[i] * s[i*valueDim+j] / math.Sqrt(keyDim)
			}
		}
	}
}

// relativeError returns the largest difference relative to the largest value
// that is wanted; +Inf if anything is not a number.
func relativeError(got, want []float64) float64 {
	if len(got) != len(want) {
		return math.Inf(1)
	}
	largest, worst := 0.0, 0.0
	for i, w := range want {
		largest = max(largest, math.Abs(w))
		e := math.Abs(got[i] - w)
		if math.IsNaN(e) {
			e = math.Inf(1)
		}
		worst = max(worst, e)
	}
	return worst / largest
}
