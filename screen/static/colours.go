package static

import (
	"fmt"
	"regexp"
	"strings"
)

// colour matches a custom property of style.css with its values in light and dark.
var colour = regexp.MustCompile(`(--[a-z-]+): light-dark\(([^(),]+|[^(),]*\([^()]*\)), ([^(),]+|[^(),]*\([^()]*\))\);`)

// WithPlainColours adds to a style sheet the same colours for browsers that do not
// know light-dark(), such as those of phones from before 2024. Without it their
// boards would be black.
func WithPlainColours(css []byte) []byte {
	var light, dark strings.Builder
	for _, c := range colour.FindAllSubmatch(css, -1) {
		fmt.Fprintf(&light, "%s:%s;", c[1], c[2])
		fmt.Fprintf(&dark, "%s:%s;", c[1], c[3])
	}
	return fmt.Appendf(css, `
@supports not (color: light-dark(#000, #fff)) {
:root { color-scheme: light; %s }
@media (prefers-color-scheme: dark) { :root:not([data-theme="light"]) { color-scheme: dark; %[2]s } }
:root[data-theme="dark"] { color-scheme: dark; %[2]s }
}
`, light.String(), dark.String())
}
