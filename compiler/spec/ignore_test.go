package spec

import (
	"strings"
	"testing"

	"mobiusc/internal/diag"
)

// TestIgnores checks what comments silence: the findings that are left, with
// their lines.
func TestIgnores(t *testing.T) {
	for _, c := range []struct {
		name, spec, want string
	}{
		{"behind the text", child + "blocks: {extra: []}  # mobiusc:ignore unused-block\n", ""},
		{"by code, with a reason", child + "blocks: {extra: []}  # mobiusc:ignore MB0213: kept for relatives\n", ""},
		{"on a line above", child + "blocks:\n  # mobiusc:ignore unused-block\n\n  # another comment\n  extra: []\n", ""},
		{"two names, one idle", child + "blocks: {extra: []}  # mobiusc:ignore unused-block, suspicious-dim\n",
			"5:53 idle-ignore: there is no `suspicious-dim` here to ignore"},
		{"another line", child + "# mobiusc:ignore unused-block\ntask: a\nblocks: {extra: []}\n",
			"7:10 unused-block: the block `extra` is used by nothing"},
		{"another kind", child + "blocks: {extra: []}  # mobiusc:ignore suspicious-dim\n",
			"5:10 unused-block: the block `extra` is used by nothing"},
		{"none at all", child + "task: a  # mobiusc:ignore unused-block\n", "5:27 idle-ignore: there is no `unused-block` here to ignore"},
		{"the last line", child + "task: a\n# mobiusc:ignore unused-block", "6:18 idle-ignore: there is no `unused-block` here to ignore"},
		{"no judgement", child + "taks: a  # mobiusc:ignore unknown-key\n",
			"5:1 unknown-key: a spec has no key `taks`\n5:27 idle-ignore: `unknown-key` cannot be ignored: a spec with such a fault has no meaning"},
		{"a misspelt name", child + "blocks: {extra: []}  # mobiusc:ignore unused-blok\n",
			"5:10 unused-block: the block `extra` is used by nothing\n5:39 idle-ignore: there is no `unused-blok` that a comment could silence"},
		{"no name", child + "task: a  # mobiusc:ignore\n", "5:10 idle-ignore: the comment does not say what to ignore"},
		{"in text", child + "task: \"# mobiusc:ignore x\"\n", ""},
		{"another word", child + "task: a  # mobiusc:ignored\n", ""},
		{"behind wide characters", child + "task: \"größe\"  # mobiusc:ignore unused-block\n",
			"5:33 idle-ignore: there is no `unused-block` here to ignore"},
		{"of a patch", child + "config: {hidden_sise: null}  # mobiusc:ignore nothing-to-change\n", ""},
		{"of a variant", base + "variants: {same: {dtype: dtype}} # mobiusc:ignore nothing-to-change\n", ""},
	} {
		s, found := Load("x.yaml", inMemory(map[string]string{"x.yaml": c.spec}))
		var got []string
		for _, d := range found {
			got = append(got, strings.TrimPrefix(d.Range.String(), "x.yaml:")+" "+d.Name+": "+d.Message)
		}
		if strings.Join(got, "\n") != c.want {
			t.Errorf("%s: found\n%s\nwant\n%s", c.name, strings.Join(got, "\n"), c.want)
		}
		if (s == nil) != found.HasErrors() {
			t.Errorf("%s: a spec is returned with errors, or none without", c.name)
		}
	}
}

// TestIgnoreInVariant compiles what lint accepts.
func TestIgnoreInVariant(t *testing.T) {
	text := base + "variants: {same: {dtype: dtype}} # mobiusc:ignore nothing-to-change\n"
	s, found := Load("x.yaml", inMemory(map[string]string{"x.yaml": text}))
	if len(found) > 0 {
		t.Fatal(found)
	}
	config, _ := ParseConfig("config.json", []byte(`{"model_type": "x", "width": 3}`))
	v, found := s.Variant("same")
	if len(found) > 0 {
		t.Fatal(found)
	}
	if r, found := v.Bind(config, Options{}); r == nil {
		t.Error(found)
	}
}

// TestIgnoreFix removes comments that are idle.
func TestIgnoreFix(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"task: a  # mobiusc:ignore unused-block: why\n", "task: a\n"},
		{"# mobiusc:ignore unused-block\ntask: a\n", "task: a\n"},
	} {
		_, found := Load("x.yaml", inMemory(map[string]string{"x.yaml": child + c.text}))
		if len(found) != 1 || found[0].Fix == nil {
			t.Fatalf("%s: found %+v", c.text, found)
		}
		if got, _ := diag.Apply([]byte(child+c.text), []diag.Fix{*found[0].Fix}); string(got) != child+c.want {
			t.Errorf("%s: mended %s", c.text, got)
		}
	}
}
