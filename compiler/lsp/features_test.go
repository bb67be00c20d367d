package lsp

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// base is a parent on disk. Places of requests are marked with ‸.
const base = `spec: v1
name: base
extends: llama
summary: A base.
model_types: [base]
config:
  hidden_size: int
  inner: {type: int, from: intermediate_size}
  intermediate_size: null
let:
  half: inner // 2
blocks:
  feed_forward:
    gated_mlp: {width: half, up: &up {name: up}, down: {<<: *up, name: down}}
  tap:
    branch: [{save: taps}]
`

// leaf extends base. Between it and base the names are shared.
const leaf = `spec: v1
name: leaf
extends: base
summary: A leaf.
model_types: [leaf]
# mobiusc:config config.json
let:
  half: inner
  wide: half * 2
blocks:
  feed_forward:
    gated_mlp: {width: wide, activation: hidden_act if wide > 2 else 'silu'}
components:
  model:
    body: [token_embedding, tap, {residual: [feed_forward]}, decoder_layers, final_norm, {add: taps}, head]
`

// family opens both specs, the leaf with its config.
func family(t *testing.T) (c *client, leafURI, baseURI string) {
	c = start(t)
	c.write("base.yaml", base)
	c.write("config.json", strings.Replace(smallConfig, "llama", "leaf", 1))
	leafURI = c.open("leaf.yaml", leaf)
	c.expect(leafURI, 1)
	return c, leafURI, c.uri("base.yaml")
}

// place finds the first text after which ‸ stands, without it, in a document.
func place(t *testing.T, text, with string) position {
	t.Helper()
	before, after, ok := strings.Cut(with, "‸")
	i := strings.Index(text, before+after)
	if i < 0 || !ok {
		t.Fatalf("no %q in the text", with)
	}
	return newText(text).position(i + len(before))
}

func at(uri string, p position) object {
	return object{"textDocument": object{"uri": uri}, "position": p}
}

// shown writes locations as file:line:column, the lines and columns from 1.
func showLocations(t *testing.T, found []location) string {
	t.Helper()
	var s []string
	for _, l := range found {
		s = append(s, fmt.Sprintf("%s:%d:%d", filepath.Base(pathOf(l.URI)), l.Range.Start.Line+1, l.Range.Start.Character+1))
	}
	return strings.Join(s, " ")
}

func TestDefinition(t *testing.T) {
	c, leafURI, baseURI := family(t)
	c.notify("textDocument/didOpen", object{"textDocument": object{"uri": baseURI, "languageId": "yaml", "version": 1, "text": base}})
	for _, test := range []struct{ uri, text, at, want string }{
		{leafURI, leaf, "half: in‸ner", "base.yaml:8:3"},
		{leafURI, leaf, "wide: ‸half", "leaf.yaml:8:3"},
		{leafURI, leaf, "width: wide‸", "leaf.yaml:9:3"},
		{leafURI, leaf, "if ‸wide", "leaf.yaml:9:3"},
		{leafURI, leaf, "  ‸half: inner", "base.yaml:11:3"}, // from what is changed to what it changes
		{leafURI, leaf, "  w‸ide:", "leaf.yaml:9:3"},
		{leafURI, leaf, "activation: hidden‸_act", "llama.yaml:16:3"},
		{leafURI, leaf, "token_‸embedding", "llama.yaml:32:3"},
		{leafURI, leaf, "[feed_‸forward]", "leaf.yaml:11:3"},
		{leafURI, leaf, "  ‸feed_forward:", "base.yaml:13:3"},
		{leafURI, leaf, "add: ‸taps", "base.yaml:16:21"},
		{leafURI, leaf, "extends: ba‸se", "base.yaml:1:1"},
		{leafURI, leaf, "  m‸odel:", "llama.yaml:57:3"},
		{leafURI, leaf, "summary: A‸ leaf", ""},
		{leafURI, leaf, "activ‸ation:", ""},
		{baseURI, base, "*u‸p", "base.yaml:14:34"},
		{baseURI, base, "in‸ner //", "base.yaml:8:3"},
	} {
		var found []location
		c.call("textDocument/definition", at(test.uri, place(t, test.text, test.at)), &found)
		if got := showLocations(t, found); got != test.want {
			t.Errorf("%s: %q, want %q", test.at, got, test.want)
		}
		for _, l := range found { // an editor can open it
			if _, err := os.Stat(filepath.FromSlash(pathOf(l.URI))); err != nil && l.URI != leafURI {
				t.Error(err)
			}
		}
	}
	c.leave()
}

