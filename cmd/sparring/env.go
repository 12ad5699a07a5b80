package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/kelseyhightower/envconfig"
	"github.com/spf13/cobra"
)

// envPrefix stands before every variable.
const envPrefix = "sparring"

// validator is a settings struct that knows its own faults, all of them.
type validator interface{ Validate() error }

// loadEnv fills the settings from the environment. Every fault is reported at
// once, as a usage error: envconfig stops at the first, so that a value that
// does not parse is put aside and the rest read again.
func loadEnv(into validator) error {
	var faults []error
	for {
		err := envconfig.Process(envPrefix, into)
		var parse *envconfig.ParseError
		if !errors.As(err, &parse) {
			if err != nil {
				faults = append(faults, err)
			}
			break
		}
		faults = append(faults, fmt.Errorf("%s=%q: want a %s: %w", parse.KeyName, parse.Value, parse.TypeName, parse.Err))
		value, set := os.LookupEnv(parse.KeyName)
		if !set {
			break // a default of ours that does not parse
		}
		os.Unsetenv(parse.KeyName)
		defer os.Setenv(parse.KeyName, value)
	}
	if err := into.Validate(); err != nil {
		faults = append(faults, err)
	}
	if len(faults) == 0 {
		return nil
	}
	return &usageError{fmt.Errorf("settings:\n%w", errors.Join(faults...))}
}

// envHelp makes --help list the variables of the settings.
func envHelp(c *cobra.Command, settings any) {
	const format = `
Environment:
{{range .}}
  {{usage_key .}}  ({{usage_type .}}{{if usage_default .}}, default {{usage_default .}}{{end}}{{if usage_required .}}, required{{end}})
      {{usage_description .}}{{end}}
`
	help := c.HelpFunc()
	c.SetHelpFunc(func(c *cobra.Command, args []string) {
		help(c, args)
		if err := envUsage(c.OutOrStdout(), settings, format); err != nil {
			c.PrintErrln("sparring:", err)
		}
	})
}

func envUsage(out io.Writer, settings any, format string) error {
	var b strings.Builder
	if err := envconfig.Usagef(envPrefix, settings, &b, format); err != nil {
		return err
	}
	_, err := io.WriteString(out, b.String())
	return err
}
