package spec

import (
	"fmt"
	"strings"

	"mobiusc/lowering"
)

// Reference returns the reference page of the blocks, in Markdown, made from
// their declarations.
func Reference() string {
	var b strings.Builder
	b.WriteString("# Blocks\n\nEvery block type with its options, generated from the declarations in package `lowering`. The language around them is\n" +
		"described in [spec-language.md](spec-language.md).\n")
	for _, d := range lowering.Decls() {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", d.Name, d.Doc)
		if d.Short != "" {
			fmt.Fprintf(&b, "\nFor short, a plain value sets `%s`.\n", d.Short)
		}
		if len(d.Values) > 0 {
			fmt.Fprintf(&b, "\nIt names the values `%s`.\n", strings.Join(d.Values, "`, `"))
		}
		b.WriteString("\n| option | takes | default | |\n|---|---|---|---|\n")
		referenceRows(&b, d.Options, "")
	}
	return b.String()
}

// referenceRows writes a row an option, and the fields of a record below it.
func referenceRows(b *strings.Builder, options []lowering.Option, indent string) {
	for i := range options {
		o := &options[i]
		otherwise := "–"
		switch {
		case o.Required:
			otherwise = "required"
		case o.Default == "{}":
			otherwise = "its fields' defaults"
		case o.Default != "":
			otherwise = "`" + o.Default + "`"
		}
		doc := strings.ReplaceAll(o.Doc, "|", `\|`)
		fmt.Fprintf(b, "| %s`%s` | %s | %s | %s |\n", indent, o.Name, takes(o), otherwise, doc)
		fields := o.Fields
		switch o.Kind {
		case lowering.RopeOption:
			fields = ropeOptions
		case lowering.MapOption:
			fields = o.Each.Fields
		}
		if indent == "" {
			referenceRows(b, fields, "· ")
		}
	}
}

// takes names what an option takes, as the reference page does.
func takes(o *lowering.Option) string {
	switch o.Kind {
	case lowering.NameOption:
		return "name"
	case lowering.ValueOption:
		return "value"
	case lowering.ValuesOption:
		return "values"
	case lowering.IntOption:
		return "whole number"
	case lowering.FloatOption:
		return "number"
	case lowering.BoolOption:
		return "condition"
	case lowering.IntsOption:
		return "whole numbers"
	case lowering.TokensOption:
		return "token ids"
	case lowering.DTypeOption:
		return "dtype"
	case lowering.DimsOption:
		return "dims"
	case lowering.BodyOption:
		return "body"
	case lowering.BodiesOption:
		return "bodies"
	case lowering.RopeOption:
		return "rope record"
	case lowering.MapOption:
		return "for each name a " + takes(o.Each)
	case lowering.FunctionOption:
		return "function"
	case lowering.WordOption:
		if len(o.Words) > 0 {
			return "`" + strings.Join(o.Words, "`, `") + "`"
		}
		return "word"
	}
	if o.Of != "" {
		return "a " + o.Of + " without its width, or its " + o.Short
	}
	if o.Short != "" {
		return "mapping, or its " + o.Short
	}
	return "mapping"
}
