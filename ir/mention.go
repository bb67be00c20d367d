package ir

// Mention is a name that the text of a function gives: in a node, or in the head
// of a graph. The head of a function is that of its body.
type Mention struct {
	Node  *Node  // or nil
	Graph *Graph // if Node is nil
	Role  MentionRole
	Name  string
}

// MentionRole says as what a name is mentioned.
type MentionRole uint8

// The roles. A head has no operator: there OperatorMention is the name of the
// function, and HeaderMention a key of what stands before it.
const (
	NoMention MentionRole = iota
	OperatorMention
	InputMention
	OutputMention
	AttributeMention
	DomainMention
	HeaderMention
)

// Mentions holds where a text mentions names, from and to, in characters from 0.
// Of two equal mentions it holds the last.
type Mentions map[Mention][2]int

// ParseFunctionMentions is [ParseFunctions] with the places of names.
func ParseFunctionMentions(name string, src []byte) ([]*Function, Mentions, error) {
	mentions := Mentions{}
	functions, err := parseText(name, src, func(p *parser) []*Function {
		p.mentions = mentions
		return p.functions()
	})
	characters := make([]int, len(src)+1) // before each byte that begins one
	n := 0
	for i := range string(src) {
		characters[i] = n
		n++
	}
	characters[len(src)] = n
	for m, at := range mentions { // bytes so far
		mentions[m] = [2]int{characters[at[0]], characters[at[1]]}
	}
	return functions, mentions, err
}

// mention records that the next token is a name, where anybody wants to know.
func (p *parser) mention(m Mention) {
	if p.mentions != nil {
		m.Name = p.tok.text
		p.mentions[m] = [2]int{p.tok.pos, p.off}
	}
}
