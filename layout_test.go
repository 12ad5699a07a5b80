// Package sparring_test holds the house to its plan: which rooms there are, what may import
// what, and how large a room may be.
package sparring_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// topLevel are the only names at the top.
var topLevel = []string{
	"cmd", "bot", "arena", "doctor", "lab", "otb", "pipe", "protocol", "natsserver", "record", "screen", "engine", "game", "internal", "configs",
	"docs", "docker-compose.yml", "Dockerfile", "go.mod", "go.sum", "layout_test.go", "README.md", "LICENSE", "CONTRIBUTING.md",
	"CHANGELOG.md", "SECURITY.md", ".ci", ".github", ".editorconfig", ".gitignore", ".dockerignore",
}

// rooms lists, for each folder, which of our packages its packages may import, directly or
// not: a folder with its subfolders or, with a final "$", one package. The longest folder that
// holds a package counts. The rooms stand in the order of dependency.
var rooms = []struct {
	folder string
	needs  []string
}{
	{"internal", []string{"internal"}}, // knows no game
	{"game", []string{"game"}},
	{"engine", []string{"engine", "game", "internal"}},
	{"engine/tablebase", []string{"engine/tablebase", "internal/atomicfile", "game$", "game/xiangqi"}}, // opened by whoever wires up an engine
	{"pipe", []string{"pipe", "engine", "game", "internal"}},

	{"configs", []string{"configs"}},
	{"protocol", []string{"protocol$", "game$", "game/clock$"}}, // moves are text
	{"protocol/conformance", []string{"protocol", "game", "internal"}},
	{"natsserver", []string{"natsserver", "protocol$", "game$", "game/clock$", "game/gametest$", "configs"}},
	{"natsserver/natsconf", []string{"natsserver/natsconf", "configs"}},
	{"record", []string{"record", "protocol$", "game"}},
	{"screen", []string{"screen", "protocol$", "game"}},

	// The page gets what an engine knows by analyse.<game>.
	{"arena", []string{"arena$", "arena/livegame", "arena/glicko", "arena/pairing", "protocol$", "record", "game", "configs", "internal"}},
	{"arena/web", []string{"arena", "screen", "protocol$", "record", "game", "configs", "internal"}},
	{"arena/web/message", []string{"arena/web/message", "screen/view", "protocol$", "record", "game"}},
	{"arena/web/browser", []string{"arena/web/browser", "arena/arenatest", "protocol$", "natsserver", "game", "configs"}}, // for tests alone: bots are processes of the program
	{"arena/arenatest", []string{"arena/arenatest", "protocol$", "natsserver", "game", "configs"}},                        // for tests alone

	{"bot", []string{"bot", "pipe", "engine", "protocol$", "record", "game", "configs", "internal"}},
	{"bot/policy", []string{"bot/policy", "protocol$", "game"}},
	{"bot/play", []string{"bot/play", "engine", "protocol$", "record$", "game", "internal"}},

	{"otb", []string{"otb", "screen", "engine", "protocol$", "record", "game", "internal"}},
	{"lab/match", []string{"lab/match", "pipe", "engine", "record", "protocol$", "game", "internal"}},
	{"lab/train", []string{"lab/train", "lab/match", "pipe", "engine", "record", "protocol$", "game", "internal"}},
	{"lab/study", []string{"lab/study", "lab/match", "screen", "pipe", "engine", "record", "protocol$", "game", "internal"}},
	{"lab/load", []string{"lab/load", "engine", "record", "protocol$", "game", "internal"}},

	// The doctor plays games as a bot on a platform.
	{"doctor", []string{"doctor", "bot", "arena$", "arena/livegame", "arena/glicko", "arena/pairing", "lab/match", "pipe", "natsserver", "engine", "record", "protocol$", "game", "internal", "configs"}},

	{"cmd", []string{"cmd", "doctor", "bot", "arena", "lab", "otb", "pipe", "protocol", "natsserver", "record", "screen", "engine", "game", "internal", "configs"}},
}

// bare are the rooms that need nothing beyond Go and golang.org/x, so that others can use the
// rules or the search alone.
var bare = []string{"game", "engine"}

// A package has at most mostLines lines without its tests, and a type at most mostMethods
// methods. The boards of the rules may have more: they are one idea each.
const (
	mostLines   = 4000
	mostMethods = 60
)

// halls are packages and types that are still too large. Their limits only fall, and a row that
// has become needless fails.
var halls = map[string]int{
	"cmd/sparring": 16400, "arena": 9860, "arena/web": 8160, "protocol": 5900, "pipe/external": 5400,
	"arena.Arena": 124, "bot/play.Session": 68,
}

// boards are the types of the rules.
var boards = []string{"game/xiangqi.Board", "game/gomoku.Position", "game/amazons.Position"}

