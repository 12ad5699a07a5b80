package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"sparring/bot"
	"sparring/configs"
)

// setShipped sets the variables of one of the shipped environment files.
func setShipped(t *testing.T, name string) {
	t.Helper()
	f, err := os.Open(filepath.Join(root, "configs", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := lines.Text()
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		if !ok || strings.ContainsAny(value, `"' #`) {
			t.Errorf("%s: %q means different things to a shell and to docker", f.Name(), line)
		}
		t.Setenv(name, value)
	}
}

// TestShippedSettings: the shipped environment files are valid settings of the
// commands, without unknown variables.
func TestShippedSettings(t *testing.T) {
	for file, settings := range map[string]interface{ Validate() error }{"arena.env": &arenaSettings{}, "bot.env": &bot.Config{}} {
		t.Run(file, func(t *testing.T) {
			setShipped(t, file)
			if file == "bot.env" { // the file's path in a container
				t.Setenv("SPARRING_PROFILES", filepath.Join(root, "configs", "bots.json"))
			}
			if err := configs.Load(settings); err != nil {
				t.Error(err)
			}
			if unknown, err := configs.Unknown(settings); err != nil || len(unknown) > 0 {
				t.Errorf("no settings: %v (%v)", unknown, err)
			}
		})
	}
}

// TestComposeMountsFolders: a container sees what an operator writes into a file and then
// reloads, also if the editor replaces the file. A mount of the file itself stays at the old
// one.
func TestComposeMountsFolders(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(root, "docker-compose.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var compose struct {
		Services map[string]struct{ Volumes []string }
	}
	if err := yaml.Unmarshal(data, &compose); err != nil {
		t.Fatal(err)
	}
	mounts := 0
	for name, s := range compose.Services {
		for _, v := range s.Volumes {
			from, _, _ := strings.Cut(v, ":")
			if !strings.HasPrefix(from, ".") {
				continue
			}
			mounts++
			if info, err := os.Stat(filepath.Join(root, from)); err != nil || !info.IsDir() {
				t.Errorf("%s: %s is no folder (%v)", name, v, err)
			}
		}
	}
	if mounts == 0 {
		t.Error("nothing of the checkout is mounted")
	}
}

// TestFaultsOfOneStart: one start reports all wrong values, files and names.
func TestFaultsOfOneStart(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	both := map[string]string{"NATS_CREDS": missing, "NATS_CA": missing, "NATS_PREFIX": "a.*", "LOG_LEVEL": "loud", "THREDS": "4"}
	for command, own := range map[string]map[string]string{
		"arena": {"ARENA_GAMES": "0", "ARENA_FIRST_MOVE": "soon", "ARENA_HTTP": "nowhere", "LADDER_ROUNDS": "-1",
			"WEB_ADDRESS": "elsewhere", "WEB_URL": "play.example.org", "WEB_CERT": missing, "WEB_PROXIES": "10.0.0.0/99", "WEB_FILES": missing, "WEB_REVIEWS": "0", "WEB_REVIEW_TIME": "1ms"},
		"bot": {"PROFILES": missing, "SLOTS": "many", "THREADS": "4096", "CORES": "4096"},
	} {
		t.Run(command, func(t *testing.T) {
			maps.Copy(own, both)
			for name, value := range own {
				t.Setenv("SPARRING_"+name, value)
			}
			var out, errs strings.Builder
			if code := run([]string{command}, strings.NewReader(""), &out, &errs); code != exitUsage {
				t.Errorf("exit code %d, want %d", code, exitUsage)
			}
			if command == "arena" && !strings.Contains(errs.String(), "SPARRING_WEB_PROXIES: \"10.0.0.0/99\": want addresses with the number of bits that count, such as 127.0.0.1/32") {
				t.Error(errs.String())
			}
			for name := range own {
				if strings.Count(errs.String(), "SPARRING_"+name+": ") != 1 {
					t.Errorf("SPARRING_%s is not named once in\n%s", name, errs.String())
				}
			}
		})
	}
}

// TestLogsBesideEachOther: a log may be opened while another one is written, which only the
// race detector sees.
func TestLogsBesideEachOther(t *testing.T) {
	var texts [4]bytes.Buffer
	var wg sync.WaitGroup
	for i := range texts {
		wg.Go(func() {
			for range 10 {
				log := newLog(&texts[i], "info")
				log.Info().Msg("x")
			}
		})
	}
	wg.Wait()
	for i := range texts {
		var entry struct{ Time string }
		if err := json.NewDecoder(&texts[i]).Decode(&entry); err != nil {
			t.Fatal(err)
		}
		if _, err := time.Parse(time.RFC3339Nano, entry.Time); err != nil {
			t.Errorf("time %q, %v", entry.Time, err)
		}
	}
}

// TestSizes: a hash table for which no machine has the memory, in a flag or in a player's spec,
// and more games at once than any machine plays, are usage errors in every command, before
// anything is begun.
func TestSizes(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	openings := file("openings.txt", "rules amazons/6x6\nmoves a3b3a3\n")
	campaign := file("night.yaml", "players:\n  a: self:nodes=10\n  b: self:nodes=20\nmatches:\n  m:\n    players: [a, b]\n    game: amazons\n    games: 2\n")
	match := []string{"match", "--game", "amazons", "--rules", "6x6", "--b", "self:nodes=20", "--games", "2", "--json", filepath.Join(dir, "m.jsonl")}
	for _, c := range []struct {
		args  []string
		wants string
	}{
		{append(match, "--a", "self:nodes=10", "--hash", "99999999"), "--hash 99999999: want 1 to "},
		{append(match, "--a", "self:nodes=10", "--hash", "0"), "--hash 0: want 1 to "},
		{append(match, "--a", "self:nodes=10,hash=1000000"), "hash=1000000: this machine has memory for "},
		{append(match, "--a", "self:nodes=10", "--concurrency", "99999999"), "concurrency 99999999: want 1 to 1024"},
		{[]string{"analyse", "--game", "amazons", "--nodes", "10", "--engine", "self:hash=1000000"}, "hash=1000000: this machine has memory for "},
		{[]string{"engine", "--hash", "99999999"}, "--hash 99999999: want 1 to "},
		{[]string{"book", "selfplay", "--game", "amazons", "--out", filepath.Join(dir, "g.jsonl"), "--hash", "99999999"}, "--hash 99999999: want 1 to "},
		{[]string{"openings", "judge", openings, "--engine", "self", "--hash", "99999999"}, "--hash 99999999: want 1 to "},
		{[]string{"campaign", campaign, "--concurrency", "99999999"}, "concurrency 99999999: want 1 to 1024"},
		{[]string{"campaign", "work", campaign, "--concurrency", "99999999"}, "concurrency 99999999: want 1 to 1024"},
		{[]string{"levels", "calibrate", "--game", "amazons", "--out", filepath.Join(dir, "l.json"), "--concurrency", "99999999"}, "concurrency 99999999: want 1 to 1024"},
	} {
		var out, errs bytes.Buffer
		code := run(c.args, strings.NewReader(""), &out, &errs)
		if code != exitUsage || !strings.Contains(errs.String(), c.wants) || strings.Count(errs.String(), "want") > 1 {
			t.Errorf("%v: code %d, %s; want %q alone", c.args, code, &errs, c.wants)
		}
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 2 {
		t.Errorf("%v is left, %v", left, err)
	}
}
