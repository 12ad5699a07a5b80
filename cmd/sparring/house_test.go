package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// root is the path of the repository's root.
const root = "../.."

// topLevel are the only names at the top.
var topLevel = []string{
	"cmd", "bot", "arena", "lab", "pipe", "protocol", "record", "engine", "game", "configs", "docs",
	"docker-compose.yml", "Dockerfile", "go.mod", "go.sum", "README.md", "LICENSE", ".ci", ".gitignore", ".dockerignore",
}

// imports lists, for each folder, which of our packages its packages may import,
// directly or not: a folder with its subfolders or, with a final "$", one package.
var imports = map[string][]string{
	"game":             {"game"},
	"engine":           {"engine", "game"},
	"engine/tablebase": {"engine/tablebase", "engine/atomicfile", "game$", "game/xiangqi"}, // its files are opened by the code that wires up an engine

	"pipe": {"pipe", "engine", "game"},
	"lab":  {"lab", "pipe", "engine", "record", "protocol", "game"},
	// A report is a page: it has the board and the words of the page for people.
	"lab/report": {"lab", "pipe", "engine", "record", "protocol", "game", "arena/web/static$", "arena/web/view$"},

	// A table has the page's words for refused moves, openings and ends of games.
	"lab/otb": {"lab", "pipe", "engine", "record", "protocol", "game", "arena/web/static$", "arena/web/view$"},

	// The doctor plays games as a bot on a platform.
	"lab/doctor": {"lab", "pipe", "engine", "record", "protocol", "game", "configs", "bot", "arena$", "arena/livegame", "arena/glicko", "arena/pairing"},

	"protocol":             {"protocol$", "game$", "game/clock$"}, // moves are text
	"protocol/natsconf":    {"protocol/natsconf", "configs"},
	"protocol/embedded":    {"protocol", "game$", "game/clock$", "configs"},
	"protocol/credentials": {"protocol", "game$", "game/clock$", "game/gametest$", "configs"},

	"record":             {"record", "protocol$", "game$", "game/clock$"},
	"record/format":      {"record", "protocol$", "game"},
	"record/sgf":         {"record", "protocol$", "game"},
	"record/pgn":         {"record", "protocol$", "game"},
	"record/psq":         {"record", "protocol$", "game"},
	"record/ccgc":        {"record", "protocol$", "game"},
	"record/interchange": {"record", "protocol$", "game"},

	"configs":           {"configs"},
	"arena":             {"arena$", "arena/livegame", "arena/glicko", "arena/pairing", "protocol", "record", "game", "configs"},
	"arena/web":         {"arena$", "arena/web", "arena/livegame", "arena/glicko", "arena/pairing", "protocol", "record", "game", "configs"}, // the page gets what an engine knows by analyse.<game>
	"arena/web/browser": {"arena/web/browser", "arena/arenatest", "protocol", "game", "configs"},                                             // for tests alone: bots are processes of the program
	"arena/arenatest":   {"arena/arenatest", "protocol", "game$", "game/clock$", "game/gametest$", "configs"},                                // for tests alone
	"bot":               {"bot", "pipe", "engine", "protocol", "record", "game", "configs"},
	"bot/policy":        {"bot/policy", "protocol$", "game"},
	"bot/play":          {"bot/play", "engine", "protocol$", "record$", "game"},
	"cmd":               {"cmd", "bot", "arena", "lab", "pipe", "protocol", "record", "engine", "game", "configs"},
}

// bare are the folders that need nothing beyond Go and golang.org/x, so that others
// can use the rules or the search alone.
var bare = []string{"game", "engine"}

const module = "sparring/"

// TestImportsRunOneWay keeps the parts apart, as `go list -deps` sees them.
func TestImportsRunOneWay(t *testing.T) {
	var errs bytes.Buffer
	list := exec.CommandContext(t.Context(), "go", "list", "-f", `{{.ImportPath}} {{join .Deps " "}}`, "./...")
	list.Dir, list.Stderr = root, &errs
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, errs.String())
	}
	seen := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		path, deps, _ := strings.Cut(strings.TrimSpace(line), " ")
		path = strings.TrimPrefix(path, module)
		folder := folderOf(path)
		if imports[folder] == nil {
			t.Errorf("package %s: not in a known folder", path)
			continue
		}
		seen[folder] = true
		for dep := range strings.FieldsSeq(deps) {
			ours, own := strings.CutPrefix(dep, module)
			switch {
			case own && !allowed(ours, imports[folder]):
				t.Errorf("%s must not need %s", path, ours)
			case !own && slices.Contains(bare, folder) && strings.Contains(strings.Split(dep, "/")[0], ".") &&
				!strings.HasPrefix(dep, "golang.org/x/"):
				t.Errorf("%s must not need %s", path, dep)
			}
		}
	}
	for folder := range imports {
		if !seen[folder] {
			t.Errorf("folder %s has no package", folder)
		}
	}
}

// folderOf returns the longest key of imports that the package lies in.
func folderOf(path string) string {
	for imports[path] == nil {
		i := strings.LastIndex(path, "/")
		if i < 0 {
			return path
		}
		path = path[:i]
	}
	return path
}

func allowed(path string, list []string) bool {
	return slices.ContainsFunc(list, func(a string) bool {
		if exact, ok := strings.CutSuffix(a, "$"); ok {
			return path == exact
		}
		return path == a || strings.HasPrefix(path, a+"/")
	})
}

// TestTopLevel keeps the list of top-level files short.
func TestTopLevel(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "git", "-C", root, "ls-files", "--cached", "--others", "--exclude-standard").Output()
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
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(readme), "\n    "+command+" ") {
		t.Errorf("the README does not say %q", command)
	}
	ci, err := os.ReadFile(filepath.Join(root, ".ci/run"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(ci)), "\n")
	if last := lines[len(lines)-1]; last != command {
		t.Errorf(".ci/run ends with %q, want %q", last, command)
	}
	if info, err := os.Stat(filepath.Join(root, ".ci/run")); err != nil || info.Mode()&0o111 == 0 {
		t.Errorf(".ci/run can't be executed: %v", err)
	}
}