const module = "sparring/"

// needsOf returns the row of a package.
func needsOf(path string) (folder string, needs []string) {
	for _, r := range rooms {
		if (path == r.folder || strings.HasPrefix(path, r.folder+"/")) && len(r.folder) > len(folder) {
			folder, needs = r.folder, r.needs
		}
	}
	return folder, needs
}

// TestImportsRunOneWay keeps the rooms apart, as `go list -deps` sees them.
func TestImportsRunOneWay(t *testing.T) {
	var errs bytes.Buffer
	list := exec.CommandContext(t.Context(), "go", "list", "-f", `{{.ImportPath}} {{join .Deps " "}}`, "./...")
	list.Stderr = &errs
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, errs.String())
	}
	seen := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		path, deps, _ := strings.Cut(strings.TrimSpace(line), " ")
		if path == strings.TrimSuffix(module, "/") {
			continue // this test
		}
		path = strings.TrimPrefix(path, module)
		folder, needs := needsOf(path)
		if folder == "" {
			t.Errorf("package %s: in no room of the plan", path)
			continue
		}
		seen[folder] = true
		for dep := range strings.FieldsSeq(deps) {
			ours, own := strings.CutPrefix(dep, module)
			switch {
			case own && !isAllowed(ours, needs):
				t.Errorf("%s must not need %s", path, ours)
			case !own && slices.Contains(bare, folder) && strings.Contains(strings.Split(dep, "/")[0], ".") &&
				!strings.HasPrefix(dep, "golang.org/x/"):
				t.Errorf("%s must not need %s", path, dep)
			}
		}
	}
	for _, r := range rooms {
		if !seen[r.folder] {
			t.Errorf("room %s has no package", r.folder)
		}
	}
}

func isAllowed(path string, list []string) bool {
	return slices.ContainsFunc(list, func(a string) bool {
		if exact, ok := strings.CutSuffix(a, "$"); ok {
			return path == exact
		}
		return path == a || strings.HasPrefix(path, a+"/")
	})
}

// TestSizes keeps packages and types small enough to be read.
func TestSizes(t *testing.T) {
	sizes, limits := map[string]int{}, map[string]int{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != "." && strings.HasPrefix(d.Name(), "."):
			return filepath.SkipDir
		case filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, data, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		folder := filepath.ToSlash(filepath.Dir(path))
		sizes[folder] += bytes.Count(data, []byte("\n"))
		limits[folder] = mostLines
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv != nil {
				name := folder + "." + receiverOf(f)
				sizes[name]++
				limits[name] = mostMethods
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, size := range sizes {
		hall, ok := halls[name]
		switch {
		case slices.Contains(boards, name):
		case ok && size <= limits[name]:
			t.Errorf("%s has %d lines or methods: it is no hall any more, and its row goes", name, size)
		case ok && size > hall:
			t.Errorf("%s has %d lines or methods, and may have %d", name, size, hall)
		case !ok && size > limits[name]:
			t.Errorf("%s has %d lines or methods, and may have %d", name, size, limits[name])
		}
	}
	for name := range halls {
		if sizes[name] == 0 {
			t.Errorf("there is no %s", name)
		}
	}
}

// receiverOf names the type of a method.
func receiverOf(f *ast.FuncDecl) string {
	typ := f.Recv.List[0].Type
	for {
		switch x := typ.(type) {
		case *ast.StarExpr:
			typ = x.X
		case *ast.IndexExpr:
			typ = x.X
		case *ast.IndexListExpr:
			typ = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

// TestTopLevel keeps the list of top-level files short.
func TestTopLevel(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "git", "ls-files", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		t.Skipf("needs a git checkout: %v", err)
	}
	seen := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		name, _, _ := strings.Cut(strings.TrimSpace(line), "/")
		if !seen[name] && !slices.Contains(topLevel, name) {
			t.Errorf("%s does not belong at the top", name)
		}
		seen[name] = true
	}
	for _, name := range topLevel {
		if !seen[name] {
			t.Errorf("%s is missing at the top", name)
		}
	}
}

// TestOneTestCommand: .ci/run ends with the test command of the README.
func TestOneTestCommand(t *testing.T) {
	const command = "go test ./..."
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(readme), "\n    "+command+" ") {
		t.Errorf("the README does not say %q", command)
	}
	ci, err := os.ReadFile(".ci/run")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(ci)), "\n")
	if last := lines[len(lines)-1]; last != command {
		t.Errorf(".ci/run ends with %q, want %q", last, command)
	}
	if info, err := os.Stat(".ci/run"); err != nil || info.Mode()&0o111 == 0 {
		t.Errorf(".ci/run can't be executed: %v", err)
	}
}
