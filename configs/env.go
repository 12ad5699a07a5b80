package configs

import (
	"encoding"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/kelseyhightower/envconfig"
)

// Prefix stands before every environment variable of ours.
const Prefix = "SPARRING"

var textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()

// nowhere is a prefix below which there are no variables: no name has a "=".
const nowhere = "="

// FromEnv fills the struct that into points to from the environment, by
// envconfig's tags. Envconfig stops at the first value that it can't read;
// here one field is read at a time and the error names them all, a line each.
// A field that can't be read gets its default, so that it is not reported a
// second time as out of its range.
func FromEnv(prefix string, into any) error {
	return errors.Join(readFields(prefix, reflect.ValueOf(into).Elem())...)
}

// Defaults fills the struct that into points to with its defaults alone.
func Defaults(into any) error { return FromEnv(nowhere, into) }

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
				err = fmt.Errorf("%s: %w", parse.KeyName, parse.Err)
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

// usage is how the variables are listed in a --help.
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
