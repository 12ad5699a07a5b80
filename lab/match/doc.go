// Package match measures players against each other: it plays games in pairs,
// each opening once with either colour, and says how sure the outcome is.
//
// [Run] plays a match on a [Backend] ([Local] is this process) and keeps a
// [Standing], which [Standing.Write] prints; [OpenFile] keeps the games of a
// match that may be interrupted and gone on with. The statistics are in
// package elo, the openings in package openings.
package match
