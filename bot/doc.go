// Package bot is the bot process: it takes matches from the queue, decides
// which to play, plays them, thinks on its opponents' time, and writes down
// what happened.
//
// A program needs three steps: a [Config] from the environment, [New], and
// [Bot.Run].
//
// One process acts for one or more players (profiles) over one connection.
// All that it plays goes through one [Ledger] of slots; every game is a
// session, a goroutine of its own that is driven by the platform's snapshots
// and owns all that belongs to the game. Lock order: a player's lock before
// the ledger's; sessions hold none.
package bot
