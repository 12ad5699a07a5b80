package main

import (
	"bufio"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sparring/bot"
	"sparring/configs"
)

// setShipped sets the variables of one of the shipped environment files, and
// returns them.
func setShipped(t *testing.T, name string) []string {
	t.Helper()
	f, err := os.Open(filepath.Join(root, "configs", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var names []string
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := lines.Text()
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		if !ok || strings.ContainsAny(value, `"' #`) {
			t.Errorf("%s: %q is not read alike by a shell and by docker", f.Name(), line)
		}
		t.Setenv(name, value)
		names = append(names, name)
	}
	return names
}

// The shipped environment files are settings that the commands take, and name
// no variable that nobody reads.
func TestShippedSettings(t *testing.T) {
	for file, settings := range map[string]interface {
		fill() error
		help(*strings.Builder) error
	}{"arena.env": arenaFile{}, "bot.env": botFile{}} {
		t.Run(file, func(t *testing.T) {
			names := setShipped(t, file)
			if err := settings.fill(); err != nil {
				t.Error(err)
			}
			var help strings.Builder
			if err := settings.help(&help); err != nil {
				t.Fatal(err)
			}
			for _, name := range names {
				if !strings.Contains(help.String(), name+" ") {
					t.Errorf("%s is no setting", name)
				}
			}
		})
	}
}

type arenaFile struct{}

func (arenaFile) fill() error {
	var s arenaSettings
	return errors.Join(configs.FromEnv(configs.Prefix, &s), s.validate())
}

func (arenaFile) help(b *strings.Builder) error {
	return configs.EnvHelp(b, configs.Prefix, &arenaSettings{})
}

type botFile struct{}

func (botFile) fill() error {
	var c bot.Config
	return errors.Join(configs.FromEnv(configs.Prefix, &c), c.Validate())
}

func (botFile) help(b *strings.Builder) error {
	return configs.EnvHelp(b, configs.Prefix, &bot.Config{})
}
