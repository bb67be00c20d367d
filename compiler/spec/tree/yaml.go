package tree

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"mobiusc/compiler/spec/fault"
	"mobiusc/internal/diag"

	"gopkg.in/yaml.v3"
)

// Limits that no honest file reaches; they bound what a hostile one can cost.
const (
	maxBytes = 4 << 20
	maxDepth = 100
	maxNodes = 200_000 // after aliases are followed
)

// ParseYAML reads one YAML document. file is the name that ranges carry. The
// tree is nil when the text is not YAML; otherwise it is complete but for what
// the findings name.
func ParseYAML(file string, text []byte) (*Node, diag.List) {
	whole := diag.Range{File: file}
	if len(text) > maxBytes {
		return nil, diag.List{*fault.TooLarge(whole, maxBytes)}
	}
	if bytes.HasPrefix(text, []byte{0xff, 0xfe}) || bytes.HasPrefix(text, []byte{0xfe, 0xff}) {
		return nil, diag.List{*fault.NotUTF8(whole)}
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if pos, bad := invalidUTF8(text); bad {
		return nil, diag.List{*fault.NotUTF8(diag.Range{File: file, Start: pos, End: diag.Pos{Line: pos.Line, Col: pos.Col + 1}})}
	}
	p := &yamlReader{source: newSource(file, text), open: map[*yaml.Node]bool{}, done: map[*yaml.Node]*Node{}}
	root := p.document(text)
	return root, p.found
}

type yamlReader struct {
	*source
	found diag.List
	nodes int
	open  map[*yaml.Node]bool // anchors being read: an alias to one is a cycle
	done  map[*yaml.Node]*Node
	full  bool // a limit was reached and reported
}

func (p *yamlReader) report(d *diag.Diagnostic) {
	if d != nil && !p.full { // what is cut off at a limit is not looked at
		p.found.Add(*d)
	}
}

// overrun reports, once, that a limit is reached.
func (p *yamlReader) overrun(r diag.Range) *Node {
	p.report(fault.TooDeep(r, maxDepth, maxNodes))
	p.full = true
	return &Node{Range: r}
}

// document decodes the only document of the text.
func (p *yamlReader) document(text []byte) *Node {
	dec := yaml.NewDecoder(bytes.NewReader(text))
	var doc, second yaml.Node
	if err := decode(dec, &doc); err != nil {
		if errors.Is(err, io.EOF) {
			p.report(fault.EmptyFile(p.span(diag.Pos{Line: 1, Col: 1}, diag.Pos{Line: 1, Col: 1})))
		} else {
			p.report(p.syntax(err))
		}
		return nil
	}
	if len(doc.Content) != 1 {
		p.report(fault.EmptyFile(p.span(diag.Pos{Line: 1, Col: 1}, diag.Pos{Line: 1, Col: 1})))
		return nil
	}
	root := p.node(doc.Content[0], 0)
	switch err := decode(dec, &second); {
	case err == nil:
		p.report(fault.SecondDocument(p.lineRange(second.Line)))
	case !errors.Is(err, io.EOF):
		p.report(p.syntax(err))
	}
	return root
}

// decode turns a panic of the library into an error.
func decode(dec *yaml.Decoder, into *yaml.Node) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("yaml: %v", r)
		}
	}()
	return dec.Decode(into)
}

var anchorOf = regexp.MustCompile(`^unknown anchor '(.*)' referenced$`)

// find returns the first place of a word.
func (p *yamlReader) find(word string) diag.Range {
	for i, line := range p.lines {
		if before, _, ok := strings.Cut(string(line), word); ok {
			col := utf8.RuneCountInString(before) + 1
			return p.span(diag.Pos{Line: i + 1, Col: col}, diag.Pos{Line: i + 1, Col: col + utf8.RuneCountInString(word)})
		}
	}
	return p.lineRange(1)
}

var lineOf = regexp.MustCompile(`line (\d+): `)

