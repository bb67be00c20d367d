// Package lowering turns a model's blocks into ONNX graphs. Each file declares
// one block: its options, and how it lowers. From that declaration come also
// the JSON Schema, the checks of the front end and the reference page.
//
// The front end (package compiler/spec) hands over a tree in which nothing is
// left to evaluate: expressions are values, layers are written out, conditions
// are decided. Lowering adds what only graphs have: values, shapes, states.
package lowering

import (
	"maps"
	"slices"

	"mobiusc/internal/diag"
	"mobiusc/ir"
)

// OptionKind says what a block option takes, and as what Go type its value
// reaches the lowering (in parentheses).
type OptionKind uint8

const (
	// NameOption is a module path in the checkpoint, relative to what encloses
	// the block; "/x" is absolute. {expr} holes are already replaced (string).
	NameOption OptionKind = iota
	// ValueOption names a value of the component: an input, or what another
	// block named (string).
	ValueOption
	// ValuesOption is a list of values, or one (…[]string).
	ValuesOption
	IntOption   // a number or an expression; above 0 unless Signed (int64)
	FloatOption // a number or an expression (float64)
	BoolOption  // true, false or a condition (bool)
	// WordOption is one of Words, or an expression that yields one (string).
	WordOption
	IntsOption   // a list of numbers or expressions, above 0 unless Signed ([]int64)
	TokensOption // token ids, each one id or a list of ids ([]int64)
	DTypeOption  // a dtype word; "model" is the package's compute dtype (ir.DataType)
	DimsOption   // a list of dims: numbers, expressions, symbols ([]ir.Dim)
	BodyOption   // a block or a list of blocks (Body)
	BodiesOption // a list of bodies ([]Body)
	// RecordOption is a mapping with the given Fields (Record). Where a field
	// named `when` does not hold, the whole option is absent.
	RecordOption
	// RopeOption is a rotary embedding: a config key of type rope, or a mapping
	// that starts from one (*Rope).
	RopeOption
	// MapOption is a mapping from names, which the block reads, to what Each
	// says (Record).
	MapOption
	FunctionOption // names a function of the spec (string)
)

// Option declares one option of a block.
type Option struct {
	Name     string
	Kind     OptionKind
	Doc      string
	Required bool
	// Default is the default as the reference page shows it, an expression of
	// the spec language. The front end evaluates it where the option is absent,
	// unless it is empty: then the lowering sees that the option is absent.
	// Names in it are other options of the same block, then config keys. Of a
	// NameOption and a ValueOption it is the name itself; a RecordOption with
	// the default {} is present, with its fields' defaults, where it is not written.
	Default string
	Words   []string // WordOption, and DTypeOption where not every dtype is allowed
	Signed  bool     // IntOption, IntsOption: numbers may be 0 and negative
	Bound   Bound    // FloatOption
	// Fields are the entries of a RecordOption. If Of is set, they are instead
	// the options of the block type it names, and defaults for that type apply.
	Fields []Option
	Of     string
	Each   *Option // MapOption: what stands under a name
	// Short is the field of a RecordOption that a plain value sets.
	Short string
}

// FloatingWords are the dtypes in which a model can compute.
var FloatingWords = []string{"model", "float32", "float16", "bfloat16"}

// Bound says which numbers a FloatOption takes.
type Bound uint8

const (
	AnyNumber Bound = iota
	AboveZero
	NotNegative
)

// Decl declares one block type.
type Decl struct {
	Name    string // the key in the spec, snake case
	Doc     string // one sentence, then details
	Options []Option
	// Short is the option that is set when the block is written with a plain
	// string or a list instead of a mapping: `rms_norm: norm`.
	Short string
	// Values are the names of the values that the block adds to its component,
	// with {option} where an option's text goes: {as}, {name}.row.
	Values []string
	// Begins says that the block does not read the stream: a body may begin with it.
	Begins bool
	// Lower adds the block's nodes. x is the stream; the result is the new one.
	// It is nil for the combinators that the front end expands (if, layers).
	Lower func(b *Builder, blk *Block, x Tensor) Tensor
}

// Option returns the declaration of an option, or nil.
func (d *Decl) Option(name string) *Option {
	for i := range d.Options {
		if d.Options[i].Name == name {
			return &d.Options[i]
		}
	}
	return nil
}

// Body is a sequence of blocks; the stream runs through them in order.
type Body []*Block

// Block is one block of a model with every option evaluated.
type Block struct {
	Decl  *Decl
	Range diag.Range // the block's key in the spec
	Layer int        // index of the enclosing layer, from 0; -1 outside layers
	Opts  Record
}

// Record holds evaluated options. An option that is absent, or whose value is
// none, has no entry.
type Record map[string]Opt

// Opt is one evaluated option.
type Opt struct {
	Value any // the Go type that the OptionKind states
	Range diag.Range
}

