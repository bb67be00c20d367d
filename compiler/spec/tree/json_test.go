package tree

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// TestJSONAgainstLibrary compares values with encoding/json on every published
// config.
func TestJSONAgainstLibrary(t *testing.T) {
	files, err := filepath.Glob("../../../testdata/configs/*.json")
	if err != nil || len(files) < 20 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		n, found := ParseJSON(file, text)
		if len(found) > 0 {
			t.Fatal(found)
		}
		var want any
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(floats(n.Interface()), want) {
			t.Errorf("%s reads differently", file)
		}
	}
}

// floats makes every number a float64, as encoding/json does.
func floats(v any) any {
	switch v := v.(type) {
	case int64:
		return float64(v)
	case []any:
		for i := range v {
			v[i] = floats(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = floats(v[k])
		}
	}
	return v
}

func TestJSONRanges(t *testing.T) {
	n, found := ParseJSON("c.json", []byte("{\n  \"größe\": [1, 2.5e3],\n  \"b\": \"\\u00e9\\ud83d\\ude00\"}\n"))
	if len(found) > 0 {
		t.Fatal(found)
	}
	for _, c := range []struct {
		n    *Node
		want string
	}{
		{n, "1:1-3:29"}, {n.Entries[0].Key, "2:3-2:10"}, {n.Get("größe"), "2:12-2:22"}, {n.Get("größe").Items[1], "2:16-2:21"}, {n.Get("b"), "3:8-3:28"},
	} {
		if got := at(c.n.Range); got != c.want {
			t.Errorf("%s stands at %s, want %s", c.n.Describe(), got, c.want)
		}
	}
	if n.Get("b").Text != "é😀" {
		t.Errorf("escapes read %q", n.Get("b").Text)
	}
}

func TestJSONFaults(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"{'a': 1}", "c.json:1:2: error: this is not JSON: a key in double quotes is expected here"},
		{"{\"a\": 'b'}", "c.json:1:7: error: this is not JSON: text stands in double quotes in JSON"},
		{"{\"a\" 1}", "c.json:1:6: error: this is not JSON: a colon is expected after a key"},
		{"[1 2]", "c.json:1:4: error: this is not JSON: a comma or ] is expected after a value"},
		{"[1,]", "c.json:1:4: error: this is not JSON: a comma before ] is not allowed in JSON"},
		{"[1", "c.json:1:3: error: this is not JSON: the document ends inside a list"},
		{"{\"a\": NaN}", "c.json:1:7: error: this is not JSON: `NaN` is not JSON: a value is an object, a list, text in double quotes, a number, true, false or null"},
		{"{\"a\": 01}", "c.json:1:9: error: this is not JSON: a number may not begin with 0"},
		{"{\"a\": 1e999}", "c.json:1:12: error: this is not JSON: the number is too large"},
		{"{\"a\": -}", "c.json:1:8: error: this is not JSON: not a number"},
		{"// x\n{}", "c.json:1:1: error: this is not JSON: JSON has no comments"},
		{"{} {}", "c.json:1:4: error: this is not JSON: the document goes on after its value"},
		{"\"a\n\"", "c.json:1:3: error: this is not JSON: the text has no closing quote"},
		{"\"\\q\"", "c.json:1:3: error: this is not JSON: not an escape of JSON"},
		{"\"\\u12\"", "c.json:1:6: error: this is not JSON: four hexadecimal digits are expected after \\u"},
		{"", "c.json: error: the file is empty"},
	} {
		_, found := ParseJSON("c.json", []byte(c.text))
		if len(found) != 1 {
			t.Errorf("%q: %v", c.text, found)
			continue
		}
		d := found[0]
		if got := fmt.Sprintf("%s: %s: %s", d.Range, d.Severity, d.Message); got != c.want {
			t.Errorf("%q:\ngot  %s\nwant %s", c.text, got, c.want)
		}
	}
}

// FuzzJSON accepts what encoding/json accepts, with the same values, but for
// what is refused on purpose: duplicate keys, bad UTF-8, huge numbers, depth.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{"", "{}", "[1, 2.5, -3e-7]", `{"a": {"b": [true, false, null]}}`, `"\u00e9\ud83d\ude00\n"`, `{"a": 1, "a": 2}`, "[[[[]]]]", "01", "1.", "-"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		n, found := ParseJSON("c.json", text)
		if n == nil && len(found) == 0 {
			t.Error("neither a tree nor a finding")
		}
		if n == nil || len(found) > 0 {
			return
		}
		checkRanges(t, n)
		var want any
		if err := json.Unmarshal([]byte(string([]rune(string(text)))), &want); err != nil && text[0] != 0xef {
			t.Errorf("%q is accepted, and is not JSON: %v", text, err)
		}
	})
}
