package conformance

import (
	"context"
	"time"
)

// platformScenarios are in the order in which they run: those that a platform may not
// survive come last.
var platformScenarios = []scenario[platformTrial]{
	{"hello", "answer a hello with the heartbeat and the limits", "Hello and heartbeats", nil, platformHello},
	{"unknown-peer", "refuse the heartbeat of an unknown instance as unknown-peer", "Hello and heartbeats", nil, platformUnknownPeer},
	{"bad-input", "refuse what is malformed with the right code, and repeat nothing of it", "Refusals", nil, platformBadInput},
	{"names", "not show a display name that turns or hides other text", "Hello and heartbeats", nil, platformNames},
	{"game", "referee a whole game, and tell both players the same", "The game", nil, platformGame},
	{"duplicate", "let a request that comes twice take effect once", "Messages", nil, platformDuplicate},
	{"reorder", "refuse moves for another ply as stale", "The game", nil, platformReorder},
	{"out-of-turn", "refuse a move of the seat that is not to act", "Refusals", nil, platformOutOfTurn},
	{"illegal", "refuse illegal moves, and go on with a legal one", "Refusals", nil, platformIllegal},
	{"wrong-epoch", "refuse requests of another epoch or instance", "Epochs and handover", nil, platformWrongEpoch},
	{"stranger", "refuse requests of a player without a seat in the game", "Refusals", nil, platformStranger},
	{"mismatched-key", "end a game in which the keys differ: void, or in a rated one lost for the mover", "The game", nil, platformMismatchedKey},
	{"agreements", "carry a draw from offer to agreement, and a chat to the opponent", "The game", nil, platformAgreements},
	{"takeback", "return to the position before a move that is taken back by agreement, and give back no time", "The game", nil, platformTakeback},
	{"receipts", "charge a move the time that it took, and say so", "Clocks and receipts", nil, platformReceipts},
	{"lag-claim", "credit a bot nothing for a claimed lag", "Clocks and receipts", nil, platformLagClaim},
	{"flag", "end a game on time, and not too early", "Clocks and receipts", nil, platformFlag},
	{"challenge-twice", "make one game of a challenge that is sent twice", "A challenge; double grants", nil, platformChallengeTwice},
	{"used-id", "never answer with an old game when the id of a challenge is used again", "A challenge", nil, platformUsedID},
	{"withdraw", "list waiting challenges, and offer a withdrawn one to nobody", "A challenge", nil, platformWithdraw},
	{"declined", "tell the challenger that the opponent has declined", "A challenge", nil, platformDeclined},
	{"expired", "tell the challenger that nobody took the challenge in time", "A challenge", nil, platformExpired},
	{"late-accept", "grant a match once, although a late accept comes from another instance", "An offer; double grants", nil, platformLateAccept},
	{"forged-accept", "not believe an accept in another player's name", "An offer", nil, platformForgedAccept},
	{"starvation", "find a player, although a stranger's subscriptions swallow the offers of the pool", "An offer; starved pools", nil, platformStarvation},
	{"resync", "send the state of a game again after a hello", "Hello and heartbeats", nil, platformResync},
	{"silence", "give the seat of an instance whose heartbeats stop to another one", "Epochs and handover", nil, platformSilence},
	{"leave", "give a seat that is given back to another instance", "Epochs and handover", nil, platformLeave},
	{"leave-twice", "not give back a seat for a leave that came before, or comes from another process", "Epochs and handover", nil, platformLeaveTwice},
	{"lost-end", "not list a game as held that ended while its player was away", "Hello and heartbeats; finished games left open (lichess-bot #1223)", nil, platformLostEnd},
	{"half-open", "give the seat of an instance behind a dead connection to another one", "Epochs and handover", nil, platformHalfOpen},
	{"slow-network", "referee a game of players with 50 to 150 ms each way", "Clocks and receipts", nil, platformSlowNetwork},
	{"watch", "publish every event of a game, numbered, with the snapshot after it", "Watching", nil, platformWatch},
	{"watching", "tell a player that watches its own game every move, and again if it has missed one", "The game", nil, platformWatching},
	{"flood", "let a player's flood cost nobody else a seat or a game", "Messages; floods that took all seats", nil, platformFlood},
	{"no-start", "call off a game whose first move does not come", "Clocks and receipts", []need{needSlow}, platformNoStart},
	{"abandoned", "end a game whose seat stays vacant", "Epochs and handover", []need{needSlow}, platformAbandoned},
	{"cut", "go on after its connection to NATS was cut", "For platforms", []need{needProxy}, platformCut},
	{"hang", "charge nobody for three seconds in which its server hung", "Clocks and receipts", []need{needProxy}, platformHang},
	{"pause", "charge nobody for a pause of its process that is longer than the clocks", "Clocks and receipts; pauses of virtual machines", []need{needProgram}, platformPause},
	{"kill", "go on with its games after kill -9, and charge nobody", "Clocks and receipts", []need{needProgram}, platformKill},
	{"kill-at-end", "let an end that was told stand after kill -9", "The game; a finished game that came back to life", []need{needProgram}, platformKillAtEnd},
	{"full-disk", "let every game end by its own moves while the disk is full, and tell no end that it then takes back", "The game; full disks", []need{needDisk}, platformFullDisk},
}

// poll waits until ok returns true.
func (r *platformRig) poll(ctx context.Context, d time.Duration, ok func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, r.eased(d))
	defer cancel()
	for !ok() {
		if err := sleep(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}
