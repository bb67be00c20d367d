package checkpoint

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"

	"mobiusc/internal/diag"
	"mobiusc/ir"
)

var catalogue diag.Catalogue

// Kinds returns the catalogue in the order of the codes.
func Kinds() diag.Catalogue { return catalogue }

func kind(code, name string, severity diag.Severity, summary string) *entry {
	return &entry{catalogue.Add(code, name, severity, summary)}
}

// entry is a kind of this package.
type entry struct{ *diag.Kind }

// MB08: the checkpoint and its binding.
var (
	unreadableFile = &entry{catalogue.Add("MB0801", "unreadable-checkpoint", diag.Error, "there is no checkpoint, or it cannot be read").AsRequest()}
	twoLayouts     = kind("MB0802", "ambiguous-checkpoint", diag.Warning, "the directory holds two checkpoints")
	missingShard   = kind("MB0803", "missing-shard", diag.Error, "a file that the index names cannot be opened")
	unsafePath     = kind("MB0804", "unsafe-shard-path", diag.Error, "a file of the checkpoint lies outside its directory, or is not a file")
	malformed      = kind("MB0805", "bad-safetensors", diag.Error, "a file is not what the safetensors format demands")
	malformedIndex = kind("MB0806", "bad-index", diag.Error, "the index of a sharded checkpoint is malformed")
	indexMismatch  = kind("MB0807", "index-mismatch", diag.Error, "the index and the shards disagree")
	wrongTotal     = kind("MB0808", "index-total", diag.Note, "the index states another total size than the shards have")

	noTensor       = kind("MB0821", "unbound-parameter", diag.Error, "a parameter of the graph has no tensor in the checkpoint")
	noParam        = kind("MB0822", "unbound-tensor", diag.Error, "a tensor of the checkpoint has no parameter in the graph")
	shapeDiffer    = kind("MB0823", "weight-shape", diag.Error, "a tensor has another shape than its parameter")
	dtypeDiffer    = kind("MB0824", "weight-dtype", diag.Error, "a tensor cannot be converted to the type of its parameter")
	sameName       = kind("MB0825", "weight-collision", diag.Error, "two different tensors come to have one name")
	malformedRule  = kind("MB0826", "bad-weight-rule", diag.Error, "a rule of the section weights cannot be applied")
	wantedIgnored  = kind("MB0827", "ignored-parameter", diag.Error, "a rule ignores a tensor that a parameter needs")
	nothingMatched = kind("MB0828", "unused-weight-rule", diag.Note, "a rule of the section weights matches no tensor")

	lossy      = kind("MB0841", "lossy-conversion", diag.Warning, "values overflow or lose precision in a conversion")
	tooMuch    = kind("MB0842", "too-much-to-copy", diag.Error, "an in-place package would need many bytes of its own")
	linkedFile = kind("MB0843", "linked-shard", diag.Error, "an in-place package cannot point into a file outside its directory")
)

// One constructor a finding: the wording of the package is here.

func (k *entry) at(r diag.Range, hint, format string, args ...any) diag.Diagnostic {
	d := k.At(r, format, args...)
	d.Hint = hint
	return *d
}

func inFile(path string) diag.Range { return diag.Range{File: path} }

