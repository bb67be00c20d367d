package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"mobiusc/compiler"
	"mobiusc/ir"
)

// modelFlags choose a model: those of every command that binds a spec.
func modelFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "config", Usage: "compile for this `FILE` (config.json); default: the checkpoint's, or the one the spec pins"},
		&cli.StringFlag{Name: "variant", Usage: "apply a `VARIANT` of the spec, such as text_only"},
		&cli.StringFlag{Name: "dtype", Usage: "compute in float32, float16 or bfloat16; default: the checkpoint's `DTYPE`"},
		&cli.BoolFlag{Name: "strict", Usage: "a config key that the spec does not read is an error"},
	}
}

func compileCommand() *cli.Command {
	return &cli.Command{
		Name:      "compile",
		Usage:     "compile a spec to an ONNX package",
		ArgsUsage: "SPEC",
		Description: "SPEC is a file, or the name of a spec that the program carries (qwen3_5). Without --weights the package holds the\n" +
			"graphs alone; mobiusc.json says where each weight belongs.",
		Flags: append(modelFlags(),
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: "write the package into this `DIR`"},
			&cli.BoolFlag{Name: "force", Usage: "replace the package that is there"},
			&cli.StringFlag{Name: "weights", Usage: "bind the safetensors checkpoint in this `DIR`, or fill with `random` numbers"},
			&cli.BoolFlag{Name: "in-place", Usage: "write the graphs into the checkpoint's directory and point into its files; copies nothing"},
			&cli.Int64Flag{Name: "in-place-limit", Usage: "with --in-place, how many `BYTES` may be copied after all (those that need a transform)"},
			&cli.Uint64Flag{Name: "seed", Usage: "of --weights random"},
			&cli.StringFlag{Name: "storage-dtype", Usage: "store weights as float32, float16 or bfloat16; default: the compute `DTYPE`"},
			&cli.Int64Flag{Name: "opset", Value: compiler.DefaultOpset, Usage: "`VERSION` of ai.onnx, 21 to 27"},
			&cli.StringFlag{Name: "linear-attention", Value: "chunked", Usage: "`FORM` of linear attention: chunked, or recurrent (token by token)"},
			&cli.Int64Flag{Name: "chunk-size", Usage: "`TOKENS` in a chunk of linear attention: 16, 32, 64 or 128 (default: 32)"},
			&cli.StringFlag{Name: "dump", Usage: "write every graph as text after each phase into this `DIR`"},
		),
		Action: func(c *cli.Context) error {
			o, err := compileOptions(c)
			if err != nil {
				return err
			}
			var bar *progress
			if f, ok := c.App.ErrWriter.(*os.File); ok && isTerminal(f) {
				bar = &progress{w: f}
				o.Weights.Progress = bar.show
			}
			found, err := compiler.Compile(c.Context, o)
			bar.clear()
			if err != nil {
				return err
			}
			return report(c, found)
		},
	}
}

func compileOptions(c *cli.Context) (compiler.Options, error) {
	spec, err := oneArgument(c, "one spec")
	if err != nil {
		return compiler.Options{}, err
	}
	o := compiler.Options{
		Spec: spec, Config: c.String("config"), Variant: c.String("variant"), DType: c.String("dtype"), Strict: c.Bool("strict"),
		Storage: c.String("storage-dtype"), Opset: c.Int64("opset"),
		LinearAttention: c.String("linear-attention"), ChunkSize: c.Int64("chunk-size"),
		Out: c.String("out"), Force: c.Bool("force"), Tool: version(),
	}
	if o.Weights, err = weightOptions(c); err != nil {
		return o, err
	}
	if o.Out == "" && o.Weights.Mode != compiler.InPlace {
		return o, errors.New("compile: say where the package goes: --out DIR")
	}
	if dir := c.String("dump"); dir != "" {
		o.Dump = dumpInto(dir)
	}
	return o, nil
}

func weightOptions(c *cli.Context) (compiler.Weights, error) {
	w := compiler.Weights{Dir: c.String("weights"), Seed: c.Uint64("seed"), Limit: c.Int64("in-place-limit")}
	switch {
	case c.Bool("in-place") && (w.Dir == "" || w.Dir == "random"):
		return w, errors.New("compile: --in-place needs the checkpoint: --weights DIR")
	case c.Bool("in-place") && c.String("out") != "":
		return w, errors.New("compile: --in-place writes into the checkpoint's directory; leave --out away")
	case c.Bool("in-place"):
		w.Mode = compiler.InPlace
	case w.Dir == "random":
		w.Mode, w.Dir = compiler.Random, ""
	case w.Dir != "":
		w.Mode = compiler.Copy
	}
	return w, nil
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

// progress draws a bar on a terminal, at most once a percent.
type progress struct {
	w    io.Writer
	last int64
}

const barWidth = 40

func (p *progress) show(done, total int64) {
	percent := int64(100)
	if total > 0 {
		percent = done * 100 / total
	}
	if percent == p.last {
		return
	}
	p.last = percent
	full := int(percent) * barWidth / 100
	fmt.Fprintf(p.w, "\r[%-*s] %3d%% of %.1f GB", barWidth, bars[:full], percent, float64(total)/1e9)
}

var bars = "########################################"

// clear removes the bar; on nil it does nothing.
func (p *progress) clear() {
	if p != nil && p.last > 0 {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