func TestReferences(t *testing.T) {
	c, leafURI, baseURI := family(t)
	c.write("sister.yaml", "spec: v1\nname: sister\nextends: base\nsummary: x\nmodel_types: []\nchecks: {a: inner > 1}\n")
	c.write("stranger.yaml", "spec: v1\nname: stranger\nextends: llama\nsummary: x\nlet: {inner: 3}\n")
	c.notify("textDocument/didOpen", object{"textDocument": object{"uri": baseURI, "languageId": "yaml", "version": 1, "text": base}})
	for _, test := range []struct {
		uri, text, at string
		all           bool
		want          string
	}{
		{leafURI, leaf, "half: in‸ner", true, "base.yaml:8:3 base.yaml:11:9 leaf.yaml:8:9 sister.yaml:6:13"},
		{baseURI, base, "  in‸ner:", false, "base.yaml:11:9 leaf.yaml:8:9 sister.yaml:6:13"},
		{leafURI, leaf, "  ‸wide", true, "leaf.yaml:9:3 leaf.yaml:12:24 leaf.yaml:12:56"},
		{leafURI, leaf, "t‸ap,", true, "base.yaml:15:3 leaf.yaml:15:29"},
		{leafURI, leaf, "add: ta‸ps", true, "base.yaml:16:21 leaf.yaml:15:96"},
		{leafURI, leaf, "summary: ‸A", true, ""},
	} {
		params := at(test.uri, place(t, test.text, test.at))
		params["context"] = object{"includeDeclaration": test.all}
		var found []location
		c.call("textDocument/references", params, &found)
		if got := showLocations(t, found); got != test.want {
			t.Errorf("%s: %q, want %q", test.at, got, test.want)
		}
	}
	c.leave()
}

// apply changes texts as an editor does.
func apply(t *testing.T, texts map[string]string, edit map[string][]textEdit) map[string]string {
	t.Helper()
	for uri, edits := range edit {
		s, ok := texts[filepath.Base(pathOf(uri))]
		if !ok {
			t.Fatalf("an edit of %s", uri)
		}
		x := newText(s)
		slices.SortFunc(edits, func(a, b textEdit) int { return x.offset(b.Range.Start) - x.offset(a.Range.Start) })
		for _, e := range edits {
			x = x.change(e.Range, e.NewText)
		}
		texts[filepath.Base(pathOf(uri))] = x.s
	}
	return texts
}

func TestRename(t *testing.T) {
	c, leafURI, _ := family(t)
	for _, test := range []struct {
		at, name string
		want     [][2]string // replacements, in the base and the leaf
	}{
		{"half: in‸ner", "inside", [][2]string{{"inner", "inside"}}},
		{"wide: ‸half", "bisected", [][2]string{{"half", "bisected"}}},
		{"[feed_‸forward]", "ff", nil}, // llama, which is carried, names it too
		{"ta‸ps", "tapped", [][2]string{{"taps", "tapped"}}},
		{", ‸tap,", "spigot", [][2]string{{"  tap:", "  spigot:"}, {" tap,", " spigot,"}}},
	} {
		var edit struct{ Changes map[string][]textEdit }
		params := at(leafURI, place(t, leaf, test.at))
		params["newName"] = test.name
		if test.want == nil {
			if message := c.refused(codeRequestFailed, "textDocument/rename", params); !strings.Contains(message, "carries") {
				t.Error(message)
			}
			continue
		}
		c.call("textDocument/rename", params, &edit)
		got := apply(t, map[string]string{"base.yaml": base, "leaf.yaml": leaf}, edit.Changes)
		want := map[string]string{"base.yaml": base, "leaf.yaml": leaf}
		for _, r := range test.want {
			for name := range want {
				want[name] = strings.ReplaceAll(want[name], r[0], r[1])
			}
		}
		for name := range want {
			if got[name] != want[name] {
				t.Errorf("%s to %s: %s is\n%s", test.at, test.name, name, got[name])
			}
		}
	}
	for _, test := range []struct{ at, name, want string }{
		{"wide: ‸half", "wide", "already"},
		{"wide: ‸half", "inner", "already"},
		{"wide: ‸half", "layer", "meaning of its own"},
		{"wide: ‸half", "2x", "not a name"},
		{"wide: ‸half", "", "not a name"},
		{"extends: b‸ase", "x", "name of its file"},
		{"half: in‸ner", "vocab_size", "already"},
		{"summary: A‸", "x", "nothing is named"},
	} {
		params := at(leafURI, place(t, leaf, test.at))
		params["newName"] = test.name
		if message := c.refused(codeRequestFailed, "textDocument/rename", params); !strings.Contains(message, test.want) {
			t.Errorf("%s to %q: %s", test.at, test.name, message)
		}
	}
	var prepared struct {
		Range       span
		Placeholder string
	}
	c.call("textDocument/prepareRename", at(leafURI, place(t, leaf, "wide: ha‸lf")), &prepared)
	if show(prepared.Range) != "8:8-8:12" || prepared.Placeholder != "half" {
		t.Errorf("%+v", prepared)
	}
	c.leave()
}

