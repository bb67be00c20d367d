package spec

import (
	"cmp"
	"slices"

	"mobiusc/compiler/spec/expr"
	"mobiusc/compiler/spec/fault"
	"mobiusc/compiler/spec/tree"
	"mobiusc/internal/diag"
	"mobiusc/lowering"
)

// defaultTheta is the base of the frequencies that every implementation assumes
// where the config does not state one.
const defaultTheta = 10000

// ropeNumberNames are the numbers of a rope record that may stand beside it too,
// with the names that they usually have there.
var ropeNumberNames = []struct {
	name   string
	beside []string
	doc    string
}{
	{"rope_theta", []string{"rope_theta", "rotary_emb_base"}, "base of the frequencies"},
	{"partial_rotary_factor", []string{"partial_rotary_factor", "rotary_pct"}, "rotated part of each head"},
	{"original_max_position_embeddings", []string{"original_max_position_embeddings"}, "the trained length"},
}

// ropeNumber is where a number stands beside a rope record, and what it is where
// no key states it.
type ropeNumber struct {
	beside    []string
	otherwise *tree.Node // nil if the spec states no default
}

// ropeNumbersOf reads the field numbers of a key of type rope.
func ropeNumbersOf(n *tree.Node) map[string]ropeNumber {
	numbers := map[string]ropeNumber{}
	for _, usual := range ropeNumberNames {
		number := ropeNumber{beside: usual.beside}
		said := n.Get(usual.name)
		if from := textsOf(said.Get("from")); len(from) > 0 {
			number.beside = from
		}
		if otherwise := said.Get("default"); otherwise != nil && otherwise.Kind != tree.Null {
			number.otherwise = otherwise
		}
		numbers[usual.name] = number
	}
	return numbers
}

// rope reads a rotary embedding in every layout found in the wild: a record
// rope_parameters; or rope_theta beside a record rope_scaling, whose type is
// rope_type or type; some numbers stand beside either record.
func (r *reading) rope(k *configKey, objects []jsonObject) *readValue {
	v := &readValue{key: k, at: k.keyAt}
	names := k.from
	if len(names) == 1 && names[0] == k.name && k.name == "rope" {
		names = []string{"rope_parameters", "rope_scaling"}
	}
	o := objects[0]
	for _, candidate := range objects { // the first that says anything
		if statesRope(candidate.node, names, k) {
			o = candidate
			break
		}
	}
	record := hit{}
	for _, here := range r.hits(names, objects) {
		if record.entry == nil {
			record = here[0]
			v.source, v.at = record.path, record.entry.Value.Range
		}
	}
	if record.entry != nil && record.entry.Value.Kind != tree.Map {
		r.report(fault.BadConfigValue(record.entry.Value.Range, record.path, "an object", record.entry.Value.Describe()))
		return v
	}
	if k.typ.outer == "map" {
		v.value = r.ropes(record, o, k)
		return v
	}
	var node *tree.Node
	if record.entry != nil {
		node = record.entry.Value
	}
	v.value = r.ropeRecord(node, record.path, o, k)
	return v
}

// ropes reads one record for each kind of layer.
func (r *reading) ropes(record hit, o jsonObject, k *configKey) expr.Value {
	if record.entry == nil {
		if !k.typ.optional {
			r.missing = append(r.missing, k)
			r.report(fault.MissingConfigKey(start(o.node), o.join(k.from[0]), nil, k.keyAt))
		}
		return nil
	}
	all := expr.Record{}
	for _, e := range record.entry.Value.Entries {
		if e.Value.Kind != tree.Map {
			r.report(fault.BadConfigValue(e.Value.Range, record.path+"."+e.Key.Text, "the rope record of a kind of layer", e.Value.Describe()))
			continue
		}
		all[e.Key.Text] = r.ropeRecord(e.Value, record.path+"."+e.Key.Text, o, k)
	}
	return all
}

