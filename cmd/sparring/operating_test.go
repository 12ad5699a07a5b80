package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var (
	logRow    = regexp.MustCompile("(?m)^\\| (`[^|]*) \\| (?:all|arena|bots|`up`)(?:, [^|]*)? \\|.*$")
	metricRow = regexp.MustCompile("(?m)^\\| `sparring_arena_([a-z_]+)`")
	quoted    = regexp.MustCompile("`([^`]+)`")
)

// otherLogs are messages of docs/operating.md that others log, and no code of ours.
var otherLogs = []string{
	"permissions violation",  // the NATS client's own
	"component: nats-server", // a field of every line of the embedded server
}

// serverLog is the file that logs what the embedded server says, in the server's own words.
var serverLog = filepath.Join("natsserver", "embedded", "log.go")

// suite is what runs beside a bot or a platform under test, and in none.
var suite = filepath.Join(root, "protocol", "conformance")

// unexplained are warnings and errors that no platform logs.
var unexplained = map[string]string{
	"the arena ended":                     "bench fleet",
	"the bot ended":                       "bench fleet",
	"could not remove the temporary data": "without a data directory, which up has",
	"resigning":                           "at the level info, or debug",
}

// TestOperatingPage: the log lines and metrics of docs/operating.md exist, and it explains every warning and error.
func TestOperatingPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs/operating.md"))
	if err != nil {
		t.Fatal(err)
	}
	var source strings.Builder
	logged := logMessages{all: map[string]bool{}, troubles: map[string]string{}}
	for _, folder := range []string{"arena", "bot", "natsserver", "protocol", "internal", "cmd/sparring"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, d fs.DirEntry, err error) error {
			if err == nil && path == suite {
				return fs.SkipDir
			}
			if err != nil || d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, serverLog) {
				return err
			}
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			source.Write(data)
			return logged.read(path, data)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	rows := logRow.FindAllStringSubmatch(string(page), -1)
	if len(rows) < 10 {
		t.Errorf("only %d log lines are explained", len(rows))
	}
	var explained []string // also in the explanation of another
	for _, row := range rows {
		for _, m := range quoted.FindAllStringSubmatch(row[0], -1) {
			explained = append(explained, m[1])
		}
		for _, m := range quoted.FindAllStringSubmatch(row[1], -1) {
			text := m[1]
			if !slices.Contains(otherLogs, text) && !slices.ContainsFunc(slices.Collect(maps.Keys(logged.all)), func(m string) bool { return explains(text, m) }) {
				t.Errorf("no code logs %q", text)
			}
		}
	}
	for message := range unexplained {
		if logged.troubles[message] == "" {
			t.Errorf("no code logs %q as a warning or an error", message)
		}
	}
	for _, message := range slices.Sorted(maps.Keys(logged.troubles)) {
		if message == "" {
			t.Errorf("%s logs a message that the test can't find", logged.troubles[message])
		} else if unexplained[message] == "" && !slices.ContainsFunc(explained, func(text string) bool { return explains(text, message) }) {
			t.Errorf("%s logs %q, which docs/operating.md does not explain", logged.troubles[message], message)
		}
	}
	metrics := metricRow.FindAllStringSubmatch(string(page), -1)
	if len(metrics) == 0 {
		t.Error("no metric is explained")
	}
	for _, m := range metrics {
		if !strings.Contains(source.String(), `"`+m[1]+`"`) {
			t.Errorf("unknown metric %s", m[1])
		}
	}
}

// explains says whether text, quoted in a row of the page, stands for message; with "..." at its end it names the beginning only.
func explains(text, message string) bool {
	start, cut := strings.CutSuffix(text, "...")
	return message == text || cut && strings.HasPrefix(message, start)
}

// logMessages are what the code logs. Of a message that ends in a variable, it is the beginning.
type logMessages struct {
	all      map[string]bool   // at any level
	troubles map[string]string // at the levels warn and error, or at a level known only when it is logged: the place
}

// givenTo are the functions that log a message that they are given, and which argument it is.
var givenTo = map[string]int{
	"complain": 1, // (*arena.Arena).complain
	"warn":     0, // (*protocol.Client).warn
}

// read adds the messages that a file logs.
func (l logMessages) read(path string, source []byte) error {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, source, 0)
	if err != nil {
		return err
	}
	for _, decl := range file.Decls {
		f, _ := decl.(*ast.FuncDecl)
		passesOn := false
		if f != nil {
			_, passesOn = givenTo[f.Name.Name]
		}
		ast.Inspect(decl, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			sel, ok := call.Fun.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			at, trouble := givenTo[sel.Sel.Name]
			if sel.Sel.Name == "Msg" || sel.Sel.Name == "Msgf" {
				at, trouble = 0, isTrouble(decl, sel.X)
			} else if !trouble {
				return true
			}
			if at >= len(call.Args) || passesOn {
				return true
			}
			text := beginning(call.Args[at])
			l.all[text] = true
			if trouble {
				l.troubles[text] = set.Position(call.Pos()).String()
			}
			return true
		})
	}
	return nil
}

// isTrouble says whether the event is, or may be, of the level warn or above.
func isTrouble(in ast.Node, event ast.Expr) bool {
	for {
		switch e := event.(type) {
		case *ast.CallExpr:
			event = e.Fun
		case *ast.SelectorExpr:
			switch e.Sel.Name {
			case "Trace", "Debug", "Info":
				return false
			case "Warn", "Error", "Fatal", "Panic", "WithLevel":
				return true
			}
			event = e.X
		case *ast.Ident: // a variable: what it is set to; an argument may be of any level
			set, trouble := false, false
			ast.Inspect(in, func(n ast.Node) bool {
				if a, ok := n.(*ast.AssignStmt); ok && len(a.Lhs) == 1 && len(a.Rhs) == 1 {
					if to, ok := a.Lhs[0].(*ast.Ident); ok && to.Name == e.Name && !chains(a.Rhs[0], e.Name) {
						set, trouble = true, trouble || isTrouble(in, a.Rhs[0])
					}
				}
				return true
			})
			return trouble || !set
		default:
			return true
		}
	}
}

// chains says whether the calls of an expression begin with the variable.
func chains(e ast.Expr, name string) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && id.Name == name
		return true
	})
	return found
}

// beginning is the text with which the expression begins, "" if that is not known.
func beginning(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, _ := strconv.Unquote(e.Value)
		return text
	case *ast.BinaryExpr:
		return beginning(e.X)
	}
	return ""
}
