package cli

import (
	"errors"

	"github.com/spf13/pflag"
)

// FileValue is the value of a flag for a file or folder to write. A "-" is no file of this name: it
// is the standard output where the flag's default is, and refused elsewhere.
type FileValue struct {
	path   *string
	stdout bool // an empty path is the standard output
}

// Set implements pflag.Value.
func (v FileValue) Set(path string) error {
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

// String implements pflag.Value.
func (v FileValue) String() string { return *v.path }

// Type implements pflag.Value.
func (FileValue) Type() string { return "string" }

// FileFlag adds a flag for a file or folder to write.
func FileFlag(flags *pflag.FlagSet, path *string, name, usage string) {
	flags.Var(FileValue{path, false}, name, usage)
}

// OutFlag adds the flag --out, -o for short if letter is "o", for a file or folder to write
// instead of the standard output.
func OutFlag(flags *pflag.FlagSet, path *string, letter, usage string) {
	flags.VarP(FileValue{path, true}, "out", letter, usage)
}