// statesRope reports whether an object has a rope record, or a number that always
// belongs to one.
func statesRope(n *tree.Node, records []string, k *configKey) bool {
	for _, name := range slices.Concat(records, k.numbers["rope_theta"].beside, k.numbers["partial_rotary_factor"].beside) {
		if e, _ := follow(n, name); e != nil {
			return true
		}
	}
	return false
}

// ropeReader reads one record and the keys beside it.
type ropeReader struct {
	r        *reading
	record   *tree.Node // nil if there is none
	path     string
	beside   jsonObject
	declared map[string]ropeNumber
	seen     map[string]bool // keys of the record that were read
}

func (r *reading) ropeRecord(record *tree.Node, path string, beside jsonObject, k *configKey) expr.Value {
	p := &ropeReader{r: r, record: record, path: path, beside: beside, declared: k.numbers, seen: map[string]bool{}}
	rope := &lowering.Rope{Type: p.kind(), Truncate: true}
	rope.Theta = p.number("rope_theta", defaultTheta)
	rope.Fraction = p.number("partial_rotary_factor", 1)
	rope.OriginalMaxPositions = p.count("original_max_position_embeddings")
	rope.Factor = p.number("factor", 0)
	rope.LowFreqFactor, rope.HighFreqFactor = p.number("low_freq_factor", 0), p.number("high_freq_factor", 0)
	rope.BetaFast, rope.BetaSlow = p.number("beta_fast", 0), p.number("beta_slow", 0)
	rope.MScale, rope.MScaleAllDim = p.number("mscale", 0), p.number("mscale_all_dim", 0)
	rope.AttentionFactor = p.number("attention_factor", 0)
	rope.ShortFactor, rope.LongFactor = p.numbers("short_factor"), p.numbers("long_factor")
	rope.Truncate, rope.Interleaved = p.flag("truncate", true), p.flag("mrope_interleaved", false)
	rope.Sections = p.counts("mrope_section")
	if n := beside.node.Get("max_position_embeddings"); n != nil {
		rope.MaxPositions, _ = countOf(n)
	}
	p.rest()
	p.check(rope)
	return rope
}

// name returns the path of a key in config.json.
func (p *ropeReader) name(key string) string {
	if p.record == nil {
		return p.beside.join(key)
	}
	return p.path + "." + key
}

// kind reads the type of scaling under its names.
func (p *ropeReader) kind() string {
	word := "default"
	for _, name := range []string{"rope_type", "type"} {
		n := p.record.Get(name)
		p.seen[name] = true
		if n == nil || n.Kind == tree.Null {
			continue
		}
		said, ok := map[string]string{"mrope": "default", "su": "longrope"}[n.Text]
		if !ok {
			said = n.Text
		}
		if n.Kind != tree.String || !slices.Contains(ropeTypes, said) {
			p.r.report(fault.UnknownRopeType(n.Range, p.name(name), n.Text, ropeTypes))
			return "default"
		}
		if word != "default" && word != said {
			p.r.report(fault.AliasesDisagree(n.Range, p.name(name), n.Describe(), p.name("rope_type"), word, p.record.Get("rope_type").Range))
		}
		word = said
	}
	return word
}

// find returns where a key stands, in the record first; both places must agree.
func (p *ropeReader) find(key string) *tree.Node {
	p.seen[key] = true
	n := p.record.Get(key)
	if n != nil && n.Kind == tree.Null {
		n = nil
	}
	for _, name := range p.declared[key].beside {
		e := p.beside.node.Entry(name)
		if e == nil {
			continue
		}
		p.r.read[e.Key] = true
		switch {
		case e.Value.Kind == tree.Null:
		case n == nil:
			n = e.Value
		case e.Value.Float != n.Float:
			p.r.report(fault.AliasesDisagree(e.Value.Range, p.beside.join(name), e.Value.Describe(), p.name(key), n.Describe(), n.Range))
		}
	}
	return n
}

