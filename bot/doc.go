// Package bot is the bot process: it takes matches from the queue, decides
// which to play, plays them, thinks on its opponents' time, and writes down
// what happened.
//
// A program needs three steps: a [Config] from the environment, [New], and
// [Bot.Run].
//
// One process acts for one or more players (a [Profile] each) over one
// connection. It reserves in one ledger of slots before anything is offered or
// accepted. Every game is a session, a goroutine of its own that is driven by
// the platform's snapshots and owns all that belongs to the game; others hand
// it states, words and functions, and what they share with it is atomic.
//
// No lock is held while another is taken, or a callback runs.
package bot
