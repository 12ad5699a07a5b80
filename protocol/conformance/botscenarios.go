package conformance

import (
	"sparring/game"
	"sparring/protocol"
)

// botScenarios are in the order in which they run: those that a bot may not survive
// come last.
var botScenarios = []scenario[botTrial]{
	{"game", "play a whole game: legal moves, their keys, nothing after the end", "The game", nil, botGame},
	{"heartbeats", "send a heartbeat that names its games at least every 1.5 s while it plays", "Epochs and handover", nil, botHeartbeats},
	{"unknown-fields", "ignore fields that it does not know", "Messages", nil, botUnknownFields},
	{"drop", "ask again when states are lost, and play on", "The game", nil, botDrop},
	{"duplicate", "move once, although each state comes twice", "Messages; moves played twice (lichess-bot #869)", nil, botDuplicate},
	{"reorder", "ignore states that are older than one already seen", "Messages", nil, botReorder},
	{"delay", "play on when states come late", "Clocks and receipts", nil, botDelay},
	{"stale-clock", "subtract the age of a state from the clock before it thinks", "Clocks and receipts; time losses of good engines (lichess-bot #90, #300, #669)", nil, botStaleClock},
	{"time-trouble", "move in time with a second left", "Clocks and receipts; time losses of good engines (lichess-bot #172)", nil, botTimeTrouble},
	{"lost-request", "send a move again, with the same id, when no answer comes", "Messages", nil, botLostRequest},
	{"lost-answer", "send no other move when only the answer was lost", "Messages", nil, botLostAnswer},
	{"refusals", "wait and retry after unavailable and rate-limited", "Refusals; request floods (lichess-bot #678, #1135)", nil, botRefusals},
	{"illegal-ruling", "not repeat a move that the platform calls illegal", "Refusals; null moves for ever (lichess-bot #870)", nil, botIllegalRuling},
	{"halt", "send nothing while the game is halted, and play on afterwards", "The game", nil, botHalt},
	{"wrong-key", "survive a state with another key than its position's, and play by its own rules", "The game; repetition disagreements (lichess-bot #221)", nil, botWrongKey},
	{"unstored", "play on while the platform can't store: seq stands still", "The game; a full disk froze bots", nil, botUnstored},
	{"takeback", "play on from the position before moves that are taken back", "The game", nil, botTakeback},
	{"rewind", "go back with a platform that was restored from a backup: seq is lower, seconds later", "Messages; restored platforms", nil, botRewind},
	{"draw-offer", "answer a draw offer at most once, and play on", "The game", nil, botDrawOffer},
	{"forged", "drop states that do not name the subject on which they came", "Messages", nil, botForged},
	{"flood", "play on under thousands of invalid messages", "Messages", nil, botFlood},
	{"forgotten", "say hello when the platform does not know it any more, and play on", "Hello and heartbeats", nil, botForgotten},
	{"handover", "send nothing more when another instance has the seat", "Epochs and handover", nil, botHandover},
	{"wrong-epoch", "stop after a move is refused as stale, although the state that says why is lost", "Epochs and handover", nil, botWrongEpoch},
	{"vacated", "wait while its seat is vacant, and play on in the new epoch when it gets it back", "Epochs and handover", nil, botVacated},
	{"held", "play, or give back, a game that the platform says it holds", "Hello and heartbeats", nil, botHeld},
	{"late-finish", "stop when the game ends while it thinks", "The game; finished games left open (lichess-bot #145, #1067)", nil, botLateFinish},
	{"lost-end", "free the slot of a game whose end was lost", "Hello and heartbeats; finished games left open (gtp2ogs #159)", nil, botLostEnd},
	{"slots", "reserve a slot before it accepts: never more games than it has slots", "An offer; broken concurrency limits (lichess-bot #8, #676, #991)", nil, botSlots},
	{"offer-twice", "count a match that is offered twice once", "An offer; duplicate engines (lichess-bot #523)", nil, botOfferTwice},
	{"no-grant", "free the slot if no grant comes in time", "An offer", nil, botNoGrant},
	{"released", "free the slot as soon as the platform says that nothing comes of a match", "An offer; starvation", nil, botReleased},
	{"double-grant", "not play a match that was granted to another instance", "An offer", nil, botDoubleGrant},
	{"slow-network", "play on through a network with 50 to 150 ms each way", "Clocks and receipts", []need{needProxy}, botSlowNetwork},
	{"cut", "reconnect when the connection is cut in mid-move, and move once", "Connecting", []need{needProxy}, botCut},
	{"hang", "play on after the server has hung for two seconds", "Connecting", []need{needProxy}, botHang},
	{"away", "reconnect when the server was away for three seconds", "Connecting", []need{needProxy}, botAway},
	{"half-open", "notice a dead connection by its missing answers, and reconnect within 30 s", "Connecting; silent death (lichess-bot #222, #1003)", []need{needProxy}, botHalfOpen},
	{"kill", "take its seat again after kill -9 in mid-move", "Epochs and handover", []need{needProgram}, botKill},
	{"pause", "send at most what was under way after a pause in which another instance took the seat", "Epochs and handover", []need{needProgram}, botPause},
	{"drain", "on SIGTERM take no more games, lose none, and end", "Epochs and handover; drains that lose moves (lichess-bot #1010)", []need{needProgram}, botDrain},
}

// enough is how many plies show that a game goes on.
const enough = 8

// endedBy are the reasons for which no game ends that goes on, beside the faults of
// engines.
var endedBy = map[game.Reason]bool{
	protocol.ReasonTime: true, protocol.ReasonResign: true, protocol.ReasonDispute: true, protocol.ReasonAbandoned: true, protocol.ReasonVoid: true,
}
