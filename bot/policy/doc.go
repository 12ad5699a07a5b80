// Package policy decides which games a bot plays: [Policy] checks offers,
// [Ledger] counts slots, [Matchmaking] says when to challenge whom. It touches
// no connection and starts no game.
package policy
