package ir

import (
	"strings"
	"testing"
	"time"
)

func TestMentions(t *testing.T) {
	const text = `# größer
<opset_import: ["": 21]>
f <slope> (x) => (y) { y = If (c) <then_branch = g () => (z) { z = m.Neg (x, "ü", x) }> }`
	functions, mentions, err := ParseFunctionMentions("f", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	body := functions[0].Body
	outer := body.First()
	branch := outer.Attrs[0].Graph
	inner := branch.First()
	runes := []rune(text)
	for m, want := range map[Mention]string{
		{Graph: body, Role: HeaderMention, Name: "opset_import"}:   "opset_import",
		{Graph: body, Role: DomainMention}:                         `""`,
		{Graph: body, Role: OperatorMention, Name: "f"}:            "f",
		{Graph: body, Role: AttributeMention, Name: "slope"}:       "slope",
		{Graph: body, Role: InputMention, Name: "x"}:               "x",
		{Graph: body, Role: OutputMention, Name: "y"}:              "y",
		{Node: outer, Role: OutputMention, Name: "y"}:              "y",
		{Node: outer, Role: InputMention, Name: "c"}:               "c",
		{Node: outer, Role: AttributeMention, Name: "then_branch"}: "then_branch",
		{Graph: branch, Role: OutputMention, Name: "z"}:            "z",
		{Node: inner, Role: OperatorMention, Name: "Neg"}:          "Neg",
		{Node: inner, Role: InputMention, Name: "ü"}:               `"ü"`,
	} {
		at, ok := mentions[m]
		if !ok {
			t.Errorf("no place of %+v", m)
		} else if got := string(runes[at[0]:at[1]]); got != want {
			t.Errorf("%s %d: at %q, want %q", m.Name, m.Role, got, want)
		}
	}
	// Of two equal mentions, the last.
	if at := mentions[Mention{Node: inner, Role: InputMention, Name: "x"}]; string(runes[at[0]-2:at[1]]) != ", x" {
		t.Errorf("the last x is at %q", string(runes[at[0]-2:at[1]]))
	}
}

// TestMentionsOfLongText checks that the time grows with the text, not with its square.
func TestMentionsOfLongText(t *testing.T) {
	const nodes = 50_000
	text := "<opset_import: [\"\": 21]>\nf (x) => (y) {" + strings.Repeat(" y = Relu (x)", nodes) + "}"
	begin := time.Now()
	functions, mentions, err := ParseFunctionMentions("f", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if got := len(mentions); got != 3*nodes+5 {
		t.Errorf("%d mentions, want %d", got, 3*nodes+5)
	}
	if at := mentions[Mention{Node: functions[0].Body.Last(), Role: InputMention, Name: "x"}]; text[at[0]:] != "x)}" {
		t.Errorf("the last input is at %q", text[at[0]:])
	}
	if took := time.Since(begin); took > 20*time.Second { // 0.3 s here; with the square, minutes
		t.Errorf("took %v", took)
	}
}
