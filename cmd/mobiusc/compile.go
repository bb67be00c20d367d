package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"mobiusc/compiler"
	"mobiusc/ir"
)

func compileCommand() *cli.Command {
	return &cli.Command{
		Name:      "compile",
		Usage:     "compile a spec to an ONNX package",
		ArgsUsage: "SPEC",
		Description: "SPEC is a file, or the name of a spec that mobiusc carries.\n\n" +
			"Without --weights the package holds the graphs alone, and mobiusc.json says where each\n" +
			"weight belongs. --weights DIR copies a safetensors checkpoint into the package;\n" +
			"--weights DIR --in-place puts the graphs beside the checkpoint instead.",
		Flags: append(append(modelFlags(), checkpointFlags("`DIR` holds the safetensors checkpoint; the word random asks for small random numbers")...),
			&cli.Uint64Flag{Name: "seed", Usage: "`NUMBER` that --weights random starts from (default: 0)", Category: weightGroup},
			&cli.BoolFlag{Name: "checksums", Usage: "record every tensor's SHA-256, for validate --checksums", Category: weightGroup},
			&cli.Int64Flag{Name: "opset", Value: compiler.DefaultOpset, Usage: fmt.Sprintf("`VERSION` of ai.onnx, 21 to 27 (default: %d)", compiler.DefaultOpset), Category: targetGroup, Action: aboveZero[int64]("opset")},
			&cli.StringFlag{Name: "linear-attention", Value: "chunked", Usage: "`FORM` of linear attention: chunked, or recurrent, which is token by token (default: chunked)", Category: targetGroup},
			&cli.StringFlag{Name: "logits", Value: "all", Usage: "`WHICH` tokens have logits: all, or the last of each row (default: all)", Category: targetGroup},
			&cli.Int64Flag{Name: "chunk-size", Value: compiler.DefaultChunkSize, Usage: fmt.Sprintf("`TOKENS` in a chunk of linear attention at most: 16, 32, 64 or 128 (default: %d)", compiler.DefaultChunkSize), Category: targetGroup, Action: aboveZero[int64]("chunk-size")},
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: "`DIR` of the package, which is made; its parent exists (default: the spec's name)", Category: outputGroup},
			&cli.BoolFlag{Name: "force", Usage: "replace the package that is there", Category: outputGroup},
			&cli.StringFlag{Name: "dump", Usage: "`DIR` for the text of every graph after each phase", Category: outputGroup},
			verboseFlag(), quietFlag(),
		),
		Action: func(c *cli.Context) error {
			o, err := compileOptions(c)
			if err != nil {
				return err
			}
			bar := newProgress(c)
			o.Progress = bar.show
			found, err := compiler.Compile(c.Context, o)
			bar.clear()
			// Both are said: what was found, and what kept it from being written.
			if e := report(c, found); err == nil {
				err = e
			}
			if err != nil || c.Bool("quiet") {
				return err
			}
			unsaid := 0
			if !c.Bool("verbose") {
				unsaid = rounded(found)
			}
			return summarise(c.App.Writer, o.Dir(), unsaid)
		},
	}
}

func compileOptions(c *cli.Context) (compiler.Options, error) {
	o, err := modelOptions(c)
	if err != nil {
		return o, err
	}
	o.Opset, o.LinearAttention, o.ChunkSize = c.Int64("opset"), c.String("linear-attention"), c.Int64("chunk-size")
	o.Logits = c.String("logits")
	o.Out, o.Force, o.Checksums = c.String("out"), c.Bool("force"), c.Bool("checksums")
	inPlace := o.Weights.Mode == compiler.InPlace
	switch {
	case inPlace && c.IsSet("out"):
		return o, usage(c, "--in-place writes into the checkpoint's directory; leave --out away")
	case o.Checksums && o.Weights.Mode == compiler.None:
		return o, usage(c, "--checksums needs weights to hash: --weights DIR")
	}
	if !inPlace && o.Out == "" {
		o.Out = strings.TrimSuffix(filepath.Base(o.Spec), filepath.Ext(o.Spec)) // the spec's name
	}
	if dir := c.String("dump"); dir != "" {
		o.Dump = dumpInto(dir)
	}
	return o, nil
}

// dumpInto returns a Dump that writes NN-phase.onnxtxt files, numbered in order.
func dumpInto(dir string) func(component, phase string, m *ir.Model) error {
	count := map[string]int{}
	return func(component, phase string, m *ir.Model) error {
		count[component]++
		path := filepath.Join(dir, component, fmt.Sprintf("%02d-%s.onnxtxt", count[component], phase))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		return os.WriteFile(path, []byte(m.String()), 0o666)
	}
}
