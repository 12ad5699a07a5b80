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
// # Time
//
// A seat's clock runs from the moment its turn is stored and told until its move
// arrives; what the move then waits in the referee, or for the store, is not
// charged. A flag falls by the referee's timer, a short grace later. Nobody
// loses before both seats have moved: a game that does not start, by its own
// limit or by the flag, is aborted.
//
// A seat that its instance gave back or lost stays on the clock while it is
// vacant: a hand-over takes about LostAfter, nothing when it is given back, and
// the opponent does not wait for free. Only where the platform was the cause, by
// a change of referee or a restart, the clock stands until the seat to act is
// heard again (at most ResumeWithin), and what passed in between is charged to
// nobody.
//
// # Disk full
//
// When the store refuses entries for want of space, a game goes on unlogged as
// long as no other arena can have taken it; a log line says what is not being
// kept. New games are not granted meanwhile. When there is room again, a
// snapshot takes the log up.
//
// # What grows
//
// Logs and records are kept for ever. The log of a game whose last entry is
// "recorded" may be purged (nats stream purge --subject), a few at a time.
//
// # Who owns a game
//
// A game belongs to whoever wrote the last entry of its log; a lease only
// decides who tries. The fate of a challenge is the first entry of that log:
// the grant, or an end (withdrawn, declined, expired). Both hold because an
// entry is appended only at the expected last sequence of the game's subject.
package arena
