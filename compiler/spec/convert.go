package spec

import (
	"maps"
	"slices"
	"strings"

	"mobiusc/compiler/spec/expr"
	"mobiusc/compiler/spec/fault"
	"mobiusc/compiler/spec/tree"
	"mobiusc/internal/suggest"
)

// convert turns a value of config.json into one of the language. It reports a
// value of another type.
func (r *reading) convert(n *tree.Node, t configType, path string) (expr.Value, bool) {
	fail := func(want string) (expr.Value, bool) {
		r.report(fault.BadConfigValue(n.Range, path, want, n.Describe()))
		return nil, false
	}
	switch t.outer {
	case "list":
		if n.Kind != tree.List {
			return fail("a list")
		}
		list := make([]expr.Value, len(n.Items))
		for i, item := range n.Items {
			v, ok := r.convert(item, configType{word: t.word}, path)
			if !ok {
				return nil, false
			}
			list[i] = v
		}
		return list, true
	case "map":
		if n.Kind != tree.Map {
			return fail("an object")
		}
		m := expr.Record{}
		for _, e := range n.Entries {
			v, ok := r.convert(e.Value, configType{word: t.word}, path+"."+e.Key.Text)
			if !ok {
				return nil, false
			}
			m[e.Key.Text] = v
		}
		return m, true
	}
	v, want := simple(n, t.word)
	if want == "" {
		return v, true
	}
	if known := knownWords[t.word]; known != nil && n.Kind == tree.String {
		r.report(fault.BadConfigWord(n.Range, path, want, n.Text, suggest.SameNumber(n.Text, known)))
		return nil, false
	}
	return fail(want)
}

// knownWords lists, for a type, the words that a misspelt one may have meant.
var knownWords = map[string][]string{
	"activation": slices.Sorted(maps.Keys(activationNames)),
	"dtype":      slices.Concat(dtypeWords, []string{"auto"}, torchWords()),
}

// torchWords are the dtypes as torch writes them.
func torchWords() (words []string) {
	for _, w := range dtypeWords {
		words = append(words, "torch."+w)
	}
	return words
}

// simple converts a single value; want says what was expected of one that does
// not fit.
func simple(n *tree.Node, word string) (v expr.Value, want string) {
	switch word {
	case "int":
		if n.Kind == tree.Int {
			return n.Int, ""
		}
		if n.Kind == tree.Float && n.Float == float64(int64(n.Float)) {
			return int64(n.Float), ""
		}
		return nil, "a whole number"
	case "float":
		if n.Kind == tree.Int || n.Kind == tree.Float {
			return n.Float, ""
		}
		return nil, "a number"
	case "bool":
		if n.Kind == tree.Bool {
			return n.Bool, ""
		}
		return nil, "true or false"
	case "string":
		if n.Kind == tree.String {
			return n.Text, ""
		}
		return nil, "text"
	case "activation":
		if n.Kind == tree.String && activationNames[n.Text] != "" {
			return activationNames[n.Text], ""
		}
		return nil, "an activation, one of " + strings.Join(slices.Compact(slices.Sorted(maps.Values(activationNames))), ", ")
	case "dtype":
		if text := strings.TrimPrefix(n.Text, "torch."); n.Kind == tree.String && (dtypeOf[text] != 0 || text == "auto") {
			return text, ""
		}
		return nil, "a dtype, one of " + strings.Join(dtypeWords, ", ") + ", auto"
	case "token":
		return token(n)
	}
	return n.Interface(), ""
}

// token reads one token id or a list of them; the value is always a list.
func token(n *tree.Node) (expr.Value, string) {
	items := n.Items
	if n.Kind == tree.Int {
		items = []*tree.Node{n}
	}
	list := make([]expr.Value, len(items))
	for i, item := range items {
		if item.Kind != tree.Int {
			return nil, "a token id or a list of them"
		}
		list[i] = item.Int
	}
	if n.Kind != tree.Int && n.Kind != tree.List {
		return nil, "a token id or a list of them"
	}
	return list, ""
}
