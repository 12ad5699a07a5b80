// Package policy decides which games a bot plays: [Policy] checks offers, [Ledger]
// counts slots, [Matchmaking] configures challenges. It neither uses a connection
// nor starts games.
package policy
