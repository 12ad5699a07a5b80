// Package arena is a platform for Sparring's protocol: it stores challenges
// and offers them to players (the matchmaker), referees the games with the
// clocks that count, and keeps ratings (the ladder). Several arena processes
// may serve one platform; any of them takes up the games of one that dies.
//
// [New] checks or makes the streams, [Arena.Run] serves until its context
// ends. What must not be lost lives in JetStream alone:
//
//	<prefix>_challenges  work queue   challenge.>        waiting challenges
//	<prefix>_games       log          game.*.log         every game's events, the last of which suffices to run it
//	<prefix>_records     log          record.>           finished games
//	<prefix>_leases      KV           <game>             who referees it, for as long as it lives
//	<prefix>_ladder      KV           ratings and rounds
//
// A game belongs to whoever wrote the last entry of its log; a lease only
// decides who tries. The fate of a challenge is the first entry of that log:
// the grant, or an end (withdrawn, declined, expired). Both hold because an
// entry is appended only at the expected last sequence of the game's subject.
package arena
