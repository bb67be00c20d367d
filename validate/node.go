package validate

import (
	"fmt"
	"slices"

	"mobiusc/internal/diag"
	"mobiusc/internal/number"
	"mobiusc/ir"
	"mobiusc/ops"
)

// node checks one node: its operator, inputs, outputs, attributes, subgraphs
// and types.
func (w *walk) node(n *ir.Node, s *scope) {
	if n.OpType == "" {
		w.reportNode(emptyNode, n, "the node has no operator")
		return
	}
	if len(n.Inputs()) == 0 && len(n.Outputs()) == 0 {
		w.reportNode(emptyNode, n, "the node has neither inputs nor outputs")
	}
	before := w.faults
	if slices.Contains(n.Attrs, nil) {
		w.reportNode(emptyName, n, "the list of attributes has an empty entry")
		return
	}
	w.attributes(n)
	schema, fn := w.operator(n)
	if schema != nil {
		w.inputs(n, schema)
		w.outputs(n, schema)
		w.schemaAttributes(n, schema)
	}
	w.subgraphs(n, schema, s)
	switch {
	case schema != nil:
		w.nodeTypes(n, schema, w.faults == before)
	case fn != nil:
		w.call(n, fn)
	}
}

// operator finds what a node calls: an operator of ONNX, or a function of the
// model, or neither. It reports what is wrong about the name.
func (w *walk) operator(n *ir.Node) (*ops.Schema, *ir.Function) {
	version, imported := w.opset(n.Domain)
	if imported && ops.IsDefault(n.Domain) {
		w.domainSpelling(n)
	}
	fn := w.functions[functionKey{canonical(n.Domain), n.OpType, n.Overload}]
	if !imported {
		w.reportNodeHint(NoOpsetImport, n, "import "+domainName(n.Domain), "no version of the domain %s is imported", domainName(n.Domain))
		return nil, fn
	}
	if !ops.IsStandard(n.Domain) {
		w.custom(n, fn)
		return nil, fn
	}
	schema := ops.Lookup(n.Domain, n.OpType, version)
	switch {
	case schema == nil && fn != nil:
		w.custom(n, fn)
		return nil, fn
	case schema == nil:
		w.noSchema(n, version)
	case schema.Deprecated:
		w.reportNode(deprecatedOperator, n, "%s is deprecated since %s version %d", n.OpType, domainName(n.Domain), schema.Since)
	}
	return schema, nil
}

// custom reports an operator that ONNX does not define; fn is the function that
// defines it, if any.
func (w *walk) custom(n *ir.Node, fn *ir.Function) {
	c := *customDomain
	hint := ""
	if w.opts.Standard {
		c.Severity = diag.Error
		hint = "legalise the model: replace the call by standard operators"
	} else if fn != nil {
		return
	}
	w.reportNodeHint(&c, n, hint, "%s of the domain %s is not a standard operator", n.OpType, domainName(n.Domain))
}

func (w *walk) noSchema(n *ir.Node, version int64) {
	if version < 1 {
		return // the import is reported, and with another version the operator may exist
	}
	versions := ops.Versions(n.Domain, n.OpType)
	if len(versions) > 0 {
		first := versions[0].Since
		w.reportNodeHint(operatorTooNew, n, fmt.Sprintf("import %s version %d", domainName(n.Domain), first),
			"%s came with %s version %d, version %d is imported", n.OpType, domainName(n.Domain), first, version)
		return
	}
	w.reportNodeHint(unknownOperator, n, didYouMean(ops.SuggestOperator(n.Domain, n.OpType, version)),
		"%s has no operator %s", domainName(n.Domain), n.OpType)
}

// domainSpelling warns of a node that says "ai.onnx" where the import says "",
// or the other way round: runtimes take them for the same, ONNX's checker not.
func (w *walk) domainSpelling(n *ir.Node) {
	for _, o := range w.opsets {
		if o.Domain == n.Domain {
			return
		}
	}
	w.reportNodeHint(domainAlias, n, "use the empty name for both", "the node writes the domain as %q, the import does not", n.Domain)
}

// inputs checks the count of inputs and that required ones are there.
func (w *walk) inputs(n *ir.Node, schema *ops.Schema) {
	have := len(n.Inputs())
	if have < schema.MinInputs || have > schema.MaxInputs {
		w.reportNode(inputCount, n, "%s takes %s, found %d", versioned(schema), arity(schema.MinInputs, schema.MaxInputs, "input"), have)
	}
	for i, v := range n.Inputs() {
		if p := schema.Input(i); v == nil && p != nil && p.Option == ops.Single {
			w.reportNode(missingInput, n, "input %d, %s, is required but left out", i, p.Name)
		}
	}
}

func (w *walk) outputs(n *ir.Node, schema *ops.Schema) {
	have := len(n.Outputs())
	switch {
	case have < schema.MinOutputs || have > schema.MaxOutputs:
		w.reportNode(outputCount, n, "%s has %s, found %d", versioned(schema), arity(schema.MinOutputs, schema.MaxOutputs, "output"), have)
	case !outputCountAllowed(schema, have):
		w.reportNode(outputCount, n, "%s has either 1 or %d outputs, found %d", versioned(schema), schema.MaxOutputs, have)
	}
	for i, v := range n.Outputs() {
		if p := schema.Output(i); v == nil && p != nil && p.Option == ops.Single {
			w.reportNode(missingOutput, n, "output %d, %s, is required but left out", i, p.Name)
		}
	}
}

// outputCountAllowed knows the one operator whose counts of outputs are no
// range: BatchNormalization has its statistics all or not at all.
func outputCountAllowed(s *ops.Schema, n int) bool {
	return s.Name != "BatchNormalization" || s.Domain != "" || n == 1 || n == s.MaxOutputs
}

// versioned names a schema: Gemm-13.
func versioned(s *ops.Schema) string { return fmt.Sprintf("%s-%d", s.Name, s.Since) }

func arity(lo, hi int, noun string) string {
	switch {
	case lo == hi:
		return number.Count(lo, noun)
	case hi == ops.Unbounded:
		return "at least " + number.Count(lo, noun)
	}
	return fmt.Sprintf("%d to %s", lo, number.Count(hi, noun))
}

func canonical(domain string) string {
	if ops.IsDefault(domain) {
		return ""
	}
	return domain
}
