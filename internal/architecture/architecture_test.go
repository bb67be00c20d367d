package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "mobiusc"

// mayImport lists, for each folder, the folders of the module that its non-test
// code may import. A folder stands for what is below it; the longest entry that
// fits counts.
var mayImport = map[string][]string{
	"ir":       {},
	"ops":      {"ir", "internal"},
	"lowering": {"ops", "ir", "internal"},
	"validate": {"ops", "ir", "internal"},
	"compiler": {"compiler", "lowering", "validate", "ops", "ir", "internal", "specs", "schemas", "testdata"},
	"specs":    {},
	"schemas":  {},
	"testdata": {},
	"docs":     {},
	"internal": {"internal", "ir"},
	"cmd":      {"compiler", "lowering", "validate", "ops", "ir", "internal", "specs", "schemas", "docs"},
	// Programs and helpers of tests and benchmarks, which nothing else imports.
	"internal/bench":          {"compiler", "lowering", "ops", "ir", "internal", "specs"},
	"internal/checkpointtest": {"compiler", "internal", "ir"},
}

// onlyForTests lists the packages that no other package imports.
var onlyForTests = []string{"internal/bench", "internal/checkpointtest", "internal/golden"}

// onlyIn lists the packages from outside that one folder alone may import.
var onlyIn = map[string]string{
	"google.golang.org/protobuf":      "compiler/emit",
	"gopkg.in/yaml.v3":                "compiler/spec",
	"github.com/santhosh-tekuri":      "compiler/spec",
	"github.com/yalue/onnxruntime_go": "internal/ort",
	"github.com/urfave/cli":           "cmd",
}

// families are names of published model families. Rotary embedding types are
// named by what config.json calls them; that is a value, not a family.
var families = regexp.MustCompile(`(?i)qwen|llama|gemma|mistral|mixtral|falcon|whisper|stablelm|olmo|(?:^|[^a-z])bert|gpt2|gpt-2|roberta|distilbert|neox|starcoder|cohere|\bphi[0-9]|\bt5\b|\bmamba\b|deepseek|bloom|\bopt\b-`)

var ropeType = regexp.MustCompile(`"llama3"|rope type llama3|llama3: |belong to llama3|llama3, yarn`)

func TestImportDirection(t *testing.T) {
	files(t, func(path string, file *ast.File, _ *token.FileSet) {
		folder := folderOf(path)
		if folder == "" {
			t.Errorf("%s has no import rule; add one to mayImport", path)
			return
		}
		allowed := mayImport[folder]
		for _, spec := range file.Imports {
			name, _ := strconv.Unquote(spec.Path.Value)
			if rest, ok := strings.CutPrefix(name, module+"/"); ok {
				if target := strings.Split(rest, "/")[0]; !within(rest, folder) && !slices.Contains(allowed, target) {
					t.Errorf("%s imports %s: %s may import only %v", path, name, folder, allowed)
				}
				for _, tool := range onlyForTests {
					if within(rest, tool) && !slices.ContainsFunc(onlyForTests, func(t string) bool { return within(path, t) }) {
						t.Errorf("%s imports %s, which is for tests and benchmarks", path, name)
					}
				}
			}
			for prefix, home := range onlyIn {
				if strings.HasPrefix(name, prefix) && !strings.HasPrefix(path, home+"/") {
					t.Errorf("%s imports %s: only %s may", path, name, home)
				}
			}
		}
	})
}

func within(path, folder string) bool { return path == folder || strings.HasPrefix(path, folder+"/") }

// folderOf returns the longest folder of mayImport that holds the file.
func folderOf(path string) string {
	best := ""
	for folder := range mayImport {
		if within(path, folder) && len(folder) > len(best) {
			best = folder
		}
	}
	return best
}

func TestNoFamilyNames(t *testing.T) {
	files(t, func(path string, file *ast.File, fset *token.FileSet) {
		check := func(pos token.Pos, text string) {
			if name := families.FindString(ropeType.ReplaceAllString(text, "")); name != "" {
				t.Errorf("%s:%d names the model family %q: a new architecture is YAML, not Go", path, fset.Position(pos).Line, name)
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Ident:
				check(n.Pos(), n.Name)
			case *ast.BasicLit:
				check(n.Pos(), n.Value)
			case *ast.Comment:
				check(n.Pos(), n.Text)
			}
			return true
		})
	})
}

// TestReadmeListsSpecs checks that the README names every spec that can be
// compiled, and links to it.
func TestReadmeListsSpecs(t *testing.T) {
	root := filepath.Join("..", "..")
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	specs, err := filepath.Glob(filepath.Join(root, "specs", "*.yaml"))
	if err != nil || len(specs) == 0 {
		t.Fatal("no specs", err)
	}
	for _, path := range specs {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(path), ".yaml")
		if link := "[" + name + "](specs/" + name + ".yaml)"; !strings.Contains(string(text), "\nabstract: true") && !strings.Contains(string(readme), link) {
			t.Errorf("README.md does not list the spec %s: add a row with %s", name, link)
		}
	}
}

// files parses every non-test Go file of the module.
func files(t *testing.T, visit func(path string, file *ast.File, fset *token.FileSet)) {
	t.Helper()
	root, count := filepath.Join("..", ".."), 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && strings.HasPrefix(d.Name(), ".") && path != root && d.Name() != ".." {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		count++
		visit(filepath.ToSlash(rel), file, fset)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if count < 20 {
		t.Fatalf("only %d Go files found: the test looks in the wrong place", count)
	}
}
