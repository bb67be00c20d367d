// Package spec is the front end: it reads architecture specs (YAML with exact
// positions), lays children over parents, checks everything that can be known
// without a config, and, given a config.json, evaluates the spec to the model
// that package lowering turns into graphs.
//
//	Load → (Variant) → Bind
//
// Every step returns what it made and all that it found; findings are values
// with places, and no input makes the package panic.
//
// The files, by what they are for:
//
//	form, document, canon, types                              what each section holds, and its short forms
//	structure, wrongfile, schema, reference                   the JSON Schema, its findings, the reference page
//	load, merge, expand                                       parents and variants, laid over each other and printed
//	checked, check*, scope, wires, cycles                     what is known without a config
//	unused, deleted, ignore                                   what nothing reads; what a child took away; comments that silence findings
//	config, ownconfig, configread, convert, roperead, unread  a config.json, read as section config declares it
//	bind, env, eval*, metadata, weights                       the model that a config gives
//	nearest, draft, trial                                     the spec that fits a config, a new one, made-up configs
//	outline, sources, complete, describe, rename              what editors ask
package spec

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"mobiusc/compiler/spec/fault"
	"mobiusc/compiler/spec/tree"
	"mobiusc/internal/diag"
	"mobiusc/internal/input"
	"mobiusc/specs"
	"mobiusc/testdata"
)

// ReadFile reads a file by the path that diagnostics then show. An editor passes
// one that prefers its open documents.
type ReadFile func(path string) ([]byte, error)

// Spec is a spec with its parents merged, whose structure is sound. It keeps what
// it has parsed, and so may be used by one goroutine at a time.
type Spec struct {
	Name       string
	Summary    string
	Task       string
	ModelTypes []string
	Path       string // of the file
	Abstract   bool
	// VariantName is the variant that was applied, or "".
	VariantName string

	g        *grammar
	read     ReadFile
	files    []file // the chain, the oldest parent first
	ignores  ignores
	root     *tree.Node
	deleted  map[string]diag.Range
	types    []string // model types that it answers to, variants included
	compiled *checked // the static check of this spec
}

// file is one spec file of a chain.
type file struct {
	path string
	text []byte
	root *tree.Node
}

// leaf returns the file of the spec itself.
func (s *Spec) leaf() file { return s.files[len(s.files)-1] }

// Stdin is the path of a spec that comes from no file, so that its name is its
// own affair. The reader that Load is given must know it.
const Stdin = "-"

// What the program carries has paths like those of the repository, below a root
// that is no directory of any disk. carried is the directory of the specs.
const (
	carriedRoot = "mobiusc:/"
	carried     = carriedRoot + "specs/"
)

// Load reads a spec and its parents, merges them, and checks all that can be
// checked without a config, every variant included. read is input.ReadText if nil.
// path is a file, or the bare name of a carried spec (its file without .yaml). A parent is looked
// up beside its child, then among the carried specs. The Spec is nil when there
// are errors.
func Load(path string, read ReadFile) (*Spec, diag.List) {
	if read == nil {
		read = input.ReadText
	}
	go published() // while the files are read
	l := &loader{g: language(), read: read}
	s := l.load(path)
	if l.found = l.ignores.filter(l.found); s != nil && !l.found.HasErrors() {
		l.found = append(l.found, s.checkAll()...)
	}
	found := append(l.found, l.ignores.idle(l.path, l.found.HasErrors())...).Sorted()
	if l.found.HasErrors() {
		return nil, found
	}
	return s, found
}

type loader struct {
	g       *grammar
	read    ReadFile
	path    string // of the spec
	ignores ignores
	found   diag.List
}

// open reads a file, or a carried one.
func (l *loader) open(path string) ([]byte, error) { return readSource(path, l.read) }

// ReadSource reads the file that a finding names: one on disk, or one that the
// program carries.
func ReadSource(path string) ([]byte, error) { return readSource(path, input.ReadText) }

