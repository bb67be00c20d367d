//go:build unix

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"mobiusc/compiler/emit"
)

// compileTimes measures how long whole processes take to compile graphs, without
// weights: this program's command line, and the peer's build. The peer's figure
// includes the import of its libraries, which a user waits for too.
func compileTimes(ctx context.Context, b *bench) error {
	command := filepath.Join(b.dir, "mobiusc")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", command, "./cmd/mobiusc").CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	t := b.table("compile", "Seconds of a whole process, graphs alone; the clock's time")
	t.header = []string{"package", "ours, s", "peer, standard", "peer, default", "of which its build, s"}
	rounds := 2
	if b.full {
		rounds = 4
	}
	for _, name := range []string{"text", "large"} {
		s, err := sourceOf(name)
		if err != nil {
			return err
		}
		args := []string{"compile", s.Spec, "--config", s.Config, "--dtype", "float32", "--quiet", "--force", "--out", filepath.Join(b.dir, "compiled")}
		if s.Variant != "" {
			args = append(args, "--variant", s.Variant)
		}
		row := []timing{{}, {}, {}}
		var builds []float64
		for range rounds {
			begin := time.Now()
			if out, err := exec.CommandContext(ctx, command, args...).CombinedOutput(); err != nil {
				return fmt.Errorf("%w: %s", err, out)
			}
			row[0].seconds = append(row[0].seconds, time.Since(begin).Seconds())
			for i, target := range []string{"onnx-standard", "default"} {
				begin := time.Now()
				x, err := buildPeer(ctx, s.Config, target, filepath.Join(b.dir, "peer"), "none")
				if row[i+1].err = err; err == nil {
					row[i+1].seconds = append(row[i+1].seconds, time.Since(begin).Seconds())
					builds = append(builds, x.Build)
				}
			}
		}
		cells := []string{title(name), figure(row[0].median())}
		for _, x := range row[1:] {
			if x.err != nil {
				t.note("not measured: the peer: %v", x.err)
				cells = append(cells, "not measured")
				continue
			}
			cells = append(cells, ratioOf(row[0], x).String())
		}
		t.rows = append(t.rows, append(cells, figure(quantile(builds, 0.5))))
	}
	return nil
}

// title says what a source is.
func title(name string) string {
	return map[string]string{"text": "text model, 0.75 billion parameters", "large": "27B, vision-language, all components"}[name]
}

// loadTimes measures how long the runtime takes to load the full-size decoder,
// its weights a file without blocks, and counts nodes.
func loadTimes(ctx context.Context, b *bench) error {
	s, err := sourceOf("large")
	if err != nil {
		return err
	}
	t := b.table("load", "64 layers, 27 billion parameters in float32, weights in a sparse file; without what would read them: prepacking, constant folding, planning of memory")
	t.header = []string{"graph", "nodes", "in subgraphs", "model.onnx, MB", "load, s", "ratio"}
	type graph struct {
		name, path string
		loads      timing
	}
	graphs := []graph{{name: "ours"}, {name: "ours, per token"}, {name: "peer, standard"}, {name: "peer, default"}}
	for i := range graphs {
		g := &graphs[i]
		dir := filepath.Join(b.dir, "load "+g.name)
		g.path = filepath.Join(dir, "decoder", "model.onnx")
		switch g.name {
		case "ours", "ours, per token":
			o := s.options(dir)
			if g.name != "ours" {
				o.LinearAttention = "recurrent"
			}
			if g.loads.err = compile(ctx, o); g.loads.err == nil {
				g.loads.err = sparseData(g.path)
			}
		case "peer, standard":
			_, g.loads.err = buildPeer(ctx, s.Config, "onnx-standard", dir, "sparse")
		default:
			_, g.loads.err = buildPeer(ctx, s.Config, "default", dir, "sparse")
		}
	}
	for range max(3, b.pairing.heats) {
		for i := range graphs {
			g := &graphs[i]
			if g.loads.err != nil {
				continue
			}
			p, err := startModel(ctx, g.name, workerOptions{Model: g.path, Threads: b.threads, Absent: true})
			if g.loads.err = err; err == nil {
				p.close()
				g.loads.seconds = append(g.loads.seconds, b.pairing.loadTime(p))
			}
		}
	}
	for _, g := range graphs {
		if g.loads.err != nil {
			t.note("not measured: %s: %v", g.name, g.loads.err)
			t.rows = append(t.rows, []string{g.name, "not measured"})
			continue
		}
		outer, inner, size, err := count(g.path)
		if err != nil {
			return err
		}
		ratio := ""
		if g.name != "ours" {
			ratio = ratioOf(graphs[0].loads, g.loads).String()
		}
		t.rows = append(t.rows, []string{g.name, fmt.Sprint(outer), fmt.Sprint(inner), fmt.Sprintf("%.1f", float64(size)/1e6), figure(g.loads.median()), ratio})
	}
	return nil
}

// count returns the nodes of a model's graph, those of its subgraphs and of the
// functions it calls, and the size of its file.
func count(path string) (outer, inner int, size int64, err error) {
	m, err := emit.Read(path)
	if err != nil {
		return 0, 0, 0, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return 0, 0, 0, err
	}
	for range m.Graph.AllNodes() {
		inner++
	}
	return m.Graph.Len(), inner - m.Graph.Len(), info.Size(), nil
}

// sparseData makes the data files that a model refers to, of the right length and
// without blocks: zeros.
func sparseData(model string) error {
	m, err := emit.Read(model)
	if err != nil {
		return err
	}
	ends := map[string]int64{}
	for _, v := range m.Graph.Initializers {
		if e := v.Init.External; e != nil {
			ends[e.Location] = max(ends[e.Location], e.Offset+e.Length)
		}
	}
	for location, end := range ends {
		f, err := os.OpenFile(filepath.Join(filepath.Dir(model), filepath.FromSlash(location)), os.O_CREATE|os.O_RDWR, 0o666)
		if err != nil {
			return err
		}
		if err := errors.Join(f.Truncate(end), f.Close()); err != nil {
			return err
		}
	}
	return nil
}

// attentionMask compares full attention that reads the mask of padding with the
// same without one.
func attentionMask(ctx context.Context, b *bench) error {
	shapes := b.lengths([]int64{1, 256, 1024}, []int64{1, 256, 1024, 4875})
	shapes = append(shapes, shape{"1 after 1024", request{Sizes: map[string]int64{"batch": 1, "sequence": 1, "past": 1024}}})
	results, workers := b.compare(ctx, []entrant{
		b.compiled("without a mask", "attention, no mask", chunked),
		b.compiled("with the mask of padding", "attention", chunked),
	}, shapes)
	t := b.table("attention", "Attention of one layer of the 27B model, its projections included; no row is padded")
	t.compare("tokens", shapes, results)
	m := b.table("attention memory", "GB of resident memory, as above")
	m.memory(b.pairing, shapes, results, workers)
	return nil
}

// vision measures the memory of the vision encoder of the 27B model, cut to a
// few layers: a layer's memory is free when the next one runs.
func vision(ctx context.Context, b *bench) error {
	type grid struct{ frames, rows, columns int64 }
	cases := []struct {
		depth int
		grid
	}{{2, grid{1, 28, 38}}, {6, grid{1, 28, 38}}, {2, grid{1, 70, 94}}}
	if b.full {
		cases = append(cases, []struct {
			depth int
			grid
		}{{2, grid{1, 120, 160}}, {2, grid{16, 30, 40}}}...)
	}
	t := b.table("vision", "27B model: hidden 1152, 16 heads; float32; GB of resident memory")
	t.header = []string{"patches", "frames", "layers", "loaded", "peak", "above", "MB a 1000 patches", "s"}
	for _, c := range cases {
		model, err := b.visionModel(ctx, c.depth)
		if err != nil {
			return err
		}
		p, err := startModel(ctx, "vision encoder", workerOptions{Model: model, Threads: b.threads})
		if err != nil {
			return err
		}
		patches := c.frames * c.rows * c.columns
		a, err := p.run(request{Sizes: map[string]int64{"patches": patches, "images": 1},
			Ints: map[string][]int64{"image_grid_thw": {c.frames, c.rows, c.columns}}, Runs: 1})
		p.close()
		if err != nil {
			return err
		}
		above := a.Peak - p.Resident
		t.rows = append(t.rows, []string{fmt.Sprint(patches), fmt.Sprint(c.frames), fmt.Sprint(c.depth), gigabytes(p.Resident),
			gigabytes(a.Peak), gigabytes(above), fmt.Sprintf("%.0f", float64(above)/1e3/float64(patches)), figure(a.CPU[0])})
	}
	return nil
}

// visionModel compiles the vision encoder with so many layers, its weights zero.
func (b *bench) visionModel(ctx context.Context, depth int) (model string, err error) {
	dir := filepath.Join(b.dir, fmt.Sprint("vision of ", depth))
	model = filepath.Join(dir, "vision_encoder", "model.onnx")
	if _, err := os.Stat(model); err == nil {
		return model, nil
	}
	s, err := sourceOf("large")
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(s.Config)
	if err != nil {
		return "", err
	}
	var config map[string]any
	if err := json.Unmarshal(text, &config); err != nil {
		return "", err
	}
	config["vision_config"].(map[string]any)["depth"] = depth
	if text, err = json.Marshal(config); err != nil {
		return "", err
	}
	s.Config = dir + ".json"
	if err := os.WriteFile(s.Config, text, 0o666); err != nil {
		return "", err
	}
	if err := compile(ctx, s.options(dir)); err != nil {
		return "", err
	}
	return model, sparseData(model)
}
