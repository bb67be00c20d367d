package validate

import "mobiusc/internal/diag"

// Check is one rule of the catalogue. docs/validator.md says more about each.
type Check struct {
	diag.Kind
	// perCall: the finding depends on the types or attributes of a call, so
	// that a function body is checked for it once more at each call.
	perCall bool
}

// Checks returns the catalogue in the order of the codes.
func Checks() diag.Catalogue { return checks }

var checks diag.Catalogue

func check(code, name string, severity diag.Severity, summary string) *Check {
	return &Check{Kind: *checks.Add(code, name, severity, summary)}
}

// perCall marks a check that function bodies undergo at each call.
func perCall(c *Check) *Check {
	c.perCall = true
	return c
}

// The model: MBV1xx. Those that other packages tell from the rest are exported.
var (
	noGraph           = check("MBV101", "no-graph", diag.Error, "the model has no graph")
	irVersion         = check("MBV102", "ir-version", diag.Error, "the IR version is missing, or above what ONNX defines")
	irFeature         = check("MBV103", "ir-feature", diag.Warning, "the model uses what its IR version does not have yet")
	NoOpsetImport     = check("MBV104", "no-opset-import", diag.Error, "the model, or a function, imports no operator set, or not that of a node's domain")
	opsetVersion      = check("MBV105", "opset-version", diag.Error, "an imported operator-set version does not exist")
	opsetConflict     = check("MBV106", "opset-conflict", diag.Error, "two versions of one domain are imported")
	duplicateMetadata = check("MBV107", "duplicate-metadata", diag.Error, "metadata_props has a key twice")
	notRepresented    = check("MBV108", "not-represented", diag.Warning, "the file has parts that the compiler does not read")
	modelTooLarge     = check("MBV109", "model-too-large", diag.Error, "the tensors in the model file exceed protobuf's 2 GiB")
	nestedGraph       = check("MBV110", "nested-graph", diag.Error, "a graph contains itself, or subgraphs are nested too deeply")
	domainAlias       = check("MBV111", "domain-alias", diag.Warning, "a node names the default domain other than the import does")
)

// Names and order: MBV2xx.
var (
	undefinedName       = check("MBV201", "undefined-name", diag.Error, "a node or a graph output reads a name that nothing defines")
	notTopological      = check("MBV202", "not-topological", diag.Error, "a node reads what a later node defines")
	cycle               = check("MBV203", "cycle", diag.Error, "nodes depend on each other in a circle")
	duplicateDefinition = check("MBV204", "duplicate-definition", diag.Error, "a name is defined twice in a graph")
	shadowedName        = check("MBV205", "shadowed-name", diag.Error, "a node in a subgraph defines a name that is visible there already")
	shadowingInput      = check("MBV206", "shadowing-input", diag.Warning, "an input or initializer of a subgraph hides a name of a graph around it")
	emptyName           = check("MBV207", "empty-name", diag.Error, "a graph, value, initializer or attribute has no name")
	duplicateNodeName   = check("MBV208", "duplicate-node-name", diag.Warning, "two nodes of a graph have the same name")
	outerOutput         = check("MBV209", "outer-output", diag.Error, "a subgraph's output is a value of a graph around it")
	otherValue          = check("MBV210", "other-value", diag.Error, "in memory, a node reads another value than the one its name stands for")
	duplicateOutput     = check("MBV211", "duplicate-output", diag.Warning, "a graph lists an output twice")
)

// Operators: MBV3xx.
var (
	unknownOperator    = check("MBV301", "unknown-operator", diag.Error, "ONNX has no such operator")
	operatorTooNew     = check("MBV302", "operator-too-new", diag.Error, "the operator does not exist yet at the imported opset")
	deprecatedOperator = check("MBV303", "deprecated-operator", diag.Error, "the operator is deprecated at the imported opset")
	customDomain       = check("MBV304", "custom-domain", diag.Warning, "a node uses an operator that ONNX does not define (an error where only the standard is allowed)")
	emptyNode          = check("MBV305", "empty-node", diag.Error, "a node has neither inputs nor outputs, or no operator")
	inputCount         = check("MBV306", "input-count", diag.Error, "a node has too few or too many inputs")
	outputCount        = check("MBV307", "output-count", diag.Error, "a node has too few or too many outputs")
	missingInput       = check("MBV308", "missing-input", diag.Error, "a required input is left out")
	missingOutput      = check("MBV309", "missing-output", diag.Error, "a required output is left out")
	unknownAttribute   = check("MBV310", "unknown-attribute", diag.Error, "the operator has no such attribute")
	attributeType      = check("MBV311", "attribute-type", diag.Error, "an attribute has another type than the operator declares")
	missingAttribute   = check("MBV312", "missing-attribute", diag.Error, "a required attribute is left out")
	duplicateAttribute = check("MBV313", "duplicate-attribute", diag.Error, "a node has an attribute twice")
	attributeValue     = check("MBV314", "attribute-value", diag.Error, "an attribute has no value, or one that the operator does not take")
	attributeReference = check("MBV315", "attribute-reference", diag.Error, "an attribute refers to a parameter that the function does not have")
)