// Has reports whether an option has a value.
func (r Record) Has(name string) bool { _, ok := r[name]; return ok }

func get[T any](r Record, name string) (v T) {
	if o, ok := r[name]; ok {
		v = o.Value.(T)
	}
	return v
}

// The accessors return the zero value when the option is absent.

// Int returns an IntOption.
func (r Record) Int(name string) int64 { return get[int64](r, name) }

// Float returns a FloatOption.
func (r Record) Float(name string) float64 { return get[float64](r, name) }

// Bool returns a BoolOption.
func (r Record) Bool(name string) bool { return get[bool](r, name) }

// Text returns a NameOption, ValueOption or WordOption.
func (r Record) Text(name string) string { return get[string](r, name) }

// Texts returns a ValuesOption.
func (r Record) Texts(name string) []string { return get[[]string](r, name) }

// Ints returns an IntsOption or TokensOption.
func (r Record) Ints(name string) []int64 { return get[[]int64](r, name) }

// DType returns a DTypeOption.
func (r Record) DType(name string) ir.DataType { return get[ir.DataType](r, name) }

// Dims returns a DimsOption.
func (r Record) Dims(name string) []ir.Dim { return get[[]ir.Dim](r, name) }

// Body returns a BodyOption.
func (r Record) Body(name string) Body { return get[Body](r, name) }

// Bodies returns a BodiesOption.
func (r Record) Bodies(name string) []Body { return get[[]Body](r, name) }

// Record returns a RecordOption; reading from an absent one is allowed.
func (r Record) Record(name string) Record { return get[Record](r, name) }

// Rope returns a RopeOption, or nil.
func (r Record) Rope(name string) *Rope { return get[*Rope](r, name) }

// Rope describes a rotary position embedding (RoPE). Field names follow
// Transformers' rope_parameters.
type Rope struct {
	Type     string  // default, linear, dynamic, llama3, yarn, longrope, proportional
	Theta    float64 // base of the frequencies
	Fraction float64 // partial_rotary_factor: rotated part of the head, 0 < f ≤ 1
	Factor   float64
	// LowFreqFactor and HighFreqFactor belong to llama3.
	LowFreqFactor, HighFreqFactor float64
	// BetaFast, BetaSlow, MScale, MScaleAllDim and Truncate belong to yarn.
	BetaFast, BetaSlow, MScale, MScaleAllDim float64
	Truncate                                 bool
	// ShortFactor and LongFactor belong to longrope.
	ShortFactor, LongFactor []float64
	AttentionFactor         float64 // 0: derived from the type
	OriginalMaxPositions    int64   // original_max_position_embeddings
	MaxPositions            int64   // max_position_embeddings
	Sections                []int64 // mrope_section: frequencies an axis
	Interleaved             bool    // mrope_interleaved

	// What follows is how a block applies the record; a config has no keys for it.

	// Positions names the values that hold positions, one an axis where Axes is
	// split; none: position_ids.
	Positions []string
	// Axes says which axis of the positions a frequency reads: none, chunked,
	// interleaved, split. "" takes it from the record: none without Sections,
	// else interleaved or chunked by Interleaved.
	Axes string
	// Pairs says which elements rotate together: half (i and i + n/2; also "")
	// or adjacent (2i and 2i + 1).
	Pairs string
	// DType is the dtype of the rotation; Undefined is the compute dtype.
	DType ir.DataType
}

// Input is one input of a component.
type Input struct {
	Name  string
	Type  *ir.Type
	Range diag.Range
	// From names what feeds the input in the package: component.output; or "".
	From string
}

// Output is one output of a component.
type Output struct {
	Name  string
	Value string // "result" is the stream at the end of the body
	Range diag.Range
}

// Component is one graph of the package.
type Component struct {
	Name    string
	Prefix  string // of parameter names: model.visual
	Range   diag.Range
	Inputs  []Input
	Outputs []Output
	Body    Body
	// StateInput and StateOutput are the templates of state names, with
	// {layer} and {state}: past_key_values.{layer}.{state}.
	StateInput, StateOutput string

	compute ir.DataType
}

// Model is what the front end hands over: every number known.
type Model struct {
	Name       string // of the spec
	Compute    ir.DataType
	Components []*Component
	// Functions are those of the spec, in SpecDomain, for block call.
	Functions []*ir.Function
}

// Names returns the names that have a value, sorted.
func (r Record) Names() []string { return slices.Sorted(maps.Keys(r)) }

// Opt returns one option as it is.
func (r Record) Opt(name string) Opt { return r[name] }

// or returns the record with an option set where it is absent and the given
// value is not.
func (r Record) or(name string, v Opt) Record {
	if r.Has(name) || v.Value == nil {
		return r
	}
	out := maps.Clone(r)
	if out == nil {
		out = Record{}
	}
	out[name] = v
	return out
}