func readSource(path string, read ReadFile) ([]byte, error) {
	if name, ok := strings.CutPrefix(path, carried); ok {
		return specs.FS.ReadFile(name)
	}
	if name, ok := strings.CutPrefix(path, carriedRoot+"testdata/"); ok {
		return testdata.Pinned.ReadFile(name)
	}
	return read(path)
}

func (l *loader) load(path string) *Spec {
	text, err := l.open(path)
	var known []string // what a bare name may have meant
	if err != nil && !strings.ContainsAny(path, `/\.`) {
		known = Names()
		if carriedText, e := specs.FS.ReadFile(path + ".yaml"); e == nil {
			path, text, err = carried+path+".yaml", carriedText, nil
		}
	}
	if err != nil {
		l.found.Add(*l.unreadable(path, reason(err), known))
		return nil
	}
	l.path = path
	chain := l.chain(path, text)
	if len(chain) == 0 || l.found.HasErrors() {
		return nil
	}
	m := &merger{g: l.g, deleted: map[string]diag.Range{}}
	var root *tree.Node
	for _, f := range chain {
		root = m.merge(inherited(root), f.root, l.g.document, false, nil)
	}
	l.found = append(l.found, m.found...)
	s := &Spec{Path: path, g: l.g, read: l.open, files: chain, root: root, deleted: m.deleted, ignores: l.ignores}
	s.describe()
	s.types = s.accepted()
	return s
}

// inherited drops what speaks of a parent alone.
func inherited(parent *tree.Node) *tree.Node {
	if parent == nil {
		return nil
	}
	for _, key := range []string{"abstract", "extends", "pins"} {
		if e := parent.Entry(key); e != nil {
			parent = parent.With(e.Key, nil)
		}
	}
	return parent
}

// describe sets the fields that say what the spec is.
func (s *Spec) describe() {
	s.Name, s.Summary, s.Task = textOf(s.root.Get("name")), textOf(s.root.Get("summary")), textOf(s.root.Get("task"))
	s.Abstract = s.root.Get("abstract") != nil && s.root.Get("abstract").Bool
	s.ModelTypes = textsOf(s.root.Get("model_types"))
}

func textOf(n *tree.Node) string {
	if n == nil || n.Kind != tree.String {
		return ""
	}
	return n.Text
}

// textsOf returns the texts of a list, or one text.
func textsOf(n *tree.Node) []string {
	if n == nil || n.Kind == tree.Null {
		return nil
	}
	if n.Kind == tree.String {
		return []string{n.Text}
	}
	var out []string
	for _, item := range n.Items {
		out = append(out, item.Text)
	}
	return out
}

// chain reads a file and its parents, the oldest first. The structure of all is
// checked after the last is read, while the schema is still being compiled.
func (l *loader) chain(path string, text []byte) []file {
	var chain []file
	var names []string
	for text != nil {
		l.ignores = append(l.ignores, readIgnores(path, text)...)
		root, found := tree.ParseYAML(path, text)
		if d := l.g.notSpec(path, text, root, found); d != nil {
			l.found.Add(*d)
			return nil
		}
		if l.found = append(l.found, found...); root == nil {
			return nil
		}
		chain = append(chain, file{path, text, root})
		names = append(names, baseName(path))
		parent := root.Get("extends")
		switch {
		case parent == nil || parent.Kind != tree.String:
			text = nil
		case slices.Contains(names, parent.Text):
			l.found.Add(*fault.ExtendsCycle(parent.Range, append(names, parent.Text)))
			return nil
		default:
			path, text = l.parent(path, parent)
		}
	}
	slices.Reverse(chain)
	for i := range chain {
		l.structure(&chain[i])
	}
	return chain
}