// syntax phrases an error of the library: it knows a line at most, which is
// often the line after the fault.
func (p *yamlReader) syntax(err error) *diag.Diagnostic {
	what := strings.TrimPrefix(err.Error(), "yaml: ")
	if m := anchorOf.FindStringSubmatch(what); m != nil {
		return fault.UnknownAnchor(p.find("*"+m[1]), m[1])
	}
	line := 0
	if m := lineOf.FindStringSubmatch(what); m != nil {
		line, _ = strconv.Atoi(m[1])
		what = strings.Replace(what, m[0], "", 1)
	}
	switch {
	case what == "did not find expected key" || what == "did not find expected '-' indicator":
		line = p.firstFailing(what) // the library names the line where the mapping begins
	case strings.HasPrefix(what, "did not find expected"):
		line++ // its parser, unlike its scanner, counts from 0
	}
	for l := 1; l <= len(p.lines); l++ {
		indent := strings.TrimLeft(string(p.line(l)), " ")
		if strings.HasPrefix(indent, "\t") && strings.TrimSpace(indent) != "" && (line == 0 || l <= line+1) {
			col := utf8.RuneCountInString(string(p.line(l))) - utf8.RuneCountInString(indent) + 1
			return fault.Tab(p.span(diag.Pos{Line: l, Col: col}, diag.Pos{Line: l, Col: col + 1}))
		}
	}
	if line == 0 {
		line = 1
	}
	if what == "did not find expected node content" && line >= len(p.lines) {
		what = "the file ends inside a list or a mapping: a bracket is not closed"
	}
	return fault.MalformedYAML(p.lineRange(line), what)
}

// firstFailing returns the first line with which the text gives an error.
func (p *yamlReader) firstFailing(what string) int {
	var ends []int // of the lines, in the text joined again
	var text strings.Builder
	for _, line := range p.lines {
		text.WriteString(string(line) + "\n")
		ends = append(ends, text.Len())
	}
	whole := text.String()
	return 1 + sort.Search(len(ends), func(i int) bool {
		err := decode(yaml.NewDecoder(strings.NewReader(whole[:ends[i]])), new(yaml.Node))
		return err != nil && strings.Contains(err.Error(), what)
	})
}

// node converts a node and all below it.
func (p *yamlReader) node(y *yaml.Node, depth int) *Node {
	p.nodes++
	at := p.contentStart(y)
	if depth > maxDepth || p.nodes > maxNodes {
		return p.overrun(p.span(at, diag.Pos{Line: at.Line, Col: at.Col + 1}))
	}
	if y.Kind == yaml.AliasNode {
		return p.alias(y, at, depth)
	}
	if y.Anchor != "" {
		p.open[y] = true
		defer delete(p.open, y)
	}
	var n *Node
	switch y.Kind {
	case yaml.SequenceNode:
		n = p.list(y, at, depth)
	case yaml.MappingNode:
		n = p.mapping(y, at, depth)
	default:
		n = p.scalar(y, at)
	}
	if y.Style&yaml.TaggedStyle != 0 {
		p.report(fault.Tag(n.Range, y.Tag))
	}
	if y.Anchor != "" {
		p.done[y] = n
	}
	return n
}

// contentStart returns where the content begins, after an anchor or a tag.
func (p *yamlReader) contentStart(y *yaml.Node) diag.Pos {
	c := p.at(diag.Pos{Line: max(y.Line, 1), Col: max(y.Column, 1)})
	if y.Kind == yaml.AliasNode {
		return c.pos()
	}
	for !c.done() && (c.peek() == '&' || c.peek() == '!') {
		for !isBlank(c.peek()) {
			c.next()
		}
		c.skipSpace()
	}
	return c.pos()
}

// alias returns what the anchor names: the very node, with its own positions.
func (p *yamlReader) alias(y *yaml.Node, at diag.Pos, depth int) *Node {
	r := p.span(at, diag.Pos{Line: at.Line, Col: at.Col + 1 + utf8.RuneCountInString(y.Value)})
	if y.Alias == nil || p.open[y.Alias] {
		p.report(fault.AliasCycle(r, y.Value))
		return &Node{Range: r}
	}
	n := p.done[y.Alias]
	if n == nil {
		return p.node(y.Alias, depth)
	}
	if p.nodes += size(n, maxNodes-p.nodes); p.nodes > maxNodes {
		return p.overrun(r)
	}
	return n
}

// size counts the nodes of a tree, up to a limit.
func size(n *Node, limit int) int {
	total := 1
	for i := 0; i < len(n.Items) && total <= limit; i++ {
		total += size(n.Items[i], limit-total)
	}
	for i := 0; i < len(n.Entries) && total <= limit; i++ {
		total += size(n.Entries[i].Value, limit-total)
	}
	return total
}