func (p *ropeReader) bad(n *tree.Node, key, want string) {
	p.r.report(fault.BadConfigValue(n.Range, p.name(key), want, n.Describe()))
}

func (p *ropeReader) number(key string, otherwise float64) float64 {
	n := p.find(key)
	if n == nil {
		n = p.declared[key].otherwise
	}
	switch {
	case n == nil:
		return otherwise
	case n.Kind != tree.Int && n.Kind != tree.Float:
		p.bad(n, key, "a number")
		return otherwise
	}
	return n.Float
}

// countOf returns a whole number from 0 on.
func countOf(n *tree.Node) (int64, bool) {
	v, _ := simple(n, "int")
	count, _ := v.(int64)
	return max(count, 0), v != nil && count >= 0
}

// count returns a whole number from 0 on; 0 if there is none.
func (p *ropeReader) count(key string) int64 {
	n := p.find(key)
	if n == nil {
		n = p.declared[key].otherwise
	}
	if n == nil {
		return 0
	}
	count, ok := countOf(n)
	if !ok {
		p.bad(n, key, "a whole number from 0 on")
	}
	return count
}

// counts returns a list of whole numbers from 0 on.
func (p *ropeReader) counts(key string) (out []int64) {
	n := p.find(key)
	if n == nil {
		return nil
	}
	for _, item := range n.Items {
		count, ok := countOf(item)
		if !ok {
			p.bad(item, key, "a whole number from 0 on")
			return nil
		}
		out = append(out, count)
	}
	if n.Kind != tree.List {
		p.bad(n, key, "a list of whole numbers")
	}
	return out
}

func (p *ropeReader) flag(key string, otherwise bool) bool {
	n := p.find(key)
	switch {
	case n == nil:
		return otherwise
	case n.Kind != tree.Bool:
		p.bad(n, key, "true or false")
		return otherwise
	}
	return n.Bool
}

func (p *ropeReader) numbers(key string) []float64 {
	n := p.find(key)
	if n == nil {
		return nil
	}
	var out []float64
	for _, item := range n.Items {
		if item.Kind != tree.Int && item.Kind != tree.Float {
			p.bad(item, key, "a number")
			return nil
		}
		out = append(out, item.Float)
	}
	if n.Kind != tree.List {
		p.bad(n, key, "a list of numbers")
	}
	return out
}

// rest reports keys of the record that no rotary embedding has.
func (p *ropeReader) rest() {
	if p.record == nil {
		return
	}
	for _, e := range p.record.Entries {
		if !p.seen[e.Key.Text] {
			p.r.unreadKey(e, p.name(e.Key.Text), nil)
		}
	}
}

// check finds values that no rotary embedding can have, and scalings that lack
// a number.
func (p *ropeReader) check(rope *lowering.Rope) {
	at := func(key string) diag.Range {
		if n := p.find(key); n != nil {
			return n.Range
		}
		if p.record != nil {
			return start(p.record)
		}
		return start(p.beside.node)
	}
	if rope.Theta <= 0 {
		p.r.report(fault.BadConfigValue(at("rope_theta"), p.name("rope_theta"), "a number above 0", expr.Format(rope.Theta)))
	}
	if rope.Fraction <= 0 || rope.Fraction > 1 {
		p.r.report(fault.BadConfigValue(at("partial_rotary_factor"), p.name("partial_rotary_factor"), "a number above 0 and at most 1", expr.Format(rope.Fraction)))
	}
	for _, key := range map[string][]string{
		"linear": {"factor"}, "dynamic": {"factor"}, "yarn": {"factor"}, "longrope": {"short_factor", "long_factor"},
		"llama3": {"factor", "low_freq_factor", "high_freq_factor", "original_max_position_embeddings"},
	}[rope.Type] {
		if p.find(key) == nil && p.declared[key].otherwise == nil {
			p.r.report(fault.RopeNeeds(at(key), cmp.Or(p.path, "the rope"), rope.Type, key))
		}
	}
}
