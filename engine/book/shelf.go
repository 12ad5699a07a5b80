package book

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"sparring/game"
)

// Ext is the suffix of book files.
const Ext = ".book"

// Shipped and None are names for [Open]: the books that come with the program, and
// no books.
const (
	Shipped = "shipped"
	None    = "none"
)

// Shelf holds books, at most one for each family of rule sets. A nil shelf is empty.
type Shelf struct{ books map[string]*Book }

// NewShelf makes a shelf of books, at most one for each family of rule sets.
func NewShelf(books ...*Book) (*Shelf, error) {
	s := &Shelf{map[string]*Book{}}
	for _, b := range books {
		if err := s.add(b.family, b); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// For returns the book for a rule set given by its full name, or nil.
func (s *Shelf) For(rules string) *Book {
	if s == nil {
		return nil
	}
	return s.books[Family(rules)]
}

func (s *Shelf) add(name string, b *Book) error {
	if s.books[b.family] != nil {
		return fmt.Errorf("book %s: second book for %s", name, b.family)
	}
	s.books[b.family] = b
	return nil
}

// Open reads books. The name [Shipped] means those in the file system shipped,
// [None] means none, and any other name is a file or a folder with files *.book. A
// file must be for the game named, unless that is "". The error names every file
// that is missing, damaged or for another game; the shelf has the others and is
// never nil.
func Open(name, gameName string, shipped fs.FS) (*Shelf, error) {
	s := &Shelf{map[string]*Book{}}
	switch name {
	case None:
		return s, nil
	case Shipped:
		return s, s.all("shipped", shipped)
	}
	info, err := os.Stat(name)
	if err != nil {
		return s, fmt.Errorf("book: %w", err)
	}
	if info.IsDir() {
		return s, s.all(name, os.DirFS(name))
	}
	b, err := Load(name)
	if err != nil {
		return s, err
	}
	if of, _, _ := strings.Cut(b.family, "/"); gameName != "" && of != gameName {
		return s, fmt.Errorf("book %s: %w for %s, want one for %s", name, ErrFamily, b.family, gameName)
	}
	return s, s.add(name, b)
}

// all adds the books of a folder.
func (s *Shelf) all(name string, folder fs.FS) error {
	names, err := fs.Glob(folder, "*"+Ext)
	if err != nil {
		return fmt.Errorf("books in %s: %w", name, err)
	}
	var errs []error
	for _, file := range names {
		b, err := readIn(folder, path.Join(name, file), file)
		if err == nil {
			err = s.add(path.Join(name, file), b)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func readIn(folder fs.FS, name, file string) (*Book, error) {
	f, err := folder.Open(file)
	if err != nil {
		return nil, fmt.Errorf("book %s: %w", name, err)
	}
	defer f.Close()
	return read(name, f)
}

// Choose picks a move from the book for the position's rules, see [Book.Choose].
func (s *Shelf) Choose(p game.Position, o Options, seed uint64, among []game.Move) (game.Move, Candidate, bool) {
	b := s.For(p.Rules().Name)
	if b == nil {
		return game.NoMove, Candidate{}, false
	}
	return b.Choose(p, o, seed, among)
}
