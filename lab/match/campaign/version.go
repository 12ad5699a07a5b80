package campaign

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"sparring/engine"
	"sparring/pipe/playerspec"
)

// Versions finds the versions of players. It is safe for concurrent use.
type Versions struct {
	mu    sync.Mutex
	files map[string]*digested
}

// digested is a file whose digest is known.
type digested struct {
	size int64
	time time.Time
	sum  string
}

// ErrVersion is returned by Versions.Check if a player is not the version that it was,
// or this machine has no such player.
var ErrVersion = errors.New("its files are not those of the match")

// Of returns the version of a spec's player as its files are now: a program with the
// files that its arguments and options name, or our own build with such files.
func (v *Versions) Of(spec string) (Version, error) {
	s, err := playerspec.Parse(spec)
	if err != nil {
		return Version{}, err
	}
	build, files := engine.Build(), filesOf(s)
	if s.Outside != nil {
		program, err := s.Outside.Program()
		if err != nil {
			return Version{}, err
		}
		build, files = "", append([]string{program}, files...)
	}
	sum := sha256.New()
	for _, f := range files {
		d, err := v.digest(f)
		if err != nil {
			return Version{}, fmt.Errorf("player %.100q: %w", spec, err)
		}
		io.WriteString(sum, d) // never fails
	}
	if len(files) > 0 {
		build = strings.TrimSpace(build + " " + hex.EncodeToString(sum.Sum(nil)[:6]))
	}
	return Version{spec, build}, nil
}

// filesOf returns the files that a spec names besides the program, without those that the
// program writes its log to: they change with every game.
func filesOf(s playerspec.Spec) (files []string) {
	add := func(dir, name string) {
		if dir != "" && !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		if info, err := os.Stat(name); name != "" && err == nil && info.Mode().IsRegular() && filepath.Ext(name) != ".log" {
			files = append(files, name)
		}
	}
	add("", s.Book)
	add("", s.From)
	if o := s.Outside; o != nil {
		for _, arg := range o.Args {
			add(o.Dir, arg)
		}
		for _, opt := range o.Options {
			if !strings.Contains(strings.ToLower(opt.Name), "log") { // such as UCI's Debug Log File
				add(o.Dir, opt.Value)
			}
		}
	}
	return files
}

// Check returns an error, which wraps ErrVersion, if the version is not what the files
// say now, or they can't be read. It reads only files that were touched.
func (v *Versions) Check(want Version) error {
	have, err := v.Of(want.Spec)
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", ErrVersion, err)
	case have != want:
		return fmt.Errorf("%s: %w: %s, not %s", want.Spec, ErrVersion, have.Build, want.Build)
	}
	return nil
}

// digest returns that of a file's content.
func (v *Versions) digest(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if d := v.files[path]; d != nil && d.size == info.Size() && d.time.Equal(info.ModTime()) {
		return d.sum, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	if v.files == nil {
		v.files = map[string]*digested{}
	}
	d := &digested{info.Size(), info.ModTime(), hex.EncodeToString(sum.Sum(nil))}
	v.files[path] = d
	return d.sum, nil
}
