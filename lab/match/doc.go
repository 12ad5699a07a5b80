// Package match is the match runner: it plays pairs of games between players,
// each opening once with either colour, and computes the result with its error.
//
// [Run] plays a match on a [Backend] ([Local] is this process) and maintains a
// [Standing], which [Standing.Write] prints. [OpenFile] stores the games, so that
// an interrupted match can be resumed. Statistics are in package elo, openings in
// package openings.
package match