// Types: MBV4xx.
var (
	inputType       = perCall(check("MBV401", "input-type", diag.Error, "an input has a type that the operator does not take"))
	typeMismatch    = perCall(check("MBV402", "mixed-types", diag.Error, "values that must be of one type are not"))
	outputType      = perCall(check("MBV403", "output-type", diag.Error, "a value declares another type than its node produces"))
	shapeMismatch   = perCall(check("MBV404", "shape-mismatch", diag.Error, "a shape does not fit the operator, or a value declares another shape than its node produces"))
	untypedValue    = check("MBV405", "untyped-value", diag.Error, "an input or output of the model has no type")
	invalidType     = check("MBV406", "invalid-type", diag.Error, "a declared type is not one that ONNX has")
	initializerType = check("MBV407", "initializer-type", diag.Error, "an initializer and the graph input or value of its name differ in type or shape")
)

// Subgraphs: MBV5xx.
var (
	subgraphInputs  = check("MBV501", "subgraph-inputs", diag.Error, "a subgraph takes another number of inputs than its node passes")
	subgraphOutputs = check("MBV502", "subgraph-outputs", diag.Error, "a subgraph has another number of outputs than its node needs")
	subgraphTypes   = perCall(check("MBV503", "subgraph-types", diag.Error, "the types at a subgraph's interface do not fit"))
)

// Functions: MBV6xx.
var (
	duplicateFunction  = check("MBV601", "duplicate-function", diag.Error, "two functions have the same domain, name and overload")
	RecursiveFunction  = check("MBV602", "recursive-function", diag.Error, "a function calls itself, directly or through others")
	unusedFunction     = check("MBV603", "unused-function", diag.Warning, "nothing calls the function")
	functionInterface  = check("MBV604", "function-interface", diag.Error, "a function has no name, or lists an input, output or attribute twice")
	functionOpset      = check("MBV605", "function-opset", diag.Error, "an operator means something else at the function's opset than at the model's")
	functionOpsetNewer = check("MBV606", "function-opset-version", diag.Warning, "operators have another, compatible schema at the function's opset than at the model's")
	functionLeft       = check("MBV607", "function-left", diag.Error, "a model that must be standard has functions")
	standardFunction   = check("MBV608", "standard-function", diag.Warning, "a function has the name of a standard operator, and runtimes differ in which of the two a call means")
	callDepth          = perCall(check("MBV609", "call-depth", diag.Error, "function calls are nested too deeply"))
)

// Tensors and external data: MBV7xx and MBV8xx.
var (
	tensorElem      = check("MBV701", "tensor-type", diag.Error, "a tensor has no element type, or one that ONNX does not have")
	tensorShape     = check("MBV702", "tensor-shape", diag.Error, "a tensor has a negative dim, or more elements than can be counted")
	tensorData      = check("MBV703", "tensor-data", diag.Error, "a tensor's content does not fit its type and shape")
	sparseTensor    = check("MBV704", "sparse-tensor", diag.Error, "a sparse tensor's indices do not fit its values and shape")
	initializerOnly = check("MBV705", "initializer-without-input", diag.Error, "before IR version 4 every initializer is also a graph input")

	externalLocation = check("MBV801", "external-location", diag.Error, "external data lies outside the model's directory, by its name")
	externalMissing  = check("MBV802", "external-missing", diag.Error, "the file of external data is missing or cannot be read")
	externalFile     = check("MBV803", "external-file", diag.Error, "external data lies in something that is not a regular file")
	externalEscape   = check("MBV804", "external-escape", diag.Error, "a link on the path of external data leaves the model's directory")
	externalLink     = check("MBV805", "external-link", diag.Warning, "external data is reached through a link, or its file has further hard links")
	externalRange    = check("MBV806", "external-range", diag.Error, "offset and length of external data do not fit the tensor or the file")
)
