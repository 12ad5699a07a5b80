package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"sparring/internal/atomicfile"
	"sparring/lab/match/campaign"
	"sparring/record"
	"sparring/record/format"
	"sparring/record/interchange"
)

// aSource explains SOURCE arguments in the help of commands.
const aSource = `A SOURCE is a data directory, the folder of a campaign or another folder of records,
a file of records, the result file of a match, or a file of another program (sgf, pgn, psq, ccgc);
"-" is such a file from the standard input.`

// lockExt is the ending of the files beside result files that keep a second process from
// writing to them. A pattern such as games/* names them, too.
const lockExt = ".jsonl.lock"

// How a file of records begins, and how many bytes that takes at most: with a byte-order mark,
// in UTF-16.
const (
	recordHead  = `{"`
	longestHead = 2 + 2*len(recordHead)
)

// unmarked returns a text without the byte-order mark that some editors and shells put before
// it. Where that is one of UTF-16, as from > in PowerShell, the text is converted to UTF-8.
func unmarked(in io.Reader) io.Reader {
	return transform.NewReader(in, unicode.BOMOverride(transform.Nop))
}

// gamesIn iterates over the games of a source, see aSource, once. The options are for
// files of other programs. Without a command "-" is a file like others.
func gamesIn(c *cobra.Command, path string, o format.ReadOptions) (iter.Seq2[*record.Record, error], error) {
	if isDir(path) {
		dir, err := recordsIn(path)
		if err != nil {
			return nil, err
		}
		return record.All(dir), nil
	}
	f, path, err := openInput(c, path)
	if err != nil {
		return nil, err
	}
	in := bufio.NewReader(f) // a pipe gives its beginning only once
	head, err := in.Peek(longestHead)
	if len(head) == 0 || err != nil && !errors.Is(err, io.EOF) {
		f.Close() // nothing was written
	}
	switch {
	case len(head) == 0 && errors.Is(err, io.EOF) && (strings.HasSuffix(path, ".jsonl") || strings.HasSuffix(path, lockExt)):
		return func(func(*record.Record, error) bool) {}, nil // nothing was written yet, or never is
	case len(head) == 0 && errors.Is(err, io.EOF):
		return nil, fmt.Errorf("%s: the file is empty", path)
	case err != nil && !errors.Is(err, io.EOF):
		return nil, err
	}
	text, _ := io.ReadAll(unmarked(bytes.NewReader(head)))                               // an error is that of what is no text
	ours := strings.HasSuffix(path, ".zst") || bytes.HasPrefix(text, []byte(recordHead)) // ccgc begins with {[ or {{
	return func(yield func(*record.Record, error) bool) {
		defer f.Close()
		if ours {
			record.Read(path, unmarked(in))(yield)
			return
		}
		for r, err := range interchange.Import(in, o) {
			if err != nil {
				err = fmt.Errorf("%s: %w", path, err)
			}
			if !yield(r, err) {
				return
			}
		}
	}, nil
}

// recordsFolder returns the folder that has the records of a folder: that of a data directory or
// of a campaign, and else the folder itself.
func recordsFolder(dir string) string {
	if in := recordsDir(dir); isDir(in) {
		return in
	}
	if in := campaign.GamesOf(dir); in != "" {
		return in
	}
	return dir
}

// recordsIn returns where the records of a folder that is a source are.
func recordsIn(dir string) (string, error) {
	dir = recordsFolder(dir)
	entries, _ := os.ReadDir(dir) // record.Files has the error, too
	if files, err := record.Files(dir); err == nil && len(files) == 0 && len(entries) > 0 {
		return "", fmt.Errorf("%s: no file of this folder has records (*.jsonl); of other programs' files give each, as in %s", dir, filepath.Join(dir, "*"))
	}
	return dir, nil
}

// standardInput returns the standard input of a command. Reading it ends with the context of
// the command: a terminal gives nothing until somebody types.
func standardInput(c *cobra.Command) io.Reader {
	r, w := io.Pipe()
	in := c.InOrStdin()
	go func() { // it may stay in a read when the command has ended
		_, err := io.Copy(w, in)
		w.CloseWithError(err)
	}()
	context.AfterFunc(c.Context(), func() { w.CloseWithError(c.Context().Err()) })
	return r
}

// fromStandardInput is the name of the standard input where a file is wanted, and
// standardInputName what it is called to people.
const (
	fromStandardInput = "-"
	standardInputName = "standard input"
)

// openInput opens a file, or the standard input of a command for "-". It returns the name for
// errors, too.
func openInput(c *cobra.Command, path string) (in io.ReadCloser, name string, err error) {
	if path == fromStandardInput && c != nil {
		return io.NopCloser(standardInput(c)), standardInputName, nil
	}
	in, err = os.Open(path)
	return in, path, err
}

