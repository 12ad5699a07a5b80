package main

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"sparring/bot"
	"sparring/configs"
)

// load fills a command's settings from the environment. The error names all
// faults, and variables that no command reads. These alone are no fault, since
// other programs may set some: they are returned, to be logged.
func load(settings interface{ Validate() error }) (unknown []string, err error) {
	unknown, err = configs.Unknown(&arenaSettings{}, &bot.Config{})
	if err != nil {
		return nil, err
	}
	err = configs.Load(settings)
	if err == nil {
		return unknown, nil
	}
	for _, name := range unknown {
		err = errors.Join(err, fmt.Errorf("%s: no such setting", name))
	}
	return nil, usagef("settings:\n%w", err)
}

// newLog writes structured lines; the level is a valid one. Unknown are
// variables to warn of.
func newLog(out io.Writer, level string, unknown ...string) zerolog.Logger {
	l, err := zerolog.ParseLevel(level)
	if err != nil {
		l = zerolog.InfoLevel // validated before; a log is never worth failing for
	}
	zerolog.TimeFieldFormat = time.RFC3339Nano
	log := zerolog.New(out).Level(l).With().Timestamp().Logger()
	if len(unknown) > 0 {
		log.Warn().Strs("variables", unknown).Msg("unknown settings ignored")
	}
	return log
}

// withEnvHelp makes --help list the variables of the settings.
func withEnvHelp(c *cobra.Command, settings any) {
	help := c.HelpFunc()
	c.SetHelpFunc(func(c *cobra.Command, args []string) {
		help(c, args)
		if err := configs.EnvHelp(c.OutOrStdout(), configs.Prefix, settings); err != nil {
			c.PrintErrln("sparring:", err)
		}
	})
}
