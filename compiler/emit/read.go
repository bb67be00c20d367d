package emit

import (
	"bytes"
	"fmt"
	"os"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"mobiusc/compiler/emit/onnxpb"
	"mobiusc/internal/input"
	"mobiusc/ir"
)

// ModelError says that a file is no ONNX model, or a broken one.
type ModelError struct{ Path, Reason string }

// Error returns the path and the reason.
func (e *ModelError) Error() string { return e.Path + ": not an ONNX model: " + e.Reason }

func notModel(path, format string, args ...any) error {
	return &ModelError{path, fmt.Sprintf(format, args...)}
}

// Read reads an ONNX model file. External data is not opened: tensors say where
// it lies. See [Unmarshal] for what the model then holds. The error is a
// [*ModelError] if the file was read and is no model.
func Read(path string) (*ir.Model, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, fmt.Errorf("%s is a directory, not an ONNX model file", path)
	}
	if info.Size() > MaxProtoBytes {
		return nil, notModel(path, "it has %d bytes, and a protobuf message has at most %d", info.Size(), MaxProtoBytes)
	}
	data, err := input.ReadFile(path, MaxProtoBytes)
	if err != nil {
		return nil, err
	}
	return Unmarshal(data, path)
}

// Unmarshal decodes a serialized ONNX model; name is what errors call the file.
//
// Any model that is well-formed protobuf can be read, also one that breaks
// ONNX's rules, so that package validate can say what is wrong with it:
//
//   - A name that a node reads resolves to its definition in the innermost
//     graph (input, initializer, or output of a node at any position), then
//     outwards. A name that nothing defines becomes a value without definition,
//     one for each graph that uses it.
//   - Names that are defined more than once become distinct values; readers get
//     the first one.
//   - Values of a tensor's typed fields (float_data, int32_data, …) become raw
//     bytes.
//   - The tensor or graph of an attribute is nil if the file does not hold what
//     the attribute's type promises.
//
// What the IR does not represent is listed in the model's Dropped: training
// information, quantization annotations, device configurations, denotations,
// fields unknown to ONNX 1.22.
func Unmarshal(data []byte, name string) (*ir.Model, error) {
	p := &onnxpb.ModelProto{}
	if err := (proto.UnmarshalOptions{RecursionLimit: maxDepth}).Unmarshal(data, p); err != nil {
		return nil, notModel(name, "%s", whyMalformed(data))
	}
	if p.Graph == nil {
		return nil, notModel(name, "%s", whyNoGraph(data))
	}
	r := &reader{dims: map[string]ir.Dim{}}
	m := r.model(p)
	if r.err != nil {
		return nil, notModel(name, "%v", r.err)
	}
	return m, nil
}

// reader converts protobuf messages to the IR.
type reader struct {
	err     error // the first fault that the IR cannot represent
	dropped []string
	more    int               // parts dropped beyond maxDropped
	dims    map[string]ir.Dim // by text: values share few
}

// maxDropped bounds the list of dropped parts; the rest is counted.
const maxDropped = 100

// drop notes a part of the file that the IR does not represent.
func (r *reader) drop(format string, args ...any) {
	if len(r.dropped) < maxDropped {
		r.dropped = append(r.dropped, fmt.Sprintf(format, args...))
	} else {
		r.more++
	}
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
}

// unknown notes fields that the schema of the message does not have.
func (r *reader) unknown(kind, name string, m proto.Message) {
	if len(m.ProtoReflect().GetUnknown()) == 0 {
		return
	}
	num, _, _ := protowire.ConsumeTag(m.ProtoReflect().GetUnknown())
	r.drop("%s %q: field %d, unknown to ONNX 1.22", kind, name, num)
}

// text returns s, which must be UTF-8.
func (r *reader) text(s string) string {
	if !utf8.ValidString(s) {
		r.fail("the text %q is not valid UTF-8", s)
	}
	return s
}

func (r *reader) texts(list []string) []string {
	for _, s := range list {
		r.text(s)
	}
	return list
}

