package verify

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mobiusc/internal/ort"
	"mobiusc/internal/suggest"
	"mobiusc/ir"
)

// maxProblems bounds how many problems of one reference are told: a reference
// of another model has one for each tensor.
const maxProblems = 20

// problems gathers what is wrong with a reference.
type problems struct {
	place string // what the next ones are about
	list  []string
}

func (p *problems) add(format string, args ...any) {
	p.list = append(p.list, p.place+": "+fmt.Sprintf(format, args...))
}

func (p *problems) err() error {
	if len(p.list) == 0 {
		return nil
	}
	list := p.list
	if more := len(list) - maxProblems; more > 0 {
		list = append(slices.Clone(list[:maxProblems]), fmt.Sprintf("and %d more", more))
	}
	return errors.New(strings.Join(list, "\n"))
}

// Check says why a reference cannot be played through the package, or nil: it
// names what the package does not have, leaves out what the package needs, or
// has tensors of other types. The error has one line a problem. Sizes that the
// graphs leave open are known when they run.
func (p *Package) Check(r *Reference) error {
	found := &problems{}
	compared := false
	for n, step := range r.Steps {
		for _, name := range slices.Sorted(maps.Keys(step.Components)) {
			found.place = fmt.Sprintf("%s, step %d", r.Name, n)
			i := slices.IndexFunc(p.components, func(c *component) bool { return c.Name == name })
			if i < 0 {
				found.add("the package has no component %s; %s", name, hint(name, p.names()))
				continue
			}
			found.place += ", component " + name
			call := step.Components[name]
			p.components[i].check(call, found)
			compared = compared || len(call.Outputs) > 0
		}
	}
	if !compared {
		found.place = r.Name
		found.add("it states no output: no tensor is named step{n}.{component}.out.{output}")
	}
	return found.err()
}

func (p *Package) names() []string {
	var names []string
	for _, c := range p.components {
		names = append(names, c.Name)
	}
	return names
}

// check compares what the reference has of a call with the component's interface.
func (c *component) check(call *Call, found *problems) {
	checkPorts("input", call.Inputs, c.session.Inputs, found)
	checkPorts("output", call.Outputs, c.session.Outputs, found)
	for _, name := range slices.Sorted(maps.Keys(call.Float16)) {
		if _, ok := call.Outputs[name]; !ok {
			found.add("output %s has a float16 run and no expected value", name)
		}
	}
	for _, port := range c.session.Inputs {
		if _, given := call.Inputs[port.Name]; !given && !c.carries(port.Name) && c.source(port.Name) == "" {
			found.add("input %s %s is missing; it is neither a state nor another component's output", port.Name, port.Type)
		}
	}
}

// checkPorts checks that tensors are declared under their names, with types that
// agree. Floats of any width do: see cast.
func checkPorts(kind string, tensors map[string]ort.Tensor, ports []ort.Port, found *problems) {
	for _, name := range slices.Sorted(maps.Keys(tensors)) {
		i := slices.IndexFunc(ports, func(p ort.Port) bool { return p.Name == name })
		if i < 0 {
			var names []string
			for _, p := range ports {
				names = append(names, p.Name)
			}
			found.add("there is no %s %s; %s", kind, name, hint(name, names))
			continue
		}
		t, declared := tensors[name], ports[i].Type
		if !agrees(t, declared) {
			found.add("%s %s is %s%v in the reference and %s in the package", kind, name, t.Type, t.Dims, declared)
		}
	}
}

func agrees(t ort.Tensor, declared *ir.Type) bool {
	if t.Type != declared.Elem && !(t.Type.IsFloat() && declared.Elem.IsFloat()) || len(t.Dims) != len(declared.Shape) {
		return false
	}
	for i, d := range declared.Shape {
		if n, known := d.Int(); known && n != t.Dims[i] {
			return false
		}
	}
	return true
}

// hint names the nearest of the names there are, or all of them.
func hint(name string, names []string) string {
	if near := suggest.Nearest(name, names); near != "" {
		return "did you mean " + near + "?"
	}
	const most = 12
	if len(names) > most {
		names = append(slices.Clone(names[:most]), "…")
	}
	return "there are " + strings.Join(names, ", ")
}
