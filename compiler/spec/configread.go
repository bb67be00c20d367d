package spec

import (
	"slices"
	"strings"

	"mobiusc/compiler/spec/expr"
	"mobiusc/compiler/spec/fault"
	"mobiusc/compiler/spec/tree"
	"mobiusc/internal/diag"
)

// Config is a parsed config.json.
type Config struct {
	Path string
	Text []byte
	root *tree.Node
}

// ParseConfig reads the text of a config.json. path is what diagnostics show.
func ParseConfig(path string, text []byte) (*Config, diag.List) {
	root, found := tree.ParseJSON(path, text)
	if root != nil && root.Kind != tree.Map {
		found.Add(*fault.WrongType(root.Range, "an object", root.Describe()))
	}
	if found.HasErrors() {
		if d := specForConfig(path, text); d != nil {
			return nil, diag.List{*d}
		}
		return nil, found
	}
	return &Config{Path: path, Text: text, root: root}, found
}

// ModelType returns the model type that the config states, or "".
func (c *Config) ModelType() string { return textOf(c.root.Get("model_type")) }

// ConfigValue is one declared key with the value that the model is made from.
type ConfigValue struct {
	Path   string // in the spec: hidden_size, vision.depth
	Value  any    // nil, bool, int64, float64, string, []any, *lowering.Rope
	Source string // in config.json: text_config.hidden_size; "" for a default
	Range  diag.Range
}

// IgnoredKey is a key of config.json that is not read, and why.
type IgnoredKey struct{ Path, Reason string }

// reading reads a config as a spec declares it.
type reading struct {
	found    diag.List
	config   *Config
	values   map[string]*readValue // by path
	read     map[*tree.Node]bool   // keys of config.json that something reads
	entered  map[*tree.Node]bool   // objects of config.json in which a path of names reads
	ignored  []IgnoredKey
	sections []readSection
	strict   bool

	left    []unreadKey  // what is neither read nor ignored
	missing []*configKey // what the spec needs and the config does not have
}

// unreadKey is a key of config.json with its value.
type unreadKey struct {
	path  string
	value *tree.Node
}

// readSection is a section with the objects of config.json that hold its keys;
// there is none where an optional section is absent.
type readSection struct {
	*section
	objects []jsonObject
}

// readValue is a key's value, or how to find it.
type readValue struct {
	key    *configKey
	value  expr.Value
	source string
	at     diag.Range
	node   *tree.Node // in config.json, nil for a default
	state  valueState
}

type valueState uint8

const (
	known     valueState = iota
	defaulted            // by an expression that is yet to be evaluated
	computing
)

// jsonObject is an object of config.json with its path.
type jsonObject struct {
	node *tree.Node
	path string // text_config; "" for the whole
}

func (o jsonObject) join(key string) string {
	if o.path == "" {
		return key
	}
	return o.path + "." + key
}

// readConfig reads every declared key of a config and reports the others.
func readConfig(root *section, config *Config, strict bool) *reading {
	r := &reading{config: config, values: map[string]*readValue{}, read: map[*tree.Node]bool{}, entered: map[*tree.Node]bool{}, strict: strict}
	if e := config.root.Entry("model_type"); e != nil {
		r.read[e.Key] = true // it has selected the spec
	}
	r.section(root, jsonObject{config.root, ""})
	r.unread(config.root, "", root, nil)
	return r
}

func (r *reading) report(d *diag.Diagnostic) {
	if d != nil {
		r.found.Add(*d)
	}
}

// section reads the keys of a section from its objects.
func (r *reading) section(s *section, in jsonObject) {
	var objects []jsonObject
	for _, at := range s.at {
		if at == "." {
			objects = append(objects, in)
			continue
		}
		e := in.node.Entry(at)
		switch {
		case e == nil:
		case e.Value.Kind == tree.Null:
			r.read[e.Key] = true
		case e.Value.Kind != tree.Map:
			r.report(fault.BadConfigValue(e.Value.Range, in.join(at), "an object", e.Value.Describe()))
			r.read[e.Key] = true
		default:
			objects = append(objects, jsonObject{e.Value, in.join(at)})
		}
	}
	r.sections = append(r.sections, readSection{s, objects})
	if len(objects) == 0 && s.optional {
		return
	}
	if len(objects) == 0 {
		r.report(fault.MissingConfigKey(start(in.node), in.join(s.at[0]), nil, s.keyAt))
		return
	}
	for _, k := range s.keys {
		switch {
		case k.section != nil:
			r.section(k.section, holder(objects, k.section.at[0]))
		case k.typ.word == "rope":
			r.values[k.path] = r.rope(k, objects)
		default:
			r.values[k.path] = r.plain(k, objects)
		}
	}
}

// holder returns the first object that has a key, or the first.
func holder(objects []jsonObject, key string) jsonObject {
	for _, o := range objects {
		if n := o.node.Get(key); n != nil && n.Kind != tree.Null {
			return o
		}
	}
	return objects[0]
}

