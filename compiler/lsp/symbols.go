package lsp

import (
	"encoding/json"

	"mobiusc/compiler/spec"
	"mobiusc/compiler/spec/tree"
	"mobiusc/internal/diag"
)

// Kinds of symbols.
const (
	moduleSymbol    = 2
	namespaceSymbol = 3
	classSymbol     = 5
	propertySymbol  = 7
	fieldSymbol     = 8
	variableSymbol  = 13
	constantSymbol  = 14
	eventSymbol     = 24
)

type documentSymbol struct {
	Name           string           `json:"name"`
	Detail         string           `json:"detail,omitempty"`
	Kind           int              `json:"kind"`
	Range          span             `json:"range"`
	SelectionRange span             `json:"selectionRange"`
	Children       []documentSymbol `json:"children,omitempty"`
}

type symbolInformation struct {
	Name          string   `json:"name"`
	Kind          int      `json:"kind"`
	Location      location `json:"location"`
	ContainerName string   `json:"containerName,omitempty"`
}

// sectionKinds are the kinds of what stands in a section.
var sectionKinds = map[string]int{
	"config": propertySymbol, "keys": propertySymbol, "let": variableSymbol, "blocks": classSymbol, "components": moduleSymbol,
	"variants": namespaceSymbol, "checks": constantSymbol, "inputs": variableSymbol, "outputs": eventSymbol, "functions": classSymbol,
}

func (s *server) documentSymbol(params json.RawMessage) (any, *rpcError) {
	_, d, bad := openDocument[documentParams](s, params)
	if bad != nil {
		return nil, bad
	}
	out := []documentSymbol{}
	if !d.isSpec() {
		return out, nil
	}
	if leaf := s.sources(d.path).Leaf(); leaf != nil && leaf.Root != nil {
		out = append(out, d.symbols(leaf, leaf.Root, namespaceSymbol, leaf.Root.Range, 0)...)
	}
	if s.client.Capabilities.TextDocument.DocumentSymbol.Hierarchical {
		return out, nil
	}
	return d.flat(out, ""), nil
}

// symbols lists the entries of a mapping, and what sections hold. What a merge
// key or an alias brings in stands elsewhere, and is listed there.
func (d *document) symbols(o *spec.Outline, n *tree.Node, kind int, within diag.Range, depth int) []documentSymbol {
	var out []documentSymbol
	for _, e := range n.Entries {
		if e.Key.Range.File != o.Path || !before(within.Start, e.Key.Range.Start) || !before(e.Key.Range.End, within.End) || e.Key.Text == "" {
			continue
		}
		whole := e.Key.Range
		own := before(e.Key.Range.End, e.Value.Range.Start) && before(e.Value.Range.End, within.End)
		if own {
			whole.End = e.Value.Range.End
		}
		symbol := documentSymbol{Name: e.Key.Text, Kind: kind, Range: d.text.span(whole), SelectionRange: d.text.span(e.Key.Range)}
		if e.Value.IsScalar() && len(e.Value.Text) < 80 {
			symbol.Detail = e.Value.Text
		}
		inner, section := sectionKinds[e.Key.Text]
		if !section {
			inner = fieldSymbol
		}
		if own && e.Value.Kind == tree.Map && depth < 5 && (section || depth == 0 || kind == moduleSymbol || kind == namespaceSymbol || kind == propertySymbol) {
			symbol.Children = d.symbols(o, e.Value, inner, whole, depth+1)
		}
		out = append(out, symbol)
	}
	return out
}

// flat lists symbols for editors that do not show a tree.
func (d *document) flat(symbols []documentSymbol, container string) []symbolInformation {
	out := []symbolInformation{}
	for _, s := range symbols {
		out = append(out, symbolInformation{s.Name, s.Kind, location{d.uri, s.Range}, container})
		out = append(out, d.flat(s.Children, s.Name)...)
	}
	return out
}
