// Package bot is the bot process: it takes matches from the queue, decides
// which to play, plays them, thinks on its opponents' time, and records them.
//
// A program needs three steps: a [Config] from the environment, [New], and
// [Bot.Run].
//
// Package policy makes the decisions, without a connection: each player's policy,
// the ledger of slots, the settings of challenges. Package play plays: one session a
// game, with its clock, its searches, its manners towards the opponent, and its
// record. This package is the process around them:
//
//	bot.go          Run: start, drain, stop, and the watchdog of the connection
//	player.go       one account: hello, heartbeats, notices
//	seats.go        the account's games: offers, resumed games, seats given back
//	queue.go        places in the pools' match queues
//	matchmaking.go  own challenges
//	analyst.go      analyses for hints and reviews, in the time that games leave
//	mode.go         running, paused or draining; fleet.go, what the operator is told
//	config.go       settings of the process; profile.go, of each player; reload.go, read again
//
// Imports run bot -> play, policy; neither of the two needs the other.
//
// One process acts for one or more players (a [Profile] each) over one
// connection. Every game reserves a slot in the ledger before anything is
// offered or accepted. No lock is held while another is taken, or a callback
// runs.
package bot
