package diff

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// modulePath returns the module path in a node's name: what stands before the
// last slash. Of a name without a slash, such as other exporters write, it is
// nothing.
func modulePath(name string) string {
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		return name[:i]
	}
	return ""
}

// separators part a path: those between modules, and those around the parts of a
// description.
const separators = "./ ,)"

// layerOf takes the first layer index out of a path: model.layers.{i}.mlp, 3.
func layerOf(path string) (rest string, layer int) {
	layer = -1
	rest = eachIndex(path, func(n int) string {
		if layer >= 0 {
			return ""
		}
		layer = n
		return "{i}"
	})
	return rest, layer
}

// general replaces a layer's index, and that of the layer before, wherever it is a
// part of a path.
func general(text string, layer int) string {
	if layer < 0 {
		return text
	}
	return eachIndex(text, func(n int) string {
		switch n {
		case layer:
			return "{i}"
		case layer - 1:
			return "{i-1}"
		}
		return ""
	})
}

// eachIndex replaces the whole numbers that are a module's name by what replace
// returns, unless that is "". A number beside another (0.5), or that stands
// alone between spaces, is none.
func eachIndex(text string, replace func(n int) string) string {
	var out strings.Builder
	before := "" // the part before this one, with what ends it
	for text != "" {
		i := strings.IndexAny(text, separators)
		part, end := text, ""
		if i >= 0 {
			part, end = text[:i], text[i:i+1]
		}
		text = text[len(part)+len(end):]
		after := text[:min(len(text), 1)]
		n, err := strconv.Atoi(part)
		isIndex := err == nil && n >= 0 && strings.HasSuffix(before, ".") && !endsInDigit(strings.TrimSuffix(before, ".")) &&
			(end != "." || after == "" || after[0] < '0' || after[0] > '9')
		if isIndex {
			part = cmp.Or(replace(n), part)
		}
		out.WriteString(part + end)
		before = part + end
	}
	return out.String()
}

func endsInDigit(s string) bool { return s != "" && s[len(s)-1] >= '0' && s[len(s)-1] <= '9' }

// group joins equal changes of several layers.
func group(changes []nodeChange) []Group {
	var out []Group
	var layers [][]int
	at := map[string]int{}
	for _, c := range changes {
		path, layer := layerOf(c.path)
		g := Group{Status: c.status, Subject: general(c.subject, layer), Path: general(path, layer)}
		for _, x := range c.changes {
			g.Changes = append(g.Changes, Change{x.What, general(x.A, layer), general(x.B, layer)})
		}
		key := strings.Join([]string{string(g.Status), g.Subject, g.Path, changesText(g.Changes)}, "\x00")
		i, seen := at[key]
		if !seen {
			i = len(out)
			at[key], out, layers = i, append(out, g), append(layers, nil)
		}
		out[i].Count++
		if layer >= 0 && !slices.Contains(layers[i], layer) {
			layers[i] = append(layers[i], layer)
		}
	}
	for i := range out {
		out[i].Layers = ranges(layers[i])
	}
	return out
}

func changesText(changes []Change) string {
	var s strings.Builder
	for _, c := range changes {
		s.WriteString(c.What + "\x01" + c.A + "\x01" + c.B + "\x01")
	}
	return s.String()
}

// ranges writes numbers with runs joined: 0–2, 4; runs of equal steps as well:
// 3, 7, …, 63.
func ranges(numbers []int) string {
	slices.Sort(numbers)
	if step := stepOf(numbers); step > 1 && len(numbers) > 3 {
		return strconv.Itoa(numbers[0]) + ", " + strconv.Itoa(numbers[1]) + ", …, " + strconv.Itoa(numbers[len(numbers)-1])
	}
	var parts []string
	for i := 0; i < len(numbers); {
		j := i
		for j+1 < len(numbers) && numbers[j+1] == numbers[j]+1 {
			j++
		}
		switch {
		case j == i:
			parts = append(parts, strconv.Itoa(numbers[i]))
		default:
			parts = append(parts, strconv.Itoa(numbers[i])+"–"+strconv.Itoa(numbers[j]))
		}
		i = j + 1
	}
	if len(parts) > 4 {
		parts = []string{parts[0], parts[1], "…", parts[len(parts)-1]}
	}
	return strings.Join(parts, ", ")
}

// stepOf returns the step of an arithmetic progression, 0 of another sequence.
func stepOf(numbers []int) int {
	if len(numbers) < 2 {
		return 0
	}
	step := numbers[1] - numbers[0]
	for i := 2; i < len(numbers); i++ {
		if numbers[i]-numbers[i-1] != step {
			return 0
		}
	}
	return step
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// compareMaps lists the keys whose values differ, in order.
func compareMaps(a, b map[string]string) []Change {
	all := maps.Clone(a)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, b)
	var out []Change
	for _, key := range sortedKeys(all) {
		if a[key] != b[key] {
			out = append(out, Change{key, a[key], b[key]})
		}
	}
	return out
}
