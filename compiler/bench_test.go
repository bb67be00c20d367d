package compiler_test

import (
	"context"
	"path/filepath"
	"testing"

	"mobiusc/compiler"
)

// BenchmarkSpecs compiles every spec at full size, graphs alone: one published
// configuration of each, one after the other. Its target is one second.
func BenchmarkSpecs(b *testing.B) {
	var all []compiler.Options
	for _, a := range architectures {
		if len(a.configs) > 0 {
			all = append(all, published(a.spec, a.configs[len(a.configs)-1]))
		}
	}
	all = append(all, published("qwen3_5", "qwen3.5-27B"))
	for b.Loop() {
		dir := b.TempDir()
		for _, o := range all {
			o.Out = filepath.Join(dir, filepath.Base(o.Config))
			found, err := compiler.Compile(context.Background(), o)
			if err != nil || found.HasErrors() {
				b.Fatal(err, found)
			}
		}
	}
	b.ReportMetric(float64(len(all)), "specs")
}
