package spec

import (
	"fmt"
	"strings"

	"mobiusc/compiler/spec/tree"
)

// Draft returns the text of a new spec that extends the fit's and states what
// can be stated of the difference: the model type and other names of keys. What
// only a person can decide stands in comments. schema is the path of the JSON
// Schema as editors will look for it.
func (f Fit) Draft(name, modelType, schema string) string {
	var b strings.Builder
	parent := f.Spec.Name
	fmt.Fprintf(&b, "# yaml-language-server: $schema=%s\nspec: v1\nname: %s\nextends: %s\n", schema, name, parent)
	fmt.Fprintf(&b, "summary: The %s architecture as models of type %s have it.  # say in one sentence what is different\n", parent, modelType)
	fmt.Fprintf(&b, "model_types: [%s]\n", modelType)
	aliases := f.aliases()
	var named []string
	for _, k := range f.missing {
		if alias := aliases[k]; alias != "" {
			named = append(named, fmt.Sprintf("  %s: {from: [%s]}\n", k.name, alias))
		}
	}
	if len(named) > 0 {
		b.WriteString("\nconfig:\n" + strings.Join(named, ""))
	}
	f.draftUnread(&b, aliases)
	f.draftMissing(&b, aliases)
	if len(f.Refused) > 0 {
		fmt.Fprintf(&b, "\n# What %s does not cover. It needs a block's option, or the value among the key's `values`.\n", parent)
		for _, d := range f.Refused {
			fmt.Fprintf(&b, "#   %s\n", d.Message)
		}
	}
	return b.String()
}

// draftUnread lists the keys that the parent does not read.
func (f Fit) draftUnread(b *strings.Builder, aliases map[*configKey]string) {
	taken := map[string]bool{}
	for _, alias := range aliases {
		taken[alias] = true
	}
	first := true
	for _, u := range f.unread {
		if taken[lastOf(u.path)] {
			continue
		}
		if first {
			fmt.Fprintf(b, "\n# What %s does not read. A key that changes what is computed is declared under config, with its type, and used by the\n"+
				"# option of a block; one that does not is listed under config: ignore, with the reason.\n", f.Spec.Name)
			first = false
		}
		fmt.Fprintf(b, "#   %-40s # %s\n", u.path+": "+guessType(u.value), shortValue(u.value))
	}
}

// draftMissing lists the keys that the parent needs.
func (f Fit) draftMissing(b *strings.Builder, aliases map[*configKey]string) {
	first := true
	for _, k := range f.missing {
		if aliases[k] != "" {
			continue
		}
		if first {
			fmt.Fprintf(b, "\n# What %s needs and config.json does not have. Under config, give each another name (`from`) or a `default`, or delete it with\n"+
				"# null together with what uses it.\n", f.Spec.Name)
			first = false
		}
		fmt.Fprintf(b, "#   %s\n", k.path)
	}
}

// shortValue returns a value of config.json on one short line.
func shortValue(n *tree.Node) string {
	if n.Kind == tree.List {
		var items []string
		for _, item := range n.Items {
			items = append(items, shortValue(item))
		}
		if text := "[" + strings.Join(items, ", ") + "]"; len(text) <= 40 {
			return text
		}
		return fmt.Sprintf("a list of %d", len(n.Items))
	}
	return n.Describe()
}

func lastOf(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }
