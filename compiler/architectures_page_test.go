package compiler_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mobiusc/compiler"
	"mobiusc/compiler/emit"
	"mobiusc/internal/golden"
	"mobiusc/internal/number"
)

const architecturesPage = "../docs/architectures.md"

// TestArchitecturesPage keeps the tables of docs/architectures.md equal to what
// the tests know and measure. UPDATE=1 rewrites them.
func TestArchitecturesPage(t *testing.T) {
	golden.Page(t, architecturesPage, map[string]string{
		"evidence": evidenceTable(t), "models": modelsTable(t), "sizes": sizesTable(t), "lines": linesTable(t),
	})
}

func evidenceTable(*testing.T) string {
	var b strings.Builder
	b.WriteString("| spec | configurations | checkpoints | models | faults |\n|---|---|---|---|---|\n")
	for _, a := range architectures {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %d |\n", a.spec, listed(a.configs), listed(a.checkpoints), listed(a.references), len(architectureMutations[a.spec]))
	}
	return b.String()
}

func listed(names []string) string {
	if len(names) == 0 {
		return "–"
	}
	return strings.Join(names, ", ")
}

func modelsTable(t *testing.T) string {
	var b strings.Builder
	b.WriteString("| model | what distinguishes it | cases |\n|---|---|---|\n")
	index := readIndex(t)
	for _, a := range architectures {
		for _, m := range index.Models {
			if !slices.Contains(a.references, m.Name) {
				continue
			}
			var cases []string
			for _, c := range m.Cases {
				cases = append(cases, c.Name+": "+c.Description)
			}
			fmt.Fprintf(&b, "| %s | %s | %s |\n", m.Name, m.Description, strings.Join(cases, "<br>"))
		}
	}
	return b.String()
}

// small is a reduced model that another compiler was measured on, too: its
// nodes, of each component, and bytes; 0 where it was not measured.
type small struct {
	name, spec string
	nodes      []int
	bytes      int64
	reason     string // why ours has more nodes
}

var smallModels = []small{
	{"llama", "llama", []int{62}, 435_464, ""},
	{"qwen2", "qwen2", []int{62}, 435_464, ""},
	{"qwen3", "qwen3", []int{74}, 0, ""},
	{"mistral", "mistral", nil, 0, ""},
	{"phi3", "phi3", []int{60}, 431_368, ""},
	{"gemma", "gemma", nil, 0, ""},
	{"gemma2", "gemma2", []int{92}, 438_060, ""},
	{"gemma3", "gemma3", nil, 0, ""},
	{"gemma4", "gemma4", []int{107}, 0, ""},
	{"olmo", "olmo", nil, 0, ""},
	{"olmo2", "olmo2", nil, 0, ""},
	{"smollm3", "smollm3", nil, 0, ""},
	{"granite", "granite", nil, 0, ""},
	{"stablelm", "stablelm", nil, 0, ""},
	{"cohere", "cohere", nil, 0, ""},
	{"cohere2", "cohere2", nil, 0, ""},
	{"phi", "phi", nil, 0, ""},
	{"starcoder2", "starcoder2", nil, 0, ""},
	{"gpt2", "gpt2", []int{54}, 397_320, ""},
	{"gpt_bigcode", "gpt_bigcode", nil, 0, ""},
	{"opt", "opt", nil, 0, ""},
	{"gpt_neox", "gpt_neox", nil, 0, ""},
	{"falcon", "falcon", []int{67}, 372_256, ""},
	{"bert", "bert", []int{59}, 367_112, ""},
	{"roberta", "roberta", nil, 0, ""},
	{"distilbert", "distilbert", nil, 0, ""},
	{"t5", "t5", []int{68, 92}, 856_120, ""},
	{"bart", "bart", nil, 0, ""},
	{"mbart", "mbart", nil, 0, ""},
	{"pegasus", "pegasus", nil, 0, ""},
	{"marian", "marian", nil, 0, ""},
	{"whisper", "whisper", []int{55, 85}, 1_031_692, ""},
	{"qwen3_moe", "qwen3_moe", []int{196}, 0, ""},
	{"qwen2_moe", "qwen2_moe", []int{218}, 0, ""},
	{"olmoe", "olmoe", nil, 0, ""},
	{"mixtral", "mixtral", nil, 0, ""},
	{"mamba", "mamba", []int{100}, 302_952, "the convolution is four shifted products, an order of magnitude faster than a grouped Conv for one token, and left padding is kept out"},
	{"falcon_mamba", "falcon_mamba", nil, 0, ""},
	{"qwen3_5_text", "qwen3_5", []int{174}, 468_580, ""},
	{"qwen3_5_moe_text", "qwen3_5_moe", []int{312}, 518_244, ""},
	{"qwen3_next", "qwen3_next", []int{674}, 0, ""},
	{"qwen3_5", "qwen3_5", []int{197, 201, 18}, 1_000_920, "embedding: a placeholder without a feature keeps its own embedding, and taps are placed beside the features"},
}

