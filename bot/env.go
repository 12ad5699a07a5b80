package bot

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"

	"github.com/kelseyhightower/envconfig"

	"sparring/protocol"
)

// ReadConfig reads the settings from the environment, below a prefix such as
// "SPARRING". The error has a line for everything that is wrong, unreadable
// values and impossible ones alike. An instance without a name gets one.
func ReadConfig(prefix string) (Config, error) {
	var c Config
	errs := readFields(prefix, reflect.ValueOf(&c).Elem())
	if c.Instance == "" {
		c.Instance = protocol.InstanceID(protocol.NewID())
	}
	if err := c.Validate(); err != nil {
		errs = append(errs, err)
	}
	return c, errors.Join(errs...)
}

var textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()

// nowhere is a prefix below which there are no variables: no name has a "=".
const nowhere = "="

// readFields reads one field at a time, for envconfig stops at the first
// value that it can't read. Such a field gets its default, so that it is not
// reported a second time as out of its range.
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
