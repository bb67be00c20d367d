package spec

import (
	"bytes"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"mobiusc/compiler/spec/fault"
	"mobiusc/compiler/spec/tree"
	"mobiusc/internal/diag"
	"mobiusc/internal/suggest"
	"mobiusc/lowering"
	"mobiusc/schemas"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// published is the compiled JSON Schema that this package carries and that
// editors use: what an editor accepts, the compiler accepts.
var published = sync.OnceValue(func() *jsonschema.Schema {
	const url = "urn:mobiusc:spec"
	c := jsonschema.NewCompiler()
	if err := c.AddResource(url, bytes.NewReader(schemas.Spec)); err != nil {
		panic(err) // the schema is part of the binary, and a test compiles it
	}
	return c.MustCompile(url)
})

// checkStructure validates a document with the JSON Schema, and says in the
// language's own words what is wrong, at the key that is wrong.
func (g *grammar) checkStructure(root *tree.Node) diag.List {
	err := published().Validate(root.Interface())
	invalid, ok := err.(*jsonschema.ValidationError)
	if !ok {
		return nil
	}
	var found diag.List
	for _, leaf := range leaves(invalid, nil) {
		found = append(found, g.explain(root, leaf)...)
	}
	return slices.CompactFunc(found.Sorted(), fault.SameMistake)
}

// leaves returns the errors that have no cause of their own.
func leaves(e *jsonschema.ValidationError, into []*jsonschema.ValidationError) []*jsonschema.ValidationError {
	if len(e.Causes) == 0 {
		return append(into, e)
	}
	for _, cause := range e.Causes {
		into = leaves(cause, into)
	}
	return into
}

// explain turns one error of the schema library, of which only the place and
// the keyword count, into findings.
func (g *grammar) explain(root *tree.Node, leaf *jsonschema.ValidationError) diag.List {
	keyword := leaf.KeywordLocation[strings.LastIndexByte(leaf.KeywordLocation, '/')+1:]
	n, f := g.locate(root, leaf.InstanceLocation)
	if n == nil || f == nil {
		return diag.List{*fault.WrongType(root.Range, "a spec", root.Describe())}
	}
	switch keyword {
	case "additionalProperties":
		return g.unknownKeys(n, f)
	case "required":
		var found diag.List
		for _, fd := range f.fields {
			if fd.required && n.Get(fd.name) == nil && !f.isMisspelt(n, fd.name) {
				found.Add(*fault.MissingKey(start(n), f.title, fd.name))
			}
		}
		return found
	case "minProperties", "maxProperties":
		if len(g.unknownKeys(n, f)) > 0 {
			return nil // reported as such
		}
		if f.oneStep {
			return f.wrongSteps(n)
		}
		if len(n.Entries) > 0 {
			return diag.List{*fault.SecondBlock(n.Entries[1].Key.Range, n.Entries[1].Key.Text)}
		}
		return diag.List{*fault.EmptyBlock(n.Range)}
	case "enum":
		return diag.List{*fault.UnknownWord(n.Range, f.title, n.Text, f.words)}
	case "pattern":
		if short := f.shortForm(); short != nil {
			f = short
		}
		return diag.List{*fault.UnknownWord(n.Range, f.title, n.Text, configTypeWords)}
	}
	return diag.List{*fault.WrongType(n.Range, g.expects(f), n.Describe())}
}

// start is the place where a mapping begins: its first key.
func start(n *tree.Node) diag.Range {
	if len(n.Entries) > 0 {
		return n.Entries[0].Key.Range
	}
	return n.Range
}

// unknownKeys reports the keys of a mapping that its form does not have.
func (g *grammar) unknownKeys(n *tree.Node, f *form) diag.List {
	var found diag.List
	block := f.kind == formBody && !isConditional(n)
	if f.kind == formBody {
		f = g.blocks["if"]
	}
	for _, e := range n.Entries {
		switch key := e.Key.Text; {
		case block && g.blocks[key] == nil && f.field(key) != nil:
			found.Add(*fault.LooseBranch(e.Key.Range, key))
		case block && g.blocks[key] == nil:
			found.Add(*fault.UnknownBlock(e.Key.Range, key, g.types))
		case !block && f.kind == formRecord && f.field(key) == nil:
			found.Add(*fault.UnknownKey(e.Key.Range, f.title, key, f.keys()))
		}
	}
	return found
}

// isMisspelt reports whether an unknown key of a record, which is reported as such, is
// most like one that the record needs: one mistake is one finding.
func (f *form) isMisspelt(n *tree.Node, needed string) bool {
	return f.kind == formRecord && slices.ContainsFunc(n.Entries, func(e tree.Entry) bool {
		return f.field(e.Key.Text) == nil && suggest.Nearest(e.Key.Text, f.keys()) == needed
	})
}

// locate follows a JSON pointer to a node and to the form of its place.
func (g *grammar) locate(n *tree.Node, pointer string) (*tree.Node, *form) {
	f := g.document
	for _, token := range strings.Split(pointer, "/")[1:] {
		token, _ = url.PathUnescape(token)
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		f = g.written(n, f)
		if f == nil {
			return nil, nil
		}
		if n.Kind == tree.List {
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(n.Items) {
				return nil, nil
			}
			n = n.Items[i]
			if f.kind != formBody {
				f = f.each
			}
			continue
		}
		f = g.childForm(n, f, token)
		if n = n.Get(token); n == nil {
			return nil, nil
		}
	}
	if short := f.shortForm(); short != nil && short.kind == formBody && n.Kind != tree.Null && !g.isLong(n, f) {
		f = short
	}
	return n, f
}

// shortForm returns the form of the short form's field, or nil.
func (f *form) shortForm() *form {
	if f == nil || f.short == "" {
		return nil
	}
	return f.field(f.short).form
}

// written returns the form that a value is written in: the record's own, or
// that of its short form.
func (g *grammar) written(n *tree.Node, f *form) *form {
	for f != nil && f.kind == formRecord && f.short != "" && !g.isLong(n, f) {
		f = f.field(f.short).form
	}
	return f
}

// expects says in words what a place takes.
func (g *grammar) expects(f *form) string {
	switch f.kind {
	case formText, formName:
		return "text"
	case formWord:
		return "one of " + strings.Join(f.words, ", ")
	case formFlag:
		return "true or false"
	case formInt:
		return "a whole number"
	case formNumber:
		return "a number"
	case formAny:
		return "a value or a list of values"
	case formValue:
		return "the name of a value"
	case formFunction:
		return "the name of a function of the spec"
	case formType:
		return "a tensor type such as int64[batch, sequence]"
	case formConfig:
		return "a type of config key"
	case formMap:
		return "a mapping"
	case formList:
		if f.strict {
			return "a list"
		}
		return "a list of " + strings.TrimPrefix(strings.TrimPrefix(g.expects(f.each), "a "), "the ") + " values"
	case formBody:
		return "a block, the name of a block, or a list of them"
	case formRecord:
		if short := f.shortForm(); short != nil {
			return "a mapping, or for short " + g.expects(short)
		}
		return "a mapping"
	}
	return expectedOf(f.opt)
}

// wordsOf returns the words that an option takes literally.
func wordsOf(o *lowering.Option) []string {
	if o.Kind == lowering.DTypeOption && o.Words == nil {
		return dtypeChoices
	}
	return o.Words
}
