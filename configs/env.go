package configs

import (
	"encoding"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kelseyhightower/envconfig"
)

// Prefix is the prefix of our environment variables.
const Prefix = "SPARRING"

var textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()

// nowhere is a prefix without variables, since names can't contain "=".
const nowhere = "="

// Load fills the settings from the environment and validates them. The error
// has a line for every fault, and each line names its variable.
func Load(settings interface{ Validate() error }) error {
	return errors.Join(FromEnv(Prefix, settings), settings.Validate())
}

// FromEnv fills the struct that into points to from the environment, by envconfig's
// tags. Envconfig stops at the first invalid value. FromEnv reads the fields one at a
// time, and its error lists all invalid values, a line each. An invalid value is
// replaced by the default, so that it is not also reported as out of range.
func FromEnv(prefix string, into any) error {
	return errors.Join(readFields(prefix, reflect.ValueOf(into).Elem())...)
}

// Defaults fills the struct that into points to with its defaults alone.
func Defaults(into any) error { return FromEnv(nowhere, into) }

// Faults collects what is wrong with settings.
type Faults []error

// Add adds a fault of the variable, which is given without the prefix.
func (f *Faults) Add(variable, format string, args ...any) {
	*f = append(*f, fmt.Errorf(Prefix+"_"+variable+": "+format, args...))
}

// Err adds an error of the variable, and the parts of a joined error separately. A
// nil error is ignored.
func (f *Faults) Err(variable string, err error) {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, part := range joined.Unwrap() {
			f.Err(variable, part)
		}
	} else if err != nil {
		f.Add(variable, "%w", err)
	}
}

// AtLeast adds a fault if a number is too small.
func (f *Faults) AtLeast(variable string, n, least int) {
	if n < least {
		f.Add(variable, "%d: want at least %d", n, least)
	}
}

// Positive adds a fault unless a duration is above zero.
func (f *Faults) Positive(variable string, d time.Duration) {
	if d <= 0 {
		f.Add(variable, "%v: want more than 0", d)
	}
}

// ShortestKept is the least age at which something is removed: pages show games that
// have just ended.
const ShortestKept = time.Hour

// Kept adds faults of how long something is kept, and of how many bytes of it.
func (f *Faults) Kept(variable string, age time.Duration, size int64) {
	if age < 0 || age > 0 && age < ShortestKept {
		f.Add(variable, "%v: want 0 (for ever) or at least %v", age, ShortestKept)
	}
	if size < 0 {
		f.Add(variable+"_MB", "want 0 (any size) or more")
	}
}

// Warnings adds faults of when to warn that a disk is full soon: within a time, or at a
// share of it, 0 to 1.
func (f *Faults) Warnings(within time.Duration, share float64) {
	if within < 0 {
		f.Add("WARN_WITHIN", "%v: want 0 (never) or more", within)
	}
	if !(share >= 0 && share <= 1) { // also NaN
		f.Add("WARN_PERCENT", "%v: want 0 (never) to 100", 100*share)
	}
}

// Readable adds a fault if a file can't be read. An empty path is ignored.
func (f *Faults) Readable(variable, path string) {
	if path != "" {
		_, err := os.ReadFile(path)
		f.Err(variable, err)
	}
}

// Join returns the faults as one error with a line each, or nil.
func (f Faults) Join() error { return errors.Join(f...) }

// Unknown lists the variables with the prefix that belong to none of the settings
// nor to nats.conf, and may be misspelt. Settings are pointers to structs.
func Unknown(settings ...any) ([]string, error) {
	var known strings.Builder
	for _, s := range settings {
		if err := envconfig.Usagef(Prefix, s, &known, "{{range .}}{{usage_key .}}\n{{end}}"); err != nil {
			return nil, err
		}
	}
	names := strings.Fields(known.String())
	for _, name := range NATSPasswords {
		names = append(names, Prefix+"_"+name)
	}
	names = append(names, Prefix+"_SERVER_NAME", Prefix+"_ROUTE_PASSWORD", Prefix+"_ROUTES") // of cluster/nats.conf
	var unknown []string
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		if strings.HasPrefix(name, Prefix+"_") && !slices.Contains(names, name) {
			unknown = append(unknown, name)
		}
	}
	slices.Sort(unknown)
	return unknown, nil
}

// Wanted says for people what a setting or a flag of a type wants, instead of what Go's parsers
// find; "" if errors of the type say it themselves.
func Wanted(typ string) string {
	switch typ {
	case "bool":
		return "true or false"
	case "int", "int64":
		return "a whole number"
	case "uint", "uint64":
		return "a whole number, not negative"
	case "float64":
		return "a number"
	case "duration", "time.Duration":
		return "a time, such as 500ms or 10s"
	case "[]netip.Prefix":
		return "addresses with the number of bits that count, such as 127.0.0.1/32,10.0.0.0/8"
	}
	return ""
}

func readFields(prefix string, group reflect.Value) (errs []error) {
	for i := range group.NumField() {
		f := group.Type().Field(i)
		if f.Type.Kind() == reflect.Struct && !reflect.PointerTo(f.Type).Implements(textUnmarshaler) {
			errs = append(errs, readFields(prefix+"_"+f.Name, group.Field(i))...)
			continue
		}
		one := reflect.New(reflect.StructOf([]reflect.StructField{f}))
		if err := envconfig.Process(prefix, one.Interface()); err != nil {
			if parse, ok := errors.AsType[*envconfig.ParseError](err); ok {
				err = parse.Err
				if number, ok := errors.AsType[*strconv.NumError](err); ok { // without the name of a Go function
					err = number.Err
				}
				if want := Wanted(f.Type.String()); want != "" && !errors.Is(err, strconv.ErrRange) {
					err = errors.New("want " + want)
				}
				err = fmt.Errorf("%s: %.60q: %w", parse.KeyName, parse.Value, err)
			}
			errs = append(errs, err)
			if err := envconfig.Process(nowhere, one.Interface()); err != nil {
				errs = append(errs, err)
			}
		}
		group.Field(i).Set(one.Elem().Field(0))
	}
	return errs
}

// usage is the template for the list of variables in help texts.
const usage = `
Environment:
{{range .}}  {{usage_key .}}  {{with usage_default .}}(default {{.}}){{end}}
      {{usage_description .}}
{{end}}`

// EnvHelp lists the variables that fill the settings, with default and meaning.
func EnvHelp(out io.Writer, prefix string, settings any) error {
	var b strings.Builder // envconfig's writer is flushed piecemeal
	if err := envconfig.Usagef(prefix, settings, &b, usage); err != nil {
		return err
	}
	_, err := io.WriteString(out, b.String())
	return err
}
