// Package validate checks a model against the ONNX standard: every graph and
// every subgraph, at any depth, function bodies, and the files that hold
// external data. It works on any [ir.Model], also one read from a file of
// another tool, reports everything it finds and never changes the model.
//
// The rules are ONNX's own: the operator table of package ops and the rules of
// the ONNX specification that its checker enforces. docs/validator.md lists
// every finding, and where and why this package differs from that checker.
package validate

import (
	"mobiusc/internal/diag"
	"mobiusc/ir"
	"mobiusc/ops"
)

// Options says what to check beside the model itself. The zero value checks a
// model in memory by the rules for any ONNX model.
type Options struct {
	// Dir is the directory of the model file. External data is looked up in it;
	// if it is empty, only the references are checked.
	Dir string
	// Standard demands that the model needs nothing but ONNX itself: operators
	// of the standard domains only, and no functions.
	Standard bool
	// Unplaced allows external data that has no location yet: of a model in
	// memory whose data file is planned later.
	Unplaced bool
}

// Finding is one breach of a rule.
type Finding struct {
	Code     string // MBV301
	Name     string // unknown-operator
	Severity diag.Severity
	// Path leads to the place, outermost first:
	// graph "main" > node "scan" (Scan) > attribute body > node "y" (Add).
	Path    string
	Message string // one sentence: what was found, what was expected
	Hint    string // the likely fix, or ""
	// About is the name in the text of the model that the finding is about; its
	// role is NoMention where it is about no single one.
	About ir.Mention
	// Source is where the node came from in the spec ("specs/x.yaml:12:5"), if
	// the node says so.
	Source string
}

// String returns the finding on one line.
func (f Finding) String() string {
	s := f.Path + ": " + f.Severity.String() + ": " + f.Message
	if f.Hint != "" {
		s += "; " + f.Hint
	}
	if f.Source != "" {
		s += " (from " + f.Source + ")"
	}
	return s + " [" + f.Code + " " + f.Name + "]"
}

// Diagnostic returns the finding as a diagnostic about a file.
func (f Finding) Diagnostic(file string) diag.Diagnostic {
	d := diag.Diagnostic{
		Code: f.Code, Name: f.Name, Severity: f.Severity, Range: diag.Range{File: file},
		Message: f.Path + ": " + f.Message, Hint: f.Hint,
	}
	if f.Source != "" {
		d.Notes = []diag.Related{{Range: diag.Range{File: f.Source}, Message: "the node comes from here"}}
	}
	return d
}

// HasErrors reports whether any finding is an error.
func HasErrors(findings []Finding) bool {
	for _, f := range findings {
		if f.Severity == diag.Error {
			return true
		}
	}
	return false
}

// Model checks a model and returns what it finds: the model's own fields, then
// the functions, then the graph in the order of its nodes.
func Model(m *ir.Model, opts Options) []Finding {
	c := &checker{model: m, opts: opts, functions: map[functionKey]*ir.Function{}, files: map[string]dataFile{},
		reported: map[string]bool{}, seen: map[seenKey]bool{}}
	top := c.topWalk()
	top.modelFields()
	top.localFunctions()
	if m.Graph == nil {
		top.report(noGraph, "the model has no graph")
		return c.findings
	}
	top.graph(m.Graph, nil)
	top.totalSize()
	return c.findings
}

// checker holds what is shared by the whole run.
type checker struct {
	model     *ir.Model
	opts      Options
	findings  []Finding
	functions map[functionKey]*ir.Function
	recursive map[*ir.Function]bool
	files     map[string]dataFile
	bytes     int64           // tensor bytes in the model file itself
	reported  map[string]bool // features of the IR version already reported
	seen      map[seenKey]bool
	callNodes int // nodes of bodies checked for single calls so far
	faults    int // errors so far, also those not repeated
	nameHints int // searches for similar names so far
}

// walk is a walk over one graph with its subgraphs under one set of imports:
// the model's graph, or a function body.
type walk struct {
	*checker
	at     *place
	opsets []ir.Opset
	fn     *ir.Function // nil in the model's graph
	// attrs holds the attribute parameters' values when the body is checked for
	// one call; nil when it is checked on its own.
	attrs map[string]*ir.Attr
	env   *ops.Env // what is known of types and contents
	// active holds the graphs being walked: a graph must not contain itself.
	active map[*ir.Graph]bool
	calls  int // depth of function calls
}

func (c *checker) topWalk() *walk {
	w := &walk{checker: c, opsets: c.model.Opsets, active: map[*ir.Graph]bool{}}
	w.at = &place{kind: modelPlace}
	if c.model.IRVersion < 3 && len(w.opsets) == 0 {
		w.opsets = []ir.Opset{{Domain: "", Version: 1}} // what ONNX had before imports existed
	}
	w.env = w.newEnv()
	return w
}

// newEnv returns what inference starts from: the imports, and the functions if
// it is safe to follow calls.
func (w *walk) newEnv() *ops.Env {
	m := &ir.Model{Opsets: w.opsets}
	if len(w.recursive) == 0 {
		for _, f := range w.functions {
			if ops.Lookup(f.Domain, f.Name, w.model.OpsetVersion(f.Domain)) == nil && inferableGraph(f.Body, nil) {
				m.Functions = append(m.Functions, f)
			}
		}
	}
	return ops.NewModelEnv(m).Overlay()
}

// opset returns the imported version of a domain; ok is false when the domain
// is not imported.
func (w *walk) opset(domain string) (version int64, ok bool) {
	for _, o := range w.opsets {
		if sameDomain(o.Domain, domain) {
			return o.Version, true
		}
	}
	return 0, false
}

func sameDomain(a, b string) bool {
	return a == b || ops.IsDefault(a) && ops.IsDefault(b)
}

// typeOf returns what is known of a value's type: what it declares, else what
// was inferred, else nil.
func (w *walk) typeOf(v *ir.Value) *ir.Type {
	if v == nil {
		return nil
	}
	return w.env.Type(v)
}

// report adds a finding about the place of the walk.
func (w *walk) report(c *Check, format string, args ...any) {
	w.add(c, ir.Mention{}, "", format, args)
}

// reportHint is report with a fix.
func (w *walk) reportHint(c *Check, hint, format string, args ...any) {
	w.add(c, ir.Mention{}, hint, format, args)
}

// reportNode adds a finding about a node of the graph being walked.
func (w *walk) reportNode(c *Check, n *ir.Node, format string, args ...any) {
	w.add(c, operatorOf(n), "", format, args)
}

// reportNodeHint is reportNode with a fix.
func (w *walk) reportNodeHint(c *Check, n *ir.Node, hint, format string, args ...any) {
	w.add(c, operatorOf(n), hint, format, args)
}

func operatorOf(n *ir.Node) ir.Mention {
	return ir.Mention{Node: n, Role: ir.OperatorMention, Name: n.OpType}
}

// reportMention adds a finding about a name that a node or the head of a graph
// mentions.
func (w *walk) reportMention(c *Check, m ir.Mention, hint, format string, args ...any) {
	w.add(c, m, hint, format, args)
}