// A config key that gets another name is still read from its old one.
func TestRenameConfigKey(t *testing.T) {
	for _, test := range []struct{ key, want string }{
		{"wïdth: int", "w: {type: int, from: wïdth}"},
		{"wïdth: {type: int}", "w: {from: wïdth, type: int}"},
		{"wïdth: {type: int, from: [d_model, width]}", "w: {type: int, from: [d_model, width]}"},
		{"wïdth:\n    type: int\n    default: 3", "w:\n    from: wïdth\n    type: int\n    default: 3"},
	} {
		c := start(t)
		text := "spec: v1\nname: x\nsummary: 😀\nmodel_types: [x]\ndtype: float32\nconfig:\n  " + test.key + "\ncomponents:\n  model:\n" +
			"    inputs: {x: \"model[batch, wïdth]\"}\n    body: [{use: x}, {linear: {name: \"out.{wïdth}\", out: wïdth * 2}}]\n    outputs: {y: result}\n"
		uri := c.open("x.yaml", text)
		c.expect(uri, 1)
		params := at(uri, place(t, text, "out: ‸wïdth"))
		params["newName"] = "w"
		var edit struct{ Changes map[string][]textEdit }
		c.call("textDocument/rename", params, &edit)
		got := apply(t, map[string]string{"x.yaml": text}, edit.Changes)["x.yaml"]
		want := strings.ReplaceAll(strings.Replace(text, test.key, "KEY", 1), "wïdth", "w")
		if want = strings.Replace(want, "KEY", test.want, 1); got != want {
			t.Errorf("got\n%swant\n%s", got, want)
		}
		c.leave()
	}
}

// Values of one name in two components are two, unless they share a block, or
// the text of one.
func TestRenameValue(t *testing.T) {
	const head = "spec: v1\nname: x\nsummary: x\nmodel_types: [x]\ndtype: float32\n"
	component := func(name, body string) string {
		return "  " + name + ":\n    inputs: {x: \"model[batch, 4]\"}\n    body: " + body + "\n    outputs: {y_" + name + ": result}\n"
	}
	for _, test := range []struct {
		text string
		both bool
	}{
		{head + "components:\n" + component("a", "[{use: x}]") + component("b", "[{use: x}]"), false},
		{head + "blocks: {shared: {use: x}}\ncomponents:\n" + component("a", "shared") + component("b", "[shared]"), true},
		{head + "components:\n" + component("a", "&body [{use: x}]") + component("b", "*body"), true},
	} {
		c := start(t)
		uri := c.open("x.yaml", test.text)
		c.expect(uri, 1)
		params := at(uri, place(t, test.text, "use: ‸x"))
		params["newName"] = "p"
		var edit struct{ Changes map[string][]textEdit }
		c.call("textDocument/rename", params, &edit)
		got := apply(t, map[string]string{"x.yaml": test.text}, edit.Changes)["x.yaml"]
		n := 1
		if test.both {
			n = 2
		}
		want := strings.Replace(strings.Replace(test.text, "inputs: {x", "inputs: {p", n), "use: x", "use: p", 1)
		if got != want {
			t.Errorf("got\n%s", got)
		}
		c.leave()
	}
}

func TestHover(t *testing.T) {
	c, uri, _ := family(t)
	for _, test := range []struct {
		at   string
		want []string
	}{
		{"width: wi‸de", []string{"named expression", "`half * 2`", "with config.json: `256`"}},
		{"half: in‸ner", []string{"config key", "int", "intermediate_size", "`128`, from `intermediate_size` in line 4", "base.yaml"}},
		{"‸gated_mlp", []string{"block `gated_mlp`", "`model` `float32[batch, sequence, 64]`", "mlp.up.weight", "[256, 64]"}},
		{"wid‸th:", []string{"`width` of block gated_mlp", "whole number", "with config.json: `256`"}},
		{"activa‸tion", []string{"required", "`silu`", "with config.json: `silu`"}},
		{"{‸add: taps}", []string{"Adds a value"}},
		{"add: ta‸ps", []string{"value", "`model`: `float32[batch, sequence, 64]`", "base.yaml"}},
		{"token_em‸bedding", []string{"block", "llama.yaml"}},
		{"extends: ‸base", []string{"A base."}},
		{"‸components:", []string{"section `components`", "the graphs of the package"}},
		{"spec: ‸v1", nil},
		{"# mob‸iusc", nil},
	} {
		var h *hover
		c.call("textDocument/hover", at(uri, place(t, leaf, test.at)), &h)
		if (h == nil) != (test.want == nil) {
			t.Errorf("%s: %+v", test.at, h)
			continue
		}
		for _, want := range test.want {
			if !strings.Contains(h.Contents.Value, want) {
				t.Errorf("%s: no %q in\n%s", test.at, want, h.Contents.Value)
			}
		}
	}
	c.leave()
}