// reason returns what went wrong without the path, which the finding carries.
func reason(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

func unreadable(path string, err error) diag.Diagnostic {
	return unreadableFile.at(inFile(path), "", "cannot read: %v", reason(err))
}

func noCheckpoint(dir string) diag.Diagnostic {
	return unreadableFile.at(inFile(dir),
		"weights in another format (pytorch_model.bin, .gguf) must be saved as safetensors first; a safetensors file of another name can be named itself",
		"the directory has neither %s nor %s", singleName, indexName)
}

func notACheckpoint(path string) diag.Diagnostic {
	return unreadableFile.at(inFile(path), "name a directory, a .safetensors file or an index (.json)",
		"this is not a checkpoint")
}

func bothLayouts(path string) diag.Diagnostic {
	return twoLayouts.at(inFile(path), "remove the one that is not meant, or name its file",
		"%s is there too, and is read instead, as Transformers does", singleName)
}

func missingFile(path string, err error) diag.Diagnostic {
	return missingShard.at(inFile(path), "download it again", "cannot open: %v", reason(err))
}

func notRegular(path string) diag.Diagnostic {
	return unsafePath.at(inFile(path), "", "this is not a regular file")
}

func leavingLink(path, target string) diag.Diagnostic {
	return unsafePath.at(inFile(path),
		"download into a plain directory, or make a copy with --follow-links",
		"this is a link to %s, outside the checkpoint's directory", target)
}

func unsafeShard(at diag.Range, tensor, file string) diag.Diagnostic {
	return unsafePath.at(at, "a shard is named by a relative path without . or ..",
		"tensor %q: %q is not a file below the checkpoint's directory", tensor, file)
}

func badHeader(path, fault string) diag.Diagnostic {
	return malformed.at(inFile(path), "the file is damaged: download it again", "%s", fault)
}

func moreFaults(path string, n int) diag.Diagnostic {
	return malformed.at(inFile(path), "", "there are %d more faults in this file", n)
}

func badIndex(at diag.Range, format string, args ...any) diag.Diagnostic {
	return malformedIndex.at(at, "", format, args...)
}

func twoShards(path, tensor, other string) diag.Diagnostic {
	return indexMismatch.at(inFile(path), "", "tensor %q is in %s too", tensor, other)
}

func notInIndex(path, tensor string) diag.Diagnostic {
	return indexMismatch.at(inFile(path), "the index and this file are not from the same download",
		"tensor %q is not in the index", tensor)
}

func notInShard(at diag.Range, tensor, file, actual string, elsewhere bool) diag.Diagnostic {
	hint := "the index and the shards are not from the same download"
	if elsewhere {
		return indexMismatch.at(at, hint, "tensor %q is in %s, not in %s", tensor, actual, file)
	}
	return indexMismatch.at(at, hint, "%s does not hold tensor %q", file, tensor)
}

func totalSize(path string, claimed, found int64) diag.Diagnostic {
	return wrongTotal.at(inFile(path), "", "metadata.total_size is %d, the shards hold %d bytes", claimed, found)
}

func badRule(at diag.Range, err error) diag.Diagnostic { return malformedRule.at(at, "", "%v", err) }

func ruleMisfit(at diag.Range, step Step, name, problem string) diag.Diagnostic {
	return malformedRule.at(at, "", "%s does not fit tensor %q: %s", step, name, problem)
}

func idleRule(at diag.Range, section, pattern string) diag.Diagnostic {
	return nothingMatched.at(at, "", "the %s rule %q matches no tensor", section, pattern)
}

func ignoredParam(at diag.Range, name string) diag.Diagnostic {
	return wantedIgnored.at(at, "narrow the rule's pattern", "the rule ignores tensor %q, which is a parameter", name)
}

func collision(at diag.Range, name, first, second, problem string) diag.Diagnostic {
	return sameName.at(at, "rename one of them, or ignore the one that is not meant",
		"tensors %q and %q are both %q, but differ: %s", first, second, name, problem)
}

// list names the members of a family.
func (f *family) list() string {
	if n := len(f.names); n > 1 {
		return fmt.Sprintf("%s (%d, from %s to %s)", shown(f.pattern), n, shown(f.names[0]), shown(f.names[n-1]))
	}
	return shown(f.names[0])
}

// stored names the tensors of misfits as they are in the checkpoint, with "*" for
// numbers if they are several.
func (f *family) stored() string {
	name := f.tensor.tensors[0]
	if len(f.names) > 1 {
		name = familyOf(name)
	}
	return strconv.Quote(name)
}

// near is the hint that names the nearest family of the other side.
func near(f *family, side string) string {
	if f == nil {
		return ""
	}
	return fmt.Sprintf("the nearest %s is %s %s", side, shown(f.pattern), shape(f.shape))
}

func unboundParam(f, nearest *family) diag.Diagnostic {
	return noTensor.at(f.at, near(nearest, "tensor without parameter"), "no tensor for parameter %s %s", f.list(), shape(f.shape))
}

func unboundTensor(f, nearest *family) diag.Diagnostic {
	hint := near(nearest, "parameter without tensor")
	if hint == "" {
		hint = "if it is not needed, ignore it with a reason under weights"
	}
	return noParam.at(f.at, hint, "no parameter for tensor %s %s", f.list(), shape(f.shape))
}

func wrongShape(f *family) diag.Diagnostic {
	have, want := f.tensor.node.dims(), f.shape
	hint := ""
	reversed := slices.Clone(have)
	slices.Reverse(reversed)
	switch {
	case slices.Equal(reversed, want):
		hint = "it may be stored transposed: say so with a transform under weights"
	case elements(have) == product(want):
		hint = "the number of elements is the same: a reshape under weights may be missing"
	}
	return shapeDiffer.at(f.at, hint, "parameter %s is %s, tensor %s is %s", f.list(), shape(want), f.stored(), shape(have))
}

// product is elements for a shape that no file vouches for: -1 if it overflows.
func product(dims []int64) int64 { return (&ir.Tensor{Dims: dims}).Len() }

func wrongDType(f *family) diag.Diagnostic {
	hint := ""
	if n := f.tensor.node; n.dtype().Bits() <= 8 && n.dtype() != ir.Bool || n.dtype() == ir.Int32 {
		hint = "the checkpoint may be quantised: save it dequantised first"
	}
	return dtypeDiffer.at(f.at, hint, "parameter %s is %s, tensor %s is %s, and there is no conversion",
		f.list(), f.dtype, f.stored(), dtypeName(f.tensor.node))
}

func partMisfit(p Param, first, x *item, problem string) diag.Diagnostic {
	return shapeDiffer.at(p.Range, "", "parameter %s joins the tensors %q and %q, which do not go together: %s",
		p.Name, first.name, x.name, problem)
}

// dtypeName returns the type's ONNX name, or safetensors' where ONNX has none.
func dtypeName(n node) string {
	if s, ok := n.(*stored); ok && n.dtype() == ir.Undefined {
		return string(s.info.DType)
	}
	return n.dtype().String()
}

// IsLossy reports whether a finding is a conversion that lost values.
func IsLossy(d diag.Diagnostic) bool { return d.Code == lossy.Code }

func lossyConversion(b *Bound, n Counts) diag.Diagnostic {
	d := lossy.at(b.Param.Range, "a wider storage type keeps them",
		"%s: of %d values %d overflow to infinity, %d become subnormal and %d become zero (%s)",
		b.Param.Name, elements(b.Source.Shape()), n.Overflow, n.Subnormal, n.Zero, b.Transform())
	if n.Overflow == 0 { // numbers too small to matter in most sums
		d.Severity = diag.Note
	}
	return d
}

func pointsOutside(path string) diag.Diagnostic {
	return linkedFile.at(inFile(path), "make a copy instead, or download into a plain directory",
		"this is a link to outside the checkpoint's directory, which runtimes refuse to read")
}

func copiesTooMuch(dir string, p *Placement, limit int64) diag.Diagnostic {
	hint := "raise the limit (--in-place-limit), or make a copy"
	if word := p.storedType(limit); word != "" {
		hint = "they lie there as " + word + ": store that (--storage-dtype " + word + "), or make a copy"
	}
	d := tooMuch.at(inFile(dir), hint,
		"%d of %d parameters do not lie in the checkpoint as the graphs want them: %d bytes would be written, at most %d are allowed",
		len(p.Copied), len(p.Copied)+len(p.Pointed), p.Bytes, limit)
	d.Notes = p.copiedNotes()
	return d
}
