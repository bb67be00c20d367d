package spec

import (
	"bytes"
	"path/filepath"
	"slices"

	"mobiusc/compiler/spec/fault"
	"mobiusc/compiler/spec/tree"
	"mobiusc/internal/diag"
	"mobiusc/internal/suggest"
)

// notSpec reports a file that is no spec at all, a config.json above all: what
// its structure lacks would be many findings for one mistake. root is the text
// as YAML, in which something was found.
func (g *grammar) notSpec(path string, text []byte, root *tree.Node, found diag.List) *diag.Diagnostic {
	if found.HasErrors() {
		root = nil
	}
	if root == nil && bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
		root, _ = tree.ParseJSON(path, text) // indented with tabs, which YAML refuses
	}
	if root == nil || root.Kind != tree.Map || root.Get("spec") != nil {
		return nil
	}
	for _, key := range []string{"model_type", "architectures"} {
		if e := root.Entry(key); e != nil {
			modelType := textOf(root.Get("model_type"))
			return fault.ConfigForSpec(e.Key.Range, path, key, answering(modelType))
		}
	}
	sections := g.document.keys()
	if slices.ContainsFunc(root.Keys(), func(key string) bool { return suggest.Nearest(key, sections) != "" }) {
		return nil
	}
	return fault.NotSpec(start(root))
}

// unreadable reports a spec that cannot be read. A directory may be a checkpoint.
func (l *loader) unreadable(path string, err error, known []string) *diag.Diagnostic {
	d := fault.UnreadableSpec(path, err, known)
	if text, e := l.open(filepath.Join(path, "config.json")); e == nil {
		if config, _ := ParseConfig(path, text); config != nil {
			fault.CheckpointForSpec(d, path, answering(config.ModelType()))
		}
	}
	return d
}

// specForConfig reports a spec where a config.json is expected.
func specForConfig(path string, text []byte) *diag.Diagnostic {
	root, _ := tree.ParseYAML(path, text)
	if root == nil || root.Entry("spec") == nil {
		return nil
	}
	return fault.SpecForConfig(root.Entry("spec").Key.Range)
}
