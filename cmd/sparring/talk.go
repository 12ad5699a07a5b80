package main

import (
	"fmt"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"sparring/pipe/external"
)

func talkCommand() *cobra.Command {
	var gameName string
	var raw bool
	c := &cobra.Command{
		Use:   "talk SPEC",
		Short: "Talk to an engine by hand",
		Long: `Talk to an engine by hand: each line of the input is sent to it. Every line is
shown with the seconds since the start: > was sent, < was received, ! is from the
engine's standard error. The engine is first made ready as for a game, with its
options, unless --raw is given. It is told to quit when the input ends.`,
		Example: `  sparring engine talk uci:fairy-stockfish
  sparring engine talk gomocup:./pbrain --raw < lines.txt`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			spec, err := programSpec(c, args, &gameName)
			if err != nil {
				return err
			}
			var mu sync.Mutex
			begin := time.Now()
			return external.Talk(c.Context(), *spec, gameName, !raw, c.InOrStdin(), func(l external.Line) {
				mu.Lock()
				defer mu.Unlock()
				fmt.Fprintf(c.OutOrStdout(), "%9.3f %c %s\n", l.At.Sub(begin).Seconds(), l.Direction, l.Text)
			})
		},
	}
	c.Flags().StringVar(&gameName, "game", "", "the game to play (default: xiangqi, or another that the protocol knows)")
	c.Flags().BoolVar(&raw, "raw", false, "send nothing but the input")
	return c
}
