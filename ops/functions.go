package ops

import (
	"cmp"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"sync"

	"mobiusc/ir"
)

// The compiler's own functions: bodies in ONNX's textual syntax for standard
// operators that a target may lack, and for operators of the private domain.
//
//go:embed functions
var functionTexts embed.FS

// functions returns the bodies of each operator, that of the lowest opset
// first. The texts are part of the program, so that a fault in one is a fault
// of the program: it panics, and a test reads them all.
var functions = sync.OnceValue(func() map[key][]*ir.Function {
	table, err := readFunctions(functionTexts)
	if err != nil {
		panic("ops/" + err.Error())
	}
	return table
})

// FunctionFor returns the body of an operator for a version of ai.onnx, or nil
// when it has none. An operator may have several bodies: each is for the opset
// it imports and those after it, up to the next. Functions are shared: read only.
func FunctionFor(domain, op string, opset int64) *ir.Function {
	for _, f := range slices.Backward(FunctionsOf(domain, op)) {
		if f.OpsetVersion("") <= opset {
			return f
		}
	}
	return nil
}

// FunctionsOf returns every body of an operator, that of the lowest opset first.
func FunctionsOf(domain, op string) []*ir.Function { return functions()[key{canonical(domain), op}] }

// Functions returns every body of every operator, by domain, name and opset.
func Functions() []*ir.Function {
	var all []*ir.Function
	for _, bodies := range functions() {
		all = append(all, bodies...)
	}
	slices.SortFunc(all, func(a, b *ir.Function) int {
		return cmp.Or(cmp.Compare(a.Domain, b.Domain), cmp.Compare(a.Name, b.Name),
			cmp.Compare(a.OpsetVersion(""), b.OpsetVersion("")))
	})
	return all
}

// readFunctions reads the texts in the folder functions.
func readFunctions(files fs.FS) (map[key][]*ir.Function, error) {
	names, err := fs.Glob(files, "functions/*.onnxtxt")
	if err != nil {
		return nil, err
	}
	table := map[key][]*ir.Function{}
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		read, err := ir.ParseFunctions(name, text)
		if err != nil {
			return nil, err
		}
		for _, f := range read {
			if f.OpsetVersion("") == 0 {
				return nil, fmt.Errorf("%s: function %s imports no ai.onnx opset, expected the lowest that it is for", name, f.Name)
			}
			k := key{canonical(f.Domain), f.Name}
			table[k] = append(table[k], f)
		}
	}
	for k, bodies := range table {
		slices.SortFunc(bodies, func(a, b *ir.Function) int { return cmp.Compare(a.OpsetVersion(""), b.OpsetVersion("")) })
		for i := range bodies[1:] {
			if v := bodies[i].OpsetVersion(""); v == bodies[i+1].OpsetVersion("") {
				return nil, fmt.Errorf("functions: %s has two bodies for opset %d, expected one", path.Join(k.domain, k.op), v)
			}
		}
	}
	return table, nil
}
