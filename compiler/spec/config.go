package spec

import (
	"slices"
	"strings"

	"mobiusc/compiler/spec/expr"
	"mobiusc/compiler/spec/fault"
	"mobiusc/compiler/spec/tree"
	"mobiusc/internal/diag"
	"mobiusc/internal/glob"
)

// section is an object of config.json as a spec declares it: the whole config,
// or a part of it such as vision.
type section struct {
	name     string   // vision; "" for the whole
	at       []string // objects that hold the keys: text_config, or . for the whole
	optional bool
	keys     []*configKey
	ignore   []ignoreRule
	keyAt    diag.Range
}

// configKey is one declared key.
type configKey struct {
	name, path string // depth, vision.depth
	typ        configType
	from       []string // its names in config.json
	def        *tree.Node
	defExpr    *expr.Expr   // of a default that is an expression
	values     []expr.Value // those that it is limited to
	valuesAt   diag.Range
	numbers    map[string]ropeNumber // of a rope, by name
	refused    string                // why a config that sets the key is not covered
	section    *section
	keyAt      diag.Range // the key in the spec
}

// ignoreRule names keys that are not read, and says why.
type ignoreRule struct {
	name    string // as it is written
	pattern *glob.Pattern
	reason  string
	leftOut bool // they describe a part of the model that the package lacks
}

// notKeys are the entries of section config that declare no key.
var notKeys = []string{"at", "ignore", "left_out"}

func (s *section) key(name string) *configKey {
	for _, k := range s.keys {
		if k.name == name {
			return k
		}
	}
	return nil
}

func (s *section) names() []string {
	var names []string
	for _, k := range s.keys {
		if k.refused == "" {
			names = append(names, k.name)
		}
	}
	return names
}

// static returns the type of a section in expressions.
func (s *section) static() expr.Type {
	t := expr.Type{Kind: expr.RecordType, Fields: map[string]expr.Type{}, Optional: s.optional}
	for _, k := range s.keys {
		if k.refused == "" {
			t.Fields[k.name] = k.static()
		}
	}
	return t
}

func (k *configKey) static() expr.Type {
	if k.section != nil {
		return k.section.static()
	}
	return k.typ.static()
}

// declareConfig reads section config of a merged spec.
func (c *checked) declareConfig(n *tree.Node) *section {
	root := &section{at: []string{"."}}
	if n == nil {
		return root
	}
	root.keyAt = n.Range
	if at := n.Get("at"); at != nil && at.Kind != tree.Null {
		root.at = textsOf(at)
	}
	root.ignore = c.ignoreRules(n)
	for _, e := range n.Entries {
		if !slices.Contains(notKeys, e.Key.Text) && e.Value.Kind == tree.Map {
			root.keys = append(root.keys, c.declareKey(e, "", n))
		}
	}
	return root
}

// ignoreRules reads what section config, or a section of it, says of keys that it
// does not read.
func (c *checked) ignoreRules(n *tree.Node) []ignoreRule {
	var rules []ignoreRule
	for _, list := range []string{"ignore", "left_out"} {
		for _, e := range entries(n.Get(list)) {
			if p := c.pattern(e.Key); p != nil {
				rules = append(rules, ignoreRule{e.Key.Text, p, textOf(e.Value), list == "left_out"})
			}
		}
	}
	return rules
}

// declareKey reads one key of those beside it.
func (c *checked) declareKey(e tree.Entry, outer string, beside *tree.Node) *configKey {
	n := e.Value
	k := &configKey{name: e.Key.Text, path: outer + e.Key.Text, keyAt: e.Key.Range, from: textsOf(n.Get("from")), def: n.Get("default")}
	if len(k.from) == 0 {
		k.from = []string{k.name}
	}
	k.refused = textOf(n.Get("unsupported"))
	if k.refused == "" {
		c.checkName(e.Key)
	}
	switch {
	case n.Get("at") != nil || n.Get("keys") != nil:
		c.declareSection(k, n)
	case k.refused != "":
	case n.Get("type") == nil:
		c.report(c.lacking(fault.MissingType(e.Key.Range, k.name, typedKeys(beside)), strings.Join(append(k.keyPath(), "type"), ".")))
		k.typ.word = "object"
	default:
		k.typ, _ = parseConfigType(n.Get("type").Text)
		c.declareDefault(k)
		c.declareValues(k, n.Get("values"))
	}
	if k.typ.word == "rope" {
		k.numbers = ropeNumbersOf(n.Get("numbers"))
	} else if e := n.Entry("numbers"); e != nil {
		c.report(fault.UnknownKey(e.Key.Range, "a config key that is no rope", "numbers", nil))
	}
	return k
}

// typedKeys returns the names of the keys that are declared with a type.
func typedKeys(n *tree.Node) (names []string) {
	for _, e := range n.Entries {
		if e.Value.Get("type") != nil {
			names = append(names, e.Key.Text)
		}
	}
	return names
}

func (c *checked) declareSection(k *configKey, n *tree.Node) {
	s := &section{name: k.path, at: []string{k.name}, ignore: c.ignoreRules(n), keyAt: k.keyAt}
	if at := n.Get("at"); at != nil {
		s.at = []string{at.Text}
	}
	s.optional = n.Get("optional") != nil && n.Get("optional").Bool
	if keys := n.Get("keys"); keys != nil {
		for _, e := range keys.Entries {
			if e.Value.Kind == tree.Map {
				s.keys = append(s.keys, c.declareKey(e, k.path+".", keys))
			}
		}
	}
	k.section = s
}

// declareDefault parses a default. Of a key that holds words it is the word
// itself; otherwise text is an expression over other keys.
func (c *checked) declareDefault(k *configKey) {
	if k.def == nil || k.def.Kind != tree.String || k.typ.wordy() {
		return
	}
	e, d := expr.Parse(k.def.Text, k.def.Span)
	c.report(d)
	k.defExpr = e
}

// declareValues reads the values that a key is limited to, as those of a config
// are read.
func (c *checked) declareValues(k *configKey, n *tree.Node) {
	if n == nil {
		return
	}
	k.valuesAt = n.Range
	for _, item := range n.Items {
		if item.Kind == tree.Null && k.typ.optional {
			k.values = append(k.values, nil)
			continue
		}
		if v, ok := c.constant(item, k.typ, "a value of "+k.path); ok {
			k.values = append(k.values, v)
		}
	}
}

// constant converts a value that the spec states for a config key.
func (c *checked) constant(n *tree.Node, t configType, what string) (expr.Value, bool) {
	r := &reading{}
	v, ok := r.convert(n, t, what)
	c.found = append(c.found, r.found...)
	return v, ok
}

// wordy reports whether the values of a type are words.
func (t configType) wordy() bool {
	return t.outer == "" && (t.word == "string" || t.word == "activation" || t.word == "dtype")
}

// checkName refuses names that expressions cannot mention or that mean
// something else there.
func (c *checked) checkName(key *tree.Node) {
	switch {
	case expr.Reserved(key.Text):
		c.report(fault.ReservedName(key.Range, key.Text))
	case !expr.IsName(key.Text):
		c.report(fault.NotAName(key.Range, key.Text))
	}
}

// literal returns the value of a node that is no expression.
func literal(n *tree.Node) expr.Value {
	if n.Kind != tree.List {
		return n.Interface()
	}
	list := make([]expr.Value, len(n.Items))
	for i, item := range n.Items {
		list[i] = literal(item)
	}
	return list
}