// hit is one place of config.json that states a key.
type hit struct {
	entry *tree.Entry
	path  string
}

// follow returns the entry that a name leads to, and the objects on the way there:
// a name with dots that no key has is the path of a key in objects.
func follow(n *tree.Node, name string) (e *tree.Entry, through []*tree.Node) {
	for {
		if e = n.Entry(name); e != nil {
			return e, through
		}
		outer, inner, isPath := strings.Cut(name, ".")
		if n = n.Get(outer); !isPath || n == nil {
			return nil, nil
		}
		name, through = inner, append(through, n)
	}
}

// hits returns, object by object, the places that state one of the names, and
// marks them as read. JSON null states nothing.
func (r *reading) hits(names []string, objects []jsonObject) [][]hit {
	var all [][]hit
	for _, o := range objects {
		var here []hit
		for _, name := range names {
			if e, through := follow(o.node, name); e != nil {
				r.read[e.Key] = true
				for _, n := range through {
					r.entered[n] = true
				}
				if e.Value.Kind != tree.Null {
					here = append(here, hit{e, o.join(name)})
				}
			}
		}
		if len(here) > 0 {
			all = append(all, here)
		}
	}
	return all
}

// statedNull returns the null that a config states for an optional key with a
// default: absent means the default there, and null none.
func statedNull(k *configKey, objects []jsonObject) *tree.Node {
	if !k.typ.optional || k.def == nil {
		return nil
	}
	for _, o := range objects {
		for _, name := range k.from {
			if e, _ := follow(o.node, name); e != nil { // a null, since nothing else was found
				return e.Value
			}
		}
	}
	return nil
}

// plain reads a key that is one value.
func (r *reading) plain(k *configKey, objects []jsonObject) *readValue {
	v := &readValue{key: k, at: k.keyAt}
	all := r.hits(k.from, objects)
	if len(all) == 0 {
		if null := statedNull(k, objects); null != nil {
			v.at = null.Range
			return v
		}
		r.absent(v, objects)
		return v
	}
	h := all[0][0]
	if k.refused != "" {
		r.report(fault.Refused(h.entry.Key.Range, h.path, k.refused))
		return v
	}
	v.source, v.at, v.node = h.path, h.entry.Value.Range, h.entry.Value
	value, ok := r.convert(h.entry.Value, k.typ, h.path)
	v.value = value
	for _, other := range all[0][1:] {
		if w, good := r.convert(other.entry.Value, k.typ, other.path); ok && good && !expr.Equal(value, w) {
			r.report(fault.AliasesDisagree(other.entry.Value.Range, other.path, other.entry.Value.Describe(), h.path,
				h.entry.Value.Describe(), h.entry.Value.Range))
		}
	}
	for _, outer := range all[1:] {
		if !tree.Equal(outer[0].entry.Value, h.entry.Value) {
			r.report(fault.Shadowed(outer[0].entry.Key.Range, outer[0].path, h.path, h.entry.Key.Range))
		}
	}
	if ok && !k.covers(value) {
		r.report(fault.NotCovered(h.entry.Value.Range, h.path, h.entry.Value.Describe(), formatAll(k.values), k.keyAt))
	}
	return v
}

// covers reports whether a value is among those that the key is limited to.
func (k *configKey) covers(v expr.Value) bool {
	return len(k.values) == 0 || slices.ContainsFunc(k.values, func(w expr.Value) bool { return expr.Equal(v, w) })
}

func formatAll(values []expr.Value) []string {
	var out []string
	for _, v := range values {
		out = append(out, strings.Trim(expr.Format(v), "'"))
	}
	return out
}

// absent gives a key that the config lacks its default.
func (r *reading) absent(v *readValue, objects []jsonObject) {
	k := v.key
	switch {
	case k.defExpr != nil:
		v.state, v.at = defaulted, k.def.Range
	case k.def != nil:
		v.at = k.def.Range
		v.value, _ = r.convert(k.def, k.typ, k.path)
	case !k.typ.optional && k.refused == "":
		r.missing = append(r.missing, k)
		r.report(fault.MissingConfigKey(start(objects[0].node), objects[0].join(k.from[0]), r.undeclared(objects[0], k), k.keyAt))
	}
}

// undeclared returns the keys of an object that no key declared beside k is read
// from.
func (r *reading) undeclared(o jsonObject, k *configKey) []string {
	i := slices.IndexFunc(r.sections, func(s readSection) bool { return slices.Contains(s.keys, k) })
	var names []string
	for _, e := range o.node.Entries {
		if !slices.ContainsFunc(r.sections[i].keys, func(k *configKey) bool { return slices.Contains(k.from, e.Key.Text) }) {
			names = append(names, e.Key.Text)
		}
	}
	return names
}
