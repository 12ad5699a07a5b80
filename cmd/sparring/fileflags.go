package main

import (
	"errors"

	"github.com/spf13/pflag"
)

// fileValue is the value of a flag for a file or folder to write. A "-" is no file of this name: it
// is the standard output where the flag's default is, and refused elsewhere.
type fileValue struct {
	path   *string
	stdout bool // an empty path is the standard output
}

func (v fileValue) Set(path string) error {
	switch {
	case path != "-":
		*v.path = path
	case v.stdout:
		*v.path = ""
	default:
		return errors.New("want the name of a file; the standard output has the report")
	}
	return nil
}

func (v fileValue) String() string { return *v.path }
func (fileValue) Type() string     { return "string" }

// fileFlag adds a flag for a file or folder to write.
func fileFlag(flags *pflag.FlagSet, path *string, name, usage string) {
	flags.Var(fileValue{path, false}, name, usage)
}

// outFlag adds the flag --out, -o for short if letter is "o", for a file or folder to write
// instead of the standard output.
func outFlag(flags *pflag.FlagSet, path *string, letter, usage string) {
	flags.VarP(fileValue{path, true}, "out", letter, usage)
}
