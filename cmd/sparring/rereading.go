package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"

	"github.com/spf13/cobra"

	"sparring/record"
	"sparring/record/format"
)

// rereading reads files a second time, for games that can be handled only once all are known,
// because a game may have several records, and exports beside them. So the games need not be
// held in memory until then.
type rereading struct {
	wanted func(*record.Record) bool
	files  []*sourceFile // with games that are wanted
}

// sourceFile is a source that is a file, or a file of one that is a folder.
type sourceFile struct {
	path  string
	games func() (iter.Seq2[*record.Record, error], error)

	wanted int              // games
	once   bool             // it can't be read again, as a pipe
	held   []*record.Record // the games of such a file that are wanted
}

// sourceFiles returns the files of sources, see aSource.
func sourceFiles(c *cobra.Command, sources []string) ([]*sourceFile, error) {
	var files []*sourceFile
	for _, path := range sources {
		if !isDir(path) {
			info, err := os.Stat(path)
			if err != nil && path != fromStandardInput {
				return nil, err
			}
			once := path == fromStandardInput || !info.Mode().IsRegular()
			files = append(files, &sourceFile{path: path, once: once, games: func() (iter.Seq2[*record.Record, error], error) {
				return gamesIn(c, path, format.ReadOptions{})
			}})
			continue
		}
		dir, err := recordsIn(path)
		if err != nil {
			return nil, err
		}
		paths, err := record.Files(dir)
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			files = append(files, &sourceFile{path: path, games: func() (iter.Seq2[*record.Record, error], error) {
				return record.File(path), nil
			}})
		}
	}
	return files, nil
}

// later reports whether a game of a file is wanted when the files are read again.
func (again *rereading) later(f *sourceFile, r *record.Record) bool {
	if !again.wanted(r) {
		return false
	}
	if f.wanted++; f.wanted == 1 {
		again.files = append(again.files, f)
	}
	if f.once {
		f.held = append(f.held, r)
	}
	return true
}

// each calls do for the games that are wanted, in their order; those that a file got meanwhile
// are not. Its errors have the file's name.
func (again *rereading) each(ctx context.Context, do func(*record.Record) error) error {
	for _, f := range again.files {
		n := 0
		for r, err := range until(ctx, f.again) {
			switch {
			case err != nil && damaged(err) && !unreadable(err): // as at the first time
				continue
			case err != nil:
				return err
			case !again.wanted(r):
				continue
			}
			if err := do(r); err != nil {
				return fmt.Errorf("%s: %w", f.path, err)
			}
			if n++; n == f.wanted {
				break
			}
		}
		if n < f.wanted {
			return fmt.Errorf("%s: was changed while it was read; run the command again", f.path)
		}
	}
	return nil
}

// again yields the games of a file for the second time.
func (f *sourceFile) again(yield func(*record.Record, error) bool) {
	if !f.once {
		games, err := f.games()
		if err != nil {
			yield(nil, err)
			return
		}
		games(yield)
		return
	}
	for _, r := range f.held {
		if !yield(r, nil) {
			return
		}
	}
}

// unreadable reports whether an error is the file's, and not of a game in it.
func unreadable(err error) bool {
	_, ok := errors.AsType[*fs.PathError](err)
	return ok
}
