// Package configs carries the shipped settings that the binary needs itself.
package configs

import _ "embed"

// NATS is nats.conf: accounts, permissions and limits of the NATS server, for
// production and for the embedded one.
//
//go:embed nats.conf
var NATS string
