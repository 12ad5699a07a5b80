// Package configs embeds the shipped settings, books, openings and events in the binary,
// and reads settings from the environment.
package configs

import (
	"embed"
	"io/fs"
)

// NATS is nats.conf: the accounts, permissions and limits of the NATS server, in
// production and embedded.
//
//go:embed nats.conf
var NATS string

// NATSPasswords are the variables, without the prefix, that nats.conf reads the
// passwords of its users from.
var NATSPasswords = map[string]string{
	"platform": "PLATFORM_PASSWORD", "bots": "BOTS_PASSWORD", "guest": "GUEST_PASSWORD", "watch": "WATCH_PASSWORD",
}

//go:embed books openings events
var shipped embed.FS

// Books returns the folder of the shipped opening books. Its manifest.json says how
// they were made.
func Books() fs.FS { return folder("books") }

// Openings returns the folder of the shipped openings for matches. The head of each
// file says how it was made.
func Openings() fs.FS { return folder("openings") }

// Events returns the folder of the shipped event files, which package lab/match/event reads.
func Events() fs.FS { return folder("events") }

func folder(name string) fs.FS {
	f, err := fs.Sub(shipped, name)
	if err != nil {
		panic(err) // unreachable: the embedded folder exists
	}
	return f
}