// structure checks the structure of a file and writes its short forms out.
func (l *loader) structure(f *file) {
	found := l.g.checkStructure(f.root)
	if l.found = append(l.found, found...); len(found) > 0 {
		return
	}
	if name := f.root.Get("name"); f.path != Stdin && name.Text != baseName(f.path) {
		l.found.Add(*fault.WrongName(name.Range, name.Text, filepath.Base(f.path)))
	}
	f.root = l.g.canon(f.root, l.g.document)
}

// parent finds the file of a parent: beside the child, then carried.
func (l *loader) parent(child string, name *tree.Node) (string, []byte) {
	if strings.ContainsAny(name.Text, `/\.`) || name.Text == "" {
		l.found.Add(*fault.BadParentName(name.Range, name.Text))
		return "", nil
	}
	beside := path.Join(path.Dir(filepath.ToSlash(child)), name.Text+".yaml")
	if text, err := l.open(beside); err == nil {
		return beside, text
	}
	if text, err := specs.FS.ReadFile(name.Text + ".yaml"); err == nil {
		return carried + name.Text + ".yaml", text
	}
	l.found.Add(*fault.UnknownParent(name.Range, name.Text, Names()))
	return "", nil
}

// Names returns the names of the carried specs.
func Names() []string {
	entries, _ := fs.ReadDir(specs.FS, ".") // an embedded directory can be read
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	return names
}

// answering returns the names of the carried specs that answer to a model type,
// or have a variant that does.
func answering(modelType string) []string {
	var found []string
	for _, name := range Names() {
		text, _ := specs.FS.ReadFile(name + ".yaml") // its name was just read
		root, _ := tree.ParseYAML(carried+name+".yaml", text)
		if root == nil {
			continue
		}
		types := textsOf(root.Get("model_types"))
		for _, variant := range root.Get("variants").Keys() {
			types = append(types, textsOf(root.At("variants", variant, "model_types"))...)
		}
		if slices.Contains(types, modelType) {
			found = append(found, name)
		}
	}
	return found
}

func baseName(path string) string {
	return strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
}

// reason drops the path from a system error: messages state it themselves.
func reason(err error) error {
	if pe, ok := err.(*fs.PathError); ok {
		return pe.Err
	}
	return err
}

// Files returns the paths of the spec and its parents that are files, the oldest
// parent first.
func (s *Spec) Files() []string {
	var paths []string
	for _, f := range s.files {
		if !strings.HasPrefix(f.path, carriedRoot) {
			paths = append(paths, f.path)
		}
	}
	return paths
}

// Hash returns the SHA-256, in hex, over the texts of the spec and its parents,
// the oldest parent first.
func (s *Spec) Hash() string {
	h := sha256.New()
	for _, f := range s.files {
		h.Write(f.text)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Variants returns the names of the variants.
func (s *Spec) Variants() []string { return s.root.Get("variants").Keys() }

// Variant returns the spec with one of its variants applied. Its patch may
// delete, as a child may.
func (s *Spec) Variant(name string) (*Spec, diag.List) {
	patch := s.root.At("variants", name)
	if patch == nil {
		at := diag.Range{File: s.Path}
		if e := s.root.Entry("variants"); e != nil {
			at = e.Key.Range
		}
		return nil, diag.List{*fault.UnknownVariant(at, name, s.Variants())}
	}
	v, found := s.patched(name, patch)
	found = append(found, v.check()...)
	return v, found.Sorted()
}

// patched lays the patch of a variant over the spec.
func (s *Spec) patched(name string, patch *tree.Node) (*Spec, diag.List) {
	m := &merger{g: s.g, deleted: maps.Clone(s.deleted)}
	v := *s
	v.VariantName, v.deleted, v.compiled = name, m.deleted, nil
	v.root = m.merge(s.root, patch, s.g.document, false, nil)
	if len(m.found) == 0 && tree.Equal(v.root, s.root) {
		m.found.Add(*fault.NothingChanged(s.root.Get("variants").Entry(name).Key.Range, "variant "+name))
	}
	v.describe()
	return &v, s.ignores.filter(m.found)
}
