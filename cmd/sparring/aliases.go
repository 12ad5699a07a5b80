package main

import (
	"sparring/cmd/sparring/cli"
	"sparring/internal/terminal"
)

// The names that the commands of this folder have for what they share. A command that gets a
// folder of its own uses the packages.
const (
	exitFailed = cli.ExitFailed
	exitFaulty = cli.ExitFaulty
	exitH0     = cli.ExitH0
	exitH1     = cli.ExitH1
	exitOK     = cli.ExitOK
	exitUsage  = cli.ExitUsage

	maxLines = terminal.MaxLines
)

type (
	fileValue = cli.FileValue
	outcome   = cli.Outcome

	display = terminal.Display
	pace    = terminal.Pace
)

var (
	ends           = cli.EndSignals
	fileFlag       = cli.FileFlag
	noArgs         = cli.NoArgs
	outFlag        = cli.OutFlag
	plainFlagError = cli.PlainFlagError
	printJSON      = cli.PrintJSON
	subcommand     = cli.Group
	usage          = cli.Usage
	usagef         = cli.Usagef

	fileOf      = terminal.FileOf
	hasCursor   = terminal.HasCursor
	newDisplay  = terminal.NewDisplay
	newPace     = terminal.NewPace
	newWarnings = terminal.NewWarnings
	timeLeft    = terminal.TimeLeft
)
