package static

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

var (
	linkImport = regexp.MustCompile(`(?m)^import \{([^}]*)\} from "([^"]+)";$`)
	linkExport = regexp.MustCompile(`(?m)^export ((?:async )?function\*?|class|const|let) (\w+)`)
	linkEmpty  = regexp.MustCompile(`(?m)^export \{\};$`)
	linkOther  = regexp.MustCompile(`(?m)^\s*(?:import|export)\b.*|\bimport\(.*|</script.*`)
)

// Link joins a module and all that it imports to the text of one script of type
// module, for a page that has to work as a single file: browsers load no modules for
// a file on disk. The modules that it imports are those of Files, by their base
// names. Each becomes a function that returns what it exports. What Link does not
// understand, such as a cycle, a dynamic import or an import of a variable, is an
// error.
func Link(module []byte) (string, error) {
	l := linker{done: map[string][]string{}}
	if err := l.add("", module); err != nil {
		return "", err
	}
	return l.script.String(), nil
}

type linker struct {
	script strings.Builder
	done   map[string][]string // exported names by module; nil: being added
}

// identifier names the constant that has the exports of a module.
func identifier(name string) string { return "$" + strings.TrimSuffix(name, ".js") }

// add writes a module after those that it imports; name "" is the one to link.
func (l *linker) add(name string, js []byte) error {
	l.done[name] = nil
	js = bytes.TrimSpace(WithoutComments(js))
	var err error
	js = linkImport.ReplaceAllFunc(js, func(found []byte) []byte {
		m := linkImport.FindSubmatch(found)
		from := path.Base(string(m[2]))
		if err == nil {
			err = l.need(from)
		}
		names := strings.ReplaceAll(string(m[1]), " as ", ": ")
		for one := range strings.SplitSeq(names, ",") {
			one, _, _ = strings.Cut(strings.TrimSpace(one), ":")
			if one != "" && err == nil && !slices.Contains(l.done[from], one) {
				err = fmt.Errorf("%s exports no constant, function or class %s", from, one)
			}
		}
		return fmt.Appendf(nil, "const {%s} = %s;", names, identifier(from))
	})
	exports := []string{}
	js = linkExport.ReplaceAllFunc(js, func(found []byte) []byte {
		m := linkExport.FindSubmatch(found)
		if string(m[1]) != "let" { // a copy of a variable would not follow it
			exports = append(exports, string(m[2]))
		}
		return bytes.TrimPrefix(found, []byte("export "))
	})
	js = linkEmpty.ReplaceAll(js, nil)
	if other := linkOther.Find(js); err == nil && other != nil {
		err = fmt.Errorf("not understood: %.80s", bytes.TrimSpace(other))
	}
	if err != nil {
		if name != "" {
			err = fmt.Errorf("%s: %w", name, err)
		}
		return err
	}
	l.done[name] = exports
	if name == "" {
		fmt.Fprintf(&l.script, "%s\n", js)
		return nil
	}
	fmt.Fprintf(&l.script, "const %s = (() => {\n%s\nreturn {%s};\n})();\n", identifier(name), js, strings.Join(exports, ", "))
	return nil
}

// need adds a module of Files unless it is there.
func (l *linker) need(name string) error {
	if exports, ok := l.done[name]; ok {
		if exports == nil {
			return fmt.Errorf("%s: modules import each other", name)
		}
		return nil
	}
	js, err := Files.ReadFile(name)
	if err != nil {
		return err
	}
	return l.add(name, js)
}
