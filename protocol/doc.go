// Package protocol defines the messages that platforms and players exchange over
// NATS, their subjects, a client for players and a server for platforms.
// docs/protocol.md describes the protocol for people, docs/asyncapi.yaml for
// machines.
//
// A player starts with [Connect] and [NewClient], a platform with [Connect]
// and [NewServer]. Moves and positions are plain text here. Only the rules know
// what they mean.
//
// Version 1 is stable: fields may be added but are never renamed, and receivers
// ignore fields that they do not know. Durations are whole milliseconds, in
// fields that end in _ms. Times are RFC 3339 in UTC.
package protocol

// Version is the protocol version of every message, in its field "v".
const Version = 1
