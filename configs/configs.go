// Package configs carries the shipped settings that the binary needs itself.
package configs

import (
	"embed"
	"io/fs"
)

// NATS is nats.conf: accounts, permissions and limits of the NATS server, for
// production and for the embedded one.
//
//go:embed nats.conf
var NATS string

//go:embed books openings
var shipped embed.FS

// Books is the folder of the shipped opening books; books/manifest.json says how
// they were made.
func Books() fs.FS { return folder("books") }

// Openings is the folder of the shipped openings for matches; the head of each
// file says how it was made.
func Openings() fs.FS { return folder("openings") }

func folder(name string) fs.FS {
	f, err := fs.Sub(shipped, name)
	if err != nil {
		panic(err) // the name is no path: it is one
	}
	return f
}
