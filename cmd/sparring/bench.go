package main

import (
	"github.com/spf13/cobra"

	"sparring/lab/bench"
)

func benchCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "bench",
		Short: "Search a fixed set of positions: speed, and the signature of the search",
		Long: `Search a fixed set of positions of every game to a fixed depth, with one
thread. The last line is the signature: the number of nodes, the same on every
run and machine as long as the search does the same.`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			_, err := bench.Run(c.OutOrStdout())
			return err
		},
	}
}
