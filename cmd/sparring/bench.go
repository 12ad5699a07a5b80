package main

import (
	"github.com/spf13/cobra"

	"sparring/lab/load/bench"
)

func benchCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "bench",
		Short: "Search a fixed set of positions: prints speed and the search signature",
		Long: `Search a fixed set of positions of every game to a fixed depth with one thread.
The last line is the signature: the total number of nodes, which is the same on
every run and machine as long as the search is unchanged.`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			_, err := bench.Run(c.OutOrStdout())
			return err
		},
	}
	c.AddCommand(benchFleetCommand(), benchLossesCommand())
	return c
}