// isFile reports whether a path is that of a file, or the standard input.
func isFile(path string) bool {
	info, err := os.Stat(path)
	return path == fromStandardInput || err == nil && !info.IsDir()
}

// decoded returns a text that people edit in UTF-8, whatever charset their editor has
// written it in: one with a byte-order mark, or GBK.
func decoded(in io.Reader) (io.Reader, error) {
	data, err := io.ReadAll(in)
	if err != nil {
		return nil, err
	}
	text, err := format.Decode(data)
	return strings.NewReader(text), err
}

// inSources iterates over the games of several sources.
func inSources(c *cobra.Command, paths []string) iter.Seq2[*record.Record, error] {
	return func(yield func(*record.Record, error) bool) {
		for _, path := range paths {
			games, err := gamesIn(c, path, format.ReadOptions{})
			if err != nil {
				yield(nil, err)
				return
			}
			for r, err := range games {
				if !yield(r, err) {
					return
				}
			}
		}
	}
}

// until yields what games yields until ctx ends, and then the error of ctx.
func until(ctx context.Context, games iter.Seq2[*record.Record, error]) iter.Seq2[*record.Record, error] {
	return func(yield func(*record.Record, error) bool) {
		for r, err := range games {
			if ctx.Err() != nil {
				yield(nil, ctx.Err())
				return
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

// checkOutput checks at the start of a long run that the file of a flag can be
// written at its end, and that no games are lost by that: neither records nor one of
// the sources is replaced.
func checkOutput(flag, path string, sources ...string) error {
	if holdsGames(path) {
		return usagef("%s %s: has games, which would be lost; want another file", flag, path)
	}
	return checkReplaced(flag, path, sources...)
}

// checkReplaced is checkOutput for a file that may have the games of a run before.
func checkReplaced(flag, path string, sources ...string) error {
	switch dir := filepath.Dir(path); {
	case path == "":
		return nil
	case isDir(path):
		return usagef("%s %s: is a folder, want a file", flag, path)
	case !isDir(dir):
		return usagef("%s %s: there is no folder %s", flag, path, dir)
	}
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		return usagef("%s %s: is a device or the like, want a file", flag, path) // it would be replaced
	}
	if path != "-" { // the standard output
		if err := atomicfile.Check(path); err != nil {
			return usagef("%s: %w", flag, err)
		}
	}
	if err != nil {
		return nil // there is nothing to replace
	}
	for _, source := range sources {
		files, err := filesOf(source)
		if err != nil {
			return err
		}
		for _, file := range files {
			if other, err := os.Stat(file); err == nil && os.SameFile(info, other) {
				return usagef("%s %s: is what is read; want another file", flag, path)
			}
		}
	}
	return nil
}

// checkApart checks that the flags of files that a run writes, a name and a path each,
// do not name one file: what one of them writes would replace what another has written.
func checkApart(flags ...[2]string) error {
	for i, f := range flags {
		for _, other := range flags[:i] {
			if path := f[1]; path != "" && path != "-" && absolute(path) == absolute(other[1]) {
				return usagef("%s and %s are one file: %s", other[0], f[0], path)
			}
		}
	}
	return nil
}

// absolute returns a path in full, or as it is where this folder has none.
func absolute(path string) string {
	if full, err := filepath.Abs(path); err == nil && path != "" {
		return full
	}
	return path
}

// holdsGames reports whether a file is one of records, or the result file of a match.
func holdsGames(path string) bool {
	head := headOf(path)
	return isMatch(path) || bytes.HasPrefix(head, []byte(`{"`)) && bytes.Contains(head, []byte(`"seats":`)) || strings.HasSuffix(path, ".jsonl.zst")
}

// isMatch reports whether a file is the result file of a match.
func isMatch(path string) bool { return bytes.HasPrefix(headOf(path), []byte(record.TermsPrefix)) }

// headOf returns the beginning of a file, nothing of one that can't be read. A pipe is not
// read: it would be waited for.
func headOf(path string) []byte {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	head := make([]byte, 4<<10)
	n, _ := io.ReadFull(unmarked(f), head)
	return head[:n]
}

// isDir reports whether a path is that of a folder.
func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// damaged reports whether an error is about one game alone, so that those after it
// can be read.
func damaged(err error) bool {
	if _, ok := errors.AsType[*record.DamagedError](err); ok {
		return true
	}
	_, ok := errors.AsType[*format.Error](err)
	return ok
}

// filesOf returns the files of a source, of a folder those that are not compressed.
func filesOf(path string) (files []string, err error) {
	if !isDir(path) {
		return []string{path}, nil
	}
	path = recordsFolder(path)
	entries, err := os.ReadDir(path) // no pattern: the path may have brackets
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if filepath.Ext(e.Name()) == ".jsonl" {
			files = append(files, filepath.Join(path, e.Name()))
		}
	}
	return files, nil
}