func TestDocumentSymbols(t *testing.T) {
	c, uri, _ := family(t)
	var symbols []documentSymbol
	c.call("textDocument/documentSymbol", object{"textDocument": object{"uri": uri}}, &symbols)
	var lines []string
	var walk func([]documentSymbol, string, span)
	walk = func(all []documentSymbol, indent string, within span) {
		for _, s := range all {
			lines = append(lines, fmt.Sprintf("%s%s %s %s", indent, s.Name, show(s.Range), s.Detail))
			walk(s.Children, indent+" ", s.Range)
		}
	}
	walk(symbols, "", span{})
	want := `spec 0:0-0:8 v1
name 1:0-1:10 leaf
extends 2:0-2:13 base
summary 3:0-3:16 A leaf.
model_types 4:0-4:19 
let 6:0-8:16 
 half 7:2-7:13 inner
 wide 8:2-8:16 half * 2
blocks 9:0-11:76 
 feed_forward 10:2-11:76 
components 12:0-14:107 
 model 13:2-14:107 
  body 14:4-14:107 `
	if got := strings.Join(lines, "\n"); got != want {
		t.Errorf("got\n%s", got)
	}
	c.leave()
}

// labels returns the labels of a completion at ‸, which stands in the text.
func (c *client) labels(name, text string) ([]string, []completionItem) {
	c.t.Helper()
	before, after, _ := strings.Cut(text, "‸")
	uri := c.open(name, before+after)
	var list struct{ Items []completionItem }
	c.call("textDocument/completion", at(uri, newText(before+after).position(len(before))), &list)
	var labels []string
	for _, i := range list.Items {
		labels = append(labels, i.Label)
	}
	return labels, list.Items
}

