package spec

import (
	"cmp"
	"slices"

	"mobiusc/compiler/spec/tree"
	"mobiusc/internal/diag"
	"mobiusc/internal/suggest"
)

// Fit says how far a spec reads a config that it need not have been written for.
type Fit struct {
	Spec *Spec
	// Accepted is set where the spec answers to the config's model type.
	Accepted bool
	// Read is the number of keys that it reads.
	Read int
	// Refused are the findings but for what is in Missing and Unread: values that
	// the spec does not cover, or of another type.
	Refused diag.List

	unread  []unreadKey
	missing []*configKey
}

// Unread returns the paths of the keys of the config that the spec neither reads
// nor ignores.
func (f Fit) Unread() (paths []string) {
	for _, k := range f.unread {
		paths = append(paths, k.path)
	}
	return paths
}

// Missing returns the paths of the keys that the spec needs and the config lacks.
func (f Fit) Missing() (paths []string) {
	for _, k := range f.missing {
		paths = append(paths, k.path)
	}
	return paths
}

// distance is what separates the spec from the config: a key that is missing or
// refused weighs more than one that is not read, one whose value says nothing
// (null, false, zero) counts for nothing, and a name that is close to one of the
// spec's for a little less than that.
func (f Fit) distance(modelType string) int {
	unread := 0
	for _, u := range f.unread {
		if !isEmpty(u.value) {
			unread++
		}
	}
	d := 4*(2*len(f.missing)+2*len(f.Refused)+unread) - min(f.Read, 3)
	for _, t := range f.Spec.Types() {
		if suggest.Nearest(modelType, []string{t}) != "" {
			return d - 6
		}
	}
	return d
}

// Nearest returns how the carried specs fit a config: first those that answer to
// its model type, then by how little separates them from it.
func Nearest(config *Config) []Fit {
	var fits []Fit
	for _, name := range Names() {
		if s, found := Load(CarriedPath(name), nil); !found.HasErrors() && !s.Abstract && s.pins() == nil {
			fits = append(fits, s.fit(config))
		}
	}
	slices.SortStableFunc(fits, func(a, b Fit) int {
		return cmp.Or(-compareBool(a.Accepted, b.Accepted),
			cmp.Compare(a.distance(config.ModelType()), b.distance(config.ModelType())), cmp.Compare(len(a.Spec.files), len(b.Spec.files)))
	})
	return fits
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// FitOf is Nearest for one spec.
func FitOf(s *Spec, config *Config) Fit { return s.fit(config) }

func (s *Spec) fit(config *Config) Fit {
	r := readConfig(s.compiled.config, config, false)
	f := Fit{Spec: s, Accepted: s.Accepts(config.ModelType()), Read: len(r.read), unread: r.left, missing: r.missing}
	for _, d := range r.found {
		missing := slices.ContainsFunc(r.missing, func(k *configKey) bool {
			return slices.ContainsFunc(d.Notes, func(n diag.Related) bool { return n.Range == k.keyAt })
		})
		if d.Severity == diag.Error && !missing {
			f.Refused.Add(d)
		}
	}
	return f
}

// aliases returns, for each missing key, the unread key of the config that some
// carried spec takes for the same.
func (f Fit) aliases() map[*configKey]string {
	same := map[string][]string{} // name in a config → names of the key in any spec
	for _, name := range Names() {
		if s, found := Load(CarriedPath(name), nil); !found.HasErrors() {
			s.compiled.config.walk(func(k *configKey) {
				for _, from := range k.from {
					same[from] = append(append(same[from], k.name), k.from...)
				}
			})
		}
	}
	out := map[*configKey]string{}
	for _, k := range f.missing {
		for _, u := range f.unread {
			if u.value.Kind == tree.Null { // it states nothing
				continue
			}
			name := lastOf(u.path)
			if slices.Contains(same[name], k.name) || slices.ContainsFunc(k.from, func(from string) bool { return slices.Contains(same[name], from) }) {
				out[k] = name
				break
			}
		}
	}
	return out
}

// walk visits all keys of a section and of the sections in it.
func (s *section) walk(visit func(*configKey)) {
	for _, k := range s.keys {
		visit(k)
		if k.section != nil {
			k.section.walk(visit)
		}
	}
}

// guessType returns the type that a value of config.json suggests for its key.
func guessType(n *tree.Node) string {
	switch n.Kind {
	case tree.Bool:
		return "bool"
	case tree.Int:
		return "int"
	case tree.Float:
		return "float"
	case tree.List:
		if len(n.Items) > 0 && n.Items[0].IsScalar() && n.Items[0].Kind != tree.Null {
			return "list<" + guessType(n.Items[0]) + ">"
		}
		return "object"
	case tree.Map, tree.Null:
		return "object"
	}
	switch {
	case activationNames[n.Text] != "":
		return "activation"
	case dtypeOf[n.Text] != 0:
		return "dtype"
	}
	return "string"
}
