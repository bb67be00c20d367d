package main

import (
	"path/filepath"
	"slices"
	"strings"

	"mobiusc/compiler"
	"mobiusc/compiler/emit"
	"mobiusc/internal/diag"
)

var ownKinds diag.Catalogue

// MB09: packages and ONNX files.
var (
	unreadableModelKind = ownKinds.Add("MB0901", "unreadable-model", diag.Error, "a file is no ONNX model")
	contentDiffersKind  = ownKinds.Add("MB0902", "checksum-mismatch", diag.Error, "a tensor of a package has not the content that it was written with")
	noChecksumsKind     = ownKinds.Add("MB0903", "no-checksums", diag.Error, "the package holds no checksums to compare with")
	manifestDiffersKind = ownKinds.Add("MB0905", "manifest-mismatch", diag.Error, "mobiusc.json and a model of the package disagree about a tensor")
	missingFileKind     = ownKinds.Add("MB0906", "missing-file", diag.Error, "a file that the manifest lists is not in the package")
	badManifestKind     = ownKinds.Add("MB0904", "bad-manifest", diag.Error, "mobiusc.json is not the manifest of a package")
)

// manifestDiffers reports what a manifest and a model say differently.
func manifestDiffers(model, difference string) diag.Diagnostic {
	d := manifestDiffersKind.At(diag.Range{File: model}, "%s", difference)
	d.Hint = "one of them was changed or replaced: compile again"
	return *d
}

// missingFile reports a file of a package that is not there.
func missingFile(dir, file string) diag.Diagnostic {
	return *missingFileKind.At(diag.Range{File: filepath.Join(dir, emit.ManifestName)}, "the package lists %s, which is not there", file)
}

// catalogue returns every kind of finding of the program.
func catalogue() diag.Catalogue {
	all := slices.Concat(compiler.Catalogue(), ownKinds)
	slices.SortFunc(all, func(a, b *diag.Kind) int { return strings.Compare(a.Code, b.Code) })
	return all
}

// One constructor a finding: the wording is here.

// unreadableModel reports a file that is there and is no ONNX model.
func unreadableModel(at diag.Range, message string) diag.Diagnostic {
	return *unreadableModelKind.At(at, "%s", message)
}

// contentDiffers reports a tensor that has not the content it was written with.
func contentDiffers(m emit.Mismatch) diag.Diagnostic {
	d := contentDiffersKind.At(diag.Range{File: m.File}, "the content of tensor %q is not the one that was written", m.Tensor)
	d.Hint = "the file was changed or damaged: compile again"
	return *d
}

// noChecksums reports a package that was compiled without checksums.
func noChecksums(dir string) diag.Diagnostic {
	d := noChecksumsKind.At(diag.Range{File: filepath.Join(dir, emit.ManifestName)}, "the package holds no checksums to compare with")
	d.Hint = "compile with --checksums to record them"
	return *d
}

// badManifest reports a mobiusc.json that is none.
func badManifest(err error) diag.Diagnostic {
	path, message, _ := strings.Cut(err.Error(), ": ")
	d := badManifestKind.At(diag.Range{File: path}, "%s", message)
	d.Hint = "if it is not of a package, move it away: the models beside it can be read without"
	return *d
}
