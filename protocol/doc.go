// Package protocol is what platforms and players say to each other over NATS:
// subjects, messages, a client for players, and the platform's side of the
// wire. docs/protocol.md tells it in prose, docs/asyncapi.yaml for machines.
//
// A player starts with [Connect] and [NewClient], a platform with [Connect]
// and [NewServer]. Moves and positions are text here; what they mean is the
// business of the rules.
//
// Version 1 is stable: fields may be added, receivers ignore those they do not
// know, nothing is renamed. Durations are whole milliseconds (names end in
// _ms), times RFC 3339 in UTC.
package protocol

// Version is the protocol version of every message, in its field "v".
const Version = 1
