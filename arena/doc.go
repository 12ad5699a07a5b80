// Package arena is a platform for Sparring's protocol. Its parts:
//
//	matchmaker  matchmaker.go, fillseats.go, challenges.go, reservations.go  stores challenges, offers them to players, grants games
//	referee     referee.go, refereetell.go, refereewatch.go, inbox.go, seat.go, package livegame  runs one game: rulings, clocks, seats
//	players     players.go, presence.go, hello.go, sameinstance.go, leave.go  answers hello, alive and leave, and knows which instances are present
//	ladder      ladder.go, standings.go, pairer.go, rounds.go, packages glicko and pairing  keeps ratings, and pairs whoever is free
//	history     history.go  lists the finished games of each player
//	gateway     gateway.go  what a gateway in the same process needs
//	store       store.go, journal.go, leases.go, owners.go, record.go, retention.go, erase.go  everything that outlives the process
//	operator    fleet.go, drain.go, operator.go, space.go  what operators are told, and may command
//
// Several arena processes may serve one platform; any of them takes up the
// games of one that dies.
//
// [New] checks or creates the streams; [Arena.Run] serves until its context
// ends. What must not be lost is in JetStream alone:
//
//	<prefix>_challenges  work queue   challenge.>        waiting challenges
//	<prefix>_games       log          game.*.log         the events of every game; the last one suffices to run it
//	<prefix>_records     log          record.>           finished games
//	<prefix>_leases      KV           arena-<id>         an arena, while it lives
//	<prefix>_owners      KV           <game>             the arena that referees it, by that id
//	<prefix>_ladder      KV           ratings and rounds
//	<prefix>_history     KV           <player>           its last finished games, as references to records
//	<prefix>_people      KV           what gateways know of people, and the key that lets them act for them
//
// # Time
//
// A seat's clock runs from the moment its turn is stored and announced until
// its move arrives. Time that the move then waits in the referee, or for the
// store, is not charged. The referee's timer ends a game a short grace after a
// flag falls. Nobody loses before both seats have moved: a game that does not
// start in time is aborted.
//
// A seat that its instance gave back or lost stays on the clock while it is
// vacant, so that the opponent does not wait for free. A handover takes about
// LostAfter, or no time when the seat is given back. Only after a change of referee,
// a restart of the platform or an outage is the clock stopped until a heartbeat of the
// seat to act arrives (at most ResumeWithin); that time is not charged.
//
// An outage is a time in which players may not have reached this process, since it was
// stopped or the NATS server hung. Outages are charged to nobody. Flags fall and seats
// are lost only when everything has arrived that the server had for us before.
//
// In a correspondence game a person keeps the seat while away. It goes to the next
// instance of the person that is present.
//
// # Disk full
//
// When the store has no room for entries, a game continues without its log as long
// as no other arena can have taken it, and a log line says so. No new
// games are granted meanwhile. When there is room again, a snapshot continues
// the log.
//
// # What grows
//
// Logs and records are kept for ever, unless Config.Retention has bounds. The log of a game
// goes as a whole, once its last entry is "recorded"; a record goes after it was rated.
//
// # Ownership
//
// A game belongs to the arena that wrote the last entry of its log. Which arena tries
// to be that is decided by the owner that is stored, as long as that arena renews its
// lease: a running game costs nothing. The first entry of the log decides what
// becomes of a challenge: the grant, or an end (withdrawn, declined, expired).
// Both hold because an entry is appended only at the expected last sequence of
// the game's subject.
package arena