func sizesTable(t *testing.T) string {
	var b strings.Builder
	b.WriteString("| model | nodes | the peer's | bytes | the peer's | why more |\n|---|---|---|---|---|---|\n")
	for _, m := range smallModels {
		nodes, bytes := compileSmall(t, m)
		more := false
		for i, n := range m.nodes {
			more = more || nodes[i] > n
		}
		if more != (m.reason != "") {
			t.Errorf("%s has %v nodes, the peer's %v; the reason is %q", m.name, nodes, m.nodes, m.reason)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", m.name, sum(nodes), sum(m.nodes), measured(bytes), measured(m.bytes), m.reason)
	}
	return b.String()
}

// compileSmall returns the nodes of each component of a small model, and the
// bytes of all initializers.
func compileSmall(t *testing.T, m small) (nodes []int, bytes int64) {
	t.Helper()
	o := compiler.Options{
		Spec: filepath.Join("..", "specs", m.spec+".yaml"), Config: filepath.Join("..", "testdata", "small", m.name+".json"),
		Strict: true, Out: filepath.Join(t.TempDir(), m.name),
	}
	found, err := compiler.Compile(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	checkClean(t, found)
	s, err := emit.Inspect(o.Out)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range s.Components {
		nodes = append(nodes, c.Nodes)
		for _, d := range c.DTypes {
			bytes += d.Bytes
		}
	}
	return nodes, bytes
}

// sum formats the counts of the components of a model.
func sum(counts []int) string {
	if len(counts) == 0 {
		return "–"
	}
	var parts []string
	for _, n := range counts {
		parts = append(parts, fmt.Sprint(n))
	}
	return strings.Join(parts, " + ")
}

// measured writes a number; 0 is one that was not measured.
func measured(n int64) string {
	if n == 0 {
		return "–"
	}
	return number.Thousands(n)
}

// peerLines counts the lines of the classes that mobius-onnx 0.1.0 has for a
// model and of what they use from the same file; 0 means a line of its registry.
var peerLines = map[string]int{
	"llama": 422, "mistral": 0, "phi3": 25, "qwen2": 0, "qwen3": 6, "qwen3_moe": 302, "qwen2_moe": 348, "qwen3_5_moe": 282, "olmoe": 302, "gemma2": 249, "olmo2": 60, "gpt2": 408, "falcon": 478, "bert": 257, "t5": 460, "mamba": 204,
}

// longer says why a relative has more than the lines of [linesTable].
var longer = map[string]string{
	"qwen3_moe":  "the experts are a block that its base does not have",
	"qwen2_moe":  "the experts, too, and a rule of its own for windows",
	"distilbert": "every name and most keys are others",
	"gemma":      "two keys that name one activation, and may contradict each other",
	"gemma2":     "other norms and layers, four caps and scales, and windows in turn",
	"gemma3":     "two rotary embeddings in two layouts, defaults that published files leave out, and the names of a vision-language checkpoint",
	"gemma3_vl":  "a vision encoder, the embedding of its features, and the text model as a variant",
	"gemma4":     "heads, values and a rotary embedding that differ by layer, and what is refused, with reasons",
	"stablelm":   "two forms of a layer, and norms with a weight for each head",
	"cohere":     "norms of another type and of heads, another rotation, and a form of layers and logits",
	"qwen3_next": "the hybrid layers and the shared expert, which its base does not have",
	"starcoder2": "norms and MLP of another type, with keys of their own",
	"cohere2":    "two kinds of layers, and keys of which one value alone is covered",
	"smollm3":    "a list or an interval of the layers with a rotary embedding, and windows in the others",
}

func linesTable(t *testing.T) string {
	const base, relative = 120, 25
	var b strings.Builder
	b.WriteString("| spec | extends | lines | the peer's | why more |\n|---|---|---|---|---|\n")
	for _, a := range architectures {
		data, err := os.ReadFile(filepath.Join("..", "specs", a.spec+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		text := string(data)
		_, rest, _ := strings.Cut(text, "\nextends: ")
		parent, _, _ := strings.Cut(rest, "\n")
		limit := relative
		if parent == "transformers" { // holds no architecture
			limit = base
		}
		lines := strings.Count(text, "\n")
		if more := lines >= limit; more != (longer[a.spec] != "") {
			t.Errorf("%s has %d lines; the reason is %q", a.spec, lines, longer[a.spec])
		}
		peer, known := peerLines[a.spec]
		theirs := fmt.Sprint(peer)
		switch {
		case !known:
			theirs = "–"
		case peer == 0:
			theirs = "as llama"
		}
		fmt.Fprintf(&b, "| %s | %s | %d | %s | %s |\n", a.spec, parent, lines, theirs, longer[a.spec])
	}
	return b.String()
}