func (r *reader) model(p *onnxpb.ModelProto) *ir.Model {
	m := &ir.Model{
		IRVersion:       p.GetIrVersion(),
		Opsets:          r.opsets(p.OpsetImport),
		ProducerName:    r.text(p.GetProducerName()),
		ProducerVersion: r.text(p.GetProducerVersion()),
		Domain:          r.text(p.GetDomain()),
		ModelVersion:    p.GetModelVersion(),
		Doc:             r.text(p.GetDocString()),
		Meta:            r.meta(p.MetadataProps),
		Graph:           r.graph(p.Graph, nil),
	}
	for _, f := range p.Functions {
		m.Functions = append(m.Functions, r.function(f))
	}
	if n := len(p.TrainingInfo); n > 0 {
		r.drop("training_info (entries: %d)", n)
	}
	if n := len(p.Configuration); n > 0 {
		r.drop("device configurations (entries: %d)", n)
	}
	r.unknown("model", p.Graph.GetName(), p)
	if r.more > 0 {
		r.dropped = append(r.dropped, fmt.Sprintf("and %d more parts", r.more))
	}
	m.Dropped = r.dropped
	return m
}

func (r *reader) opsets(list []*onnxpb.OperatorSetIdProto) []ir.Opset {
	out := make([]ir.Opset, 0, len(list))
	for _, o := range list {
		out = append(out, ir.Opset{Domain: r.text(o.GetDomain()), Version: o.GetVersion()})
		r.unknown("opset_import", o.GetDomain(), o)
	}
	return out
}

func (r *reader) meta(list []*onnxpb.StringStringEntryProto) ir.Properties {
	if len(list) == 0 {
		return nil
	}
	out := make(ir.Properties, 0, len(list))
	for _, e := range list {
		out = append(out, ir.Property{Key: r.text(e.GetKey()), Value: r.text(e.GetValue())})
	}
	return out
}

func (r *reader) function(p *onnxpb.FunctionProto) *ir.Function {
	f := &ir.Function{
		Domain:     r.text(p.GetDomain()),
		Name:       r.text(p.GetName()),
		Overload:   r.text(p.GetOverload()),
		Doc:        r.text(p.GetDocString()),
		Attributes: r.texts(p.Attribute),
		Opsets:     r.opsets(p.OpsetImport),
		Meta:       r.meta(p.MetadataProps),
		Body:       ir.NewGraph(p.GetName()),
	}
	s := newScope(f.Body, nil, len(p.Node))
	for _, name := range p.Input {
		f.Body.Inputs = append(f.Body.Inputs, s.define(ir.NewValue(r.text(name), nil)))
	}
	for _, a := range p.AttributeProto {
		f.Defaults = append(f.Defaults, r.attr(a, s))
	}
	r.nodes(p.Node, p.ValueInfo, s)
	for _, name := range p.Output {
		f.Body.Outputs = append(f.Body.Outputs, s.resolve(r.text(name)))
	}
	r.unknown("function", p.GetName(), p)
	return f
}

// whyMalformed says why data is not protobuf of a model, with the likely cause.
func whyMalformed(data []byte) string {
	if hint := otherFormat(data); hint != "" {
		return hint
	}
	for rest := data; len(rest) > 0; {
		num, typ, n := protowire.ConsumeTag(rest)
		if n < 0 {
			break
		}
		if typ == protowire.BytesType {
			want, k := protowire.ConsumeVarint(rest[n:])
			if have := uint64(len(rest) - n - max(k, 0)); k > 0 && want > have {
				return fmt.Sprintf("the file is truncated: field %d says %d bytes, %d are left", num, want, have)
			}
		}
		size := protowire.ConsumeFieldValue(num, typ, rest[n:])
		if size < 0 {
			break
		}
		rest = rest[n+size:]
	}
	return fmt.Sprintf("it cannot be decoded as protobuf, or messages in it are nested deeper than %d", maxDepth)
}

func whyNoGraph(data []byte) string {
	if len(data) == 0 {
		return "the file is empty"
	}
	if hint := otherFormat(data); hint != "" {
		return hint
	}
	return "it holds no graph"
}

// otherFormat recognises what is often handed over instead of a model.
func otherFormat(data []byte) string {
	switch {
	case bytes.HasPrefix(data, []byte("version https://git-lfs")):
		return "it is a Git LFS pointer; fetch the file itself (git lfs pull)"
	case bytes.HasPrefix(data, []byte("PK\x03\x04")):
		return "it is a ZIP archive (a PyTorch checkpoint, or a packed model)"
	case bytes.HasPrefix(data, []byte("GGUF")):
		return "it is a GGUF file"
	case len(data) > 9 && data[8] == '{' && bytes.Equal(data[5:8], []byte{0, 0, 0}):
		return "it looks like a safetensors file"
	case bytes.HasPrefix(bytes.TrimSpace(data[:min(len(data), 512)]), []byte("{")):
		return "it looks like JSON"
	}
	return ""
}
