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

// load fills a command's settings from the environment. The error names all faults
// and all variables that no command reads. Without other faults, such variables are
// returned to be logged, since other programs may use them.
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
		err = errors.Join(err, fmt.Errorf("%s: unknown setting", name))
	}
	return nil, usagef("settings:\n%w", err)
}

func init() { // the other logs of the process read it whenever they write
	zerolog.TimeFieldFormat = time.RFC3339Nano
}

// newLog returns a log of JSON lines with a valid level. It warns of the unknown
// variables.
func newLog(out io.Writer, level string, unknown ...string) zerolog.Logger {
	l, err := zerolog.ParseLevel(level)
	if err != nil {
		l = zerolog.InfoLevel // validated before; don't fail because of the log
	}
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
