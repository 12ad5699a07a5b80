package static

import (
	"bytes"
	"regexp"
	"testing"
)

// TestPlainColours holds that browsers without light-dark() get every colour: the
// style sheet uses it in custom properties only, and each is repeated.
func TestPlainColours(t *testing.T) {
	css, err := Files.ReadFile("style.css")
	if err != nil {
		t.Fatal(err)
	}
	found := colour.FindAllSubmatch(css, -1)
	if used := bytes.Count(css, []byte("light-dark(")); len(found) != used {
		t.Errorf("%d colours in custom properties, light-dark() is used %d times", len(found), used)
	}
	whole := WithPlainColours(css)
	plain := whole[len(css):]
	for _, c := range found {
		for _, value := range [][]byte{c[2], c[3]} {
			if !bytes.Contains(plain, append(append(append([]byte{}, c[1]...), ':'), append(append([]byte{}, value...), ';')...)) {
				t.Errorf("no plain %s: %s", c[1], value)
			}
		}
	}
	if !regexp.MustCompile(`(?s)^\s*@supports not \(color: light-dark\(#000, #fff\)\) \{.*\}\s*$`).Match(plain) || bytes.Contains(plain, []byte("%!")) {
		t.Errorf("added:\n%s", plain)
	}
}