func TestCompletion(t *testing.T) {
	head := strings.Replace(child, "name: x", "name: leaf", 1)
	for _, test := range []struct {
		text string
		want []string // that are offered, and with - that are not
	}{
		{head + "‸", []string{"config", "blocks", "components", "let", "-spec", "-name", "-gated_mlp"}},
		{head + "blo‸", []string{"blocks"}},
		{head + "blocks:\n  ‸", []string{"self_attention", "feed_forward", "-gated_mlp"}},
		{head + "blocks:\n  feed_forward:\n    ‸", []string{"gated_mlp", "attention", "residual", "if", "head", "self_attention"}},
		{head + "blocks:\n  feed_forward:\n    gated_mlp:\n      ‸\n      width: 3", []string{"activation", "up", "-width", "-gated_mlp"}},
		{head + "blocks:\n  feed_forward:\n    gated_mlp: {width: 3, ‸}", []string{"activation", "up", "-width"}},
		{head + "blocks:\n  feed_forward:\n    gated_mlp: {width: ‸", []string{"hidden_size", "vocab_size", "ceil", "-gated_mlp"}},
		{head + "blocks:\n  feed_forward:\n    gated_mlp: {width: 2 * hid‸", []string{"hidden_size"}},
		{head + "blocks:\n  feed_forward:\n    gated_mlp: {activation: ‸}", []string{"silu", "gelu", "hidden_act"}},
		{head + "blocks:\n  self_attention:\n    attention: {mask: c‸", []string{"causal", "bidirectional"}},
		{head + "blocks:\n  a: [{residual: [‸]}]", []string{"self_attention", "-gated_mlp"}},
		{head + "blocks:\n  a: [{residual: {‸}}]", []string{"body", "scale", "gated_mlp"}},
		{head + "blocks:\n  a:\n    - if: true\n      ‸", []string{"then", "else", "-if", "-gated_mlp"}},
		{head + "blocks:\n  a:\n    use: ‸", []string{"input_ids", "none"}},
		{head + "blocks:\n  a:\n    attention: {rope: ‸}", []string{"rope"}},
		{head + "blocks:\n  a:\n    attention: {rope: {‸}}", []string{"from", "theta"}},
		{head + "config:\n  a: ‸", []string{"int", "list<int>", "optional int", "-hidden_size"}},
		{head + "config:\n  a: {‸", []string{"type", "from", "default", "unsupported"}},
		{head + "config:\n  ‸", []string{"hidden_size", "ignore", "at"}},
		{head + "components:\n  ‸", []string{"model"}},
		{head + "components:\n  model:\n    ‸", []string{"inputs", "outputs", "body", "prefix"}},
		{head + "components:\n  model:\n    inputs:\n      x: ‸", []string{"int64", "model", "float32"}},
		{head + "components:\n  model:\n    inputs:\n      x: \"model[batch, hid‸", []string{"batch", "sequence", "hidden_size"}},
		{head + "components:\n  model:\n    outputs: {y: ‸}", []string{"result", "input_ids"}},
		{head + "components:\n  other:\n    inputs: {y: {from: ‸}}", []string{"model.logits"}},
		{"spec: v1\nname: leaf\nextends: ‸", []string{"llama", "transformers"}},
		{"spec: ‸", []string{"v1"}},
		{head + "abstract: ‸", []string{"true", "false"}},
		{head + "defaults: {‸", []string{"rms_norm"}},
		{head + "defaults:\n  rms_norm:\n    ‸", []string{"epsilon", "offset"}},
		{head + "let:\n  a: ‸", []string{"hidden_size", "layer", "len"}},
		{head + "config:\n  v: {at: v, keys: {depth: int, width: {type: int}}}\nlet:\n  a: 2 + v.‸", []string{"depth", "width", "-hidden_size"}},
		{head + "config:\n  v: {at: v, keys: {depth: int, width: {type: int}}}\nlet:\n  a: 2 + v.de‸ + 1", []string{"depth"}},
		{head + "# ‸", []string{"-spec", "-config"}},
		{head + "nonsense:\n  ‸", []string{"-spec", "-config"}},
		{head + "blocks:\n  a: [\n  b: {\n  feed_forward: {gated_mlp: {‸", []string{}}, // beyond repair: no harm
	} {
		c := start(t)
		labels, items := c.labels("leaf.yaml", test.text)
		for _, want := range test.want {
			if name, not := strings.CutPrefix(want, "-"); slices.Contains(labels, name) == not {
				t.Errorf("%q: %s; offered are %v", test.text, want, labels)
			}
		}
		for _, i := range items {
			if i.TextEdit.Range.Start.Line != i.TextEdit.Range.End.Line {
				t.Errorf("%q: an edit over lines: %+v", test.text, i)
			}
		}
		c.leave()
	}
}

// Accepting what is offered in the middle of a token replaces the token.
func TestCompletionEdits(t *testing.T) {
	for _, test := range []struct{ text, label, want string }{
		{child + "blocks:\n  feed_forward: {gated_mlp: {wi‸dd: 3}}\n", "width", child + "blocks:\n  feed_forward: {gated_mlp: {width: 3}}\n"},
		{child + "let: {a: \"'😀' + hid‸den\"}\n", "hidden_size", child + "let: {a: \"'😀' + hidden_size\"}\n"},
		{child + "let:\n  a: 2 * hid‸\n", "hidden_size", child + "let:\n  a: 2 * hidden_size\n"},
		{child + "ta‸\n", "task", child + "task: \n"},
		{child + "ta‸x: a\n", "task", child + "task: a\n"},
	} {
		c := start(t)
		before, after, _ := strings.Cut(test.text, "‸")
		_, items := c.labels("x.yaml", test.text)
		i := slices.IndexFunc(items, func(i completionItem) bool { return i.Label == test.label })
		if i < 0 {
			t.Errorf("%q: %s is not offered", test.text, test.label)
			continue
		}
		if got := newText(before+after).change(items[i].TextEdit.Range, items[i].TextEdit.NewText).s; got != test.want {
			t.Errorf("%q: got %q", test.text, got)
		}
		c.leave()
	}
}

// Completion says what a name is under the config.
func TestCompletionValues(t *testing.T) {
	c, uri, _ := family(t)
	c.edit(uri, 2, span{position{14, 5}, position{14, 5}}, "") // checked again
	c.expect(uri, 2)
	var list struct{ Items []completionItem }
	c.call("textDocument/completion", at(uri, place(t, leaf, "width: ‸wide")), &list)
	for _, i := range list.Items {
		if i.Label == "inner" {
			if i.Documentation == nil || !strings.Contains(i.Documentation.Value, "`128`") || i.Detail != "int" {
				t.Errorf("%+v", i)
			}
			c.leave()
			return
		}
	}
	t.Error("inner is not offered")
}
