package main

import (
	"github.com/urfave/cli/v2"

	"mobiusc/compiler"
)

// The headings of the help.
const (
	modelGroup  = "What to compile"
	weightGroup = "Weights"
	targetGroup = "Target"
	outputGroup = "Output"
)

// modelFlags choose a model: those of every command that binds a spec.
func modelFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "config", Usage: "`FILE` is config.json or its directory (default: the checkpoint's, else the one that the spec pins)", Category: modelGroup},
		&cli.StringFlag{Name: "variant", Usage: "`VARIANT` of the spec, such as text_only (default: the one for the config's model type)", Category: modelGroup},
		&cli.StringFlag{Name: "dtype", Usage: "compute in `DTYPE`: float32, float16 or bfloat16 (default: the checkpoint's)", Category: modelGroup},
		&cli.StringFlag{Name: "storage-dtype", Usage: "store weights in `DTYPE` (default: that of --dtype)", Category: modelGroup},
		&cli.BoolFlag{Name: "strict", Usage: "a config key that the spec neither reads nor ignores is an error, not a warning", Category: modelGroup},
	}
}

// checkpointFlags say where weights come from: those of every command that reads
// a checkpoint.
func checkpointFlags(weights string) []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "weights", Usage: weights, Category: weightGroup},
		&cli.BoolFlag{Name: "follow-links", Usage: "read files that are links to outside DIR, as download caches have them", Category: weightGroup},
		&cli.BoolFlag{Name: "in-place", Usage: "write the graphs into the checkpoint's directory, pointing into its files", Category: weightGroup},
		&cli.Int64Flag{Name: "in-place-limit", Usage: "`BYTES` that --in-place may copy after all, for weights that need a transform (default: 64 MiB)", Category: weightGroup, Action: aboveZero[int64]("in-place-limit")},
	}
}

// modelOptions reads the flags of modelFlags and checkpointFlags.
func modelOptions(c *cli.Context) (compiler.Options, error) {
	spec, err := oneArgument(c, "one spec: a file, or the name of one that mobiusc carries")
	if err != nil {
		return compiler.Options{}, err
	}
	o := compiler.Options{
		Spec: spec, Config: c.String("config"), Variant: c.String("variant"), DType: c.String("dtype"),
		Storage: c.String("storage-dtype"), Strict: c.Bool("strict"), Tool: version(),
	}
	o.Weights, err = weightOptions(c)
	return o, err
}

func weightOptions(c *cli.Context) (compiler.Weights, error) {
	w := compiler.Weights{Dir: c.String("weights"), Seed: c.Uint64("seed"), Limit: c.Int64("in-place-limit"), FollowLinks: c.Bool("follow-links")}
	inPlace := c.Bool("in-place")
	switch {
	case inPlace && (w.Dir == "" || w.Dir == random):
		return w, usage(c, "--in-place needs a checkpoint: --weights DIR")
	case c.IsSet("in-place-limit") && !inPlace:
		return w, usage(c, "--in-place-limit is of use with --in-place only")
	case c.IsSet("seed") && w.Dir != random:
		return w, usage(c, "--seed is of use with --weights random only")
	case inPlace:
		w.Mode = compiler.InPlace
	case w.Dir == random:
		w.Mode, w.Dir = compiler.Random, ""
	case w.Dir != "":
		w.Mode = compiler.Copy
	}
	return w, nil
}

// random is the value of --weights that asks for random numbers. A directory of
// the name is ./random.
const random = "random"