func (p *yamlReader) scalar(y *yaml.Node, at diag.Pos) *Node {
	spots, end := p.scalarSpots(at, y.Style, y.Value)
	if spots == nil {
		end = diag.Pos{Line: at.Line, Col: len(p.line(at.Line)) + 1}
	}
	n := &Node{Kind: String, Text: y.Value, Range: p.span(at, end)}
	n.spots = sync.OnceValue(func() []diag.Pos { s, _ := p.scalarSpots(at, y.Style, y.Value); return s })
	const quoted = yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	if y.Style&quoted == 0 {
		p.report(resolve(n))
	}
	return n
}

func (p *yamlReader) list(y *yaml.Node, at diag.Pos, depth int) *Node {
	n := &Node{Kind: List, Range: p.span(at, at)}
	for _, item := range y.Content {
		child := p.node(item, depth+1)
		if child.Missing {
			p.report(fault.MissingItem(child.Range))
		}
		n.Items = append(n.Items, child)
	}
	n.Range.End = p.end(y, at)
	return n
}

func (p *yamlReader) mapping(y *yaml.Node, at diag.Pos, depth int) *Node {
	n := &Node{Kind: Map, Range: p.span(at, at)}
	seen := make(map[string]*Node, len(y.Content)/2)
	var merges []*Node
	for i := 0; i+1 < len(y.Content); i += 2 {
		key, value := p.node(y.Content[i], depth+1), p.node(y.Content[i+1], depth+1)
		if y.Content[i].Kind == yaml.ScalarNode && y.Content[i].Tag == "!!merge" {
			merges = append(merges, p.merges(value)...)
			continue
		}
		if !key.IsScalar() || key.Missing {
			p.report(fault.KeyNotText(key.Range))
			continue
		}
		key.Kind = String
		if first := seen[key.Text]; first != nil {
			p.report(fault.DuplicateKey(key.Range, key.Text, first.Range))
			continue
		}
		if value.Missing {
			p.report(fault.MissingValue(key.Range, key.Text))
		}
		seen[key.Text] = key
		n.Entries = append(n.Entries, Entry{key, value})
	}
	for _, m := range merges { // explicit keys win, then earlier merges
		for _, e := range m.Entries {
			if seen[e.Key.Text] == nil {
				seen[e.Key.Text] = e.Key
				n.Entries = append(n.Entries, e)
			}
		}
	}
	n.Range.End = p.end(y, at)
	return n
}

// merges returns the mappings that a merge key (<<) names.
func (p *yamlReader) merges(value *Node) []*Node {
	switch {
	case value.Kind == Map:
		return []*Node{value}
	case value.Kind == List:
		var all []*Node
		for _, item := range value.Items {
			if item.Kind != Map {
				p.report(fault.BadMergeKey(item.Range))
				continue
			}
			all = append(all, item)
		}
		return all
	}
	p.report(fault.BadMergeKey(value.Range))
	return nil
}

// end returns the place after a list or a mapping: after its bracket in flow
// style, after its last entry in block style.
func (p *yamlReader) end(y *yaml.Node, at diag.Pos) diag.Pos {
	last := at
	if len(y.Content) > 0 {
		last = p.endOf(y.Content[len(y.Content)-1])
	}
	if y.Style&yaml.FlowStyle == 0 {
		return last
	}
	c := p.at(last)
	if len(y.Content) == 0 {
		c.next()
	}
	for c.skipSpace(); !c.done() && (c.peek() == ',' || c.peek() == ':'); c.skipSpace() {
		c.next() // a trailing comma; the colon of a key without a value
	}
	if c.peek() == ']' || c.peek() == '}' {
		c.next()
	}
	return c.pos()
}

func (p *yamlReader) endOf(y *yaml.Node) diag.Pos {
	at := p.contentStart(y)
	switch y.Kind {
	case yaml.AliasNode:
		return diag.Pos{Line: at.Line, Col: at.Col + 1 + utf8.RuneCountInString(y.Value)}
	case yaml.ScalarNode:
		_, end := p.scalarSpots(at, y.Style, y.Value)
		return end
	}
	return p.end(y, at)
}
