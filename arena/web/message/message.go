// Package message has what a page and its gateway say to each other over a socket. Each
// message is a JSON object with the field "t", which names its kind. A request has an id of the
// protocol's form, which the page chooses, and is answered by one [Answer] with that id. A request
// that is sent again with the same id takes effect once, so the page repeats what was not
// answered when it has a new socket.
//
// The package knows the forms alone: who may ask for what, and how it is served, is up to the
// gateway.
package message

import (
	"time"

	"sparring/game"
	"sparring/protocol"
	"sparring/record/review"
	"sparring/screen/view"
)

// Requests of the page, by the value of "t":
//
//	ping      is answered by "pong"
//	lobby     on: follow the lobby; sends "lobby" now and after each change
//	open      game: follow a game, as its player or a watcher; sends "state" now and after each change, and to a player the latest notices of kind "chat"
//	close     game: stop following it
//	play      terms, seat, opponent or pool: a challenge; the answer has the game's id
//	withdraw  game: take back a challenge
//	invite    terms, seat: make a link for a friend; the answer has token and url
//	uninvite  token: revoke it; the token, or "invite" as the lobby lists it
//	invited   token: look at an invitation; the answer has terms, the seat of who joins, and who invites; to the latter, url
//	join      token: accept an invitation; the answer has the game's id
//	move      game, ply, move, lag_ms
//	resign    game
//	draw      game, ply, step
//	takeback  game, ply, step: also of a move that ended a casual game
//	chat      game, text
//	ladder    on, terms: wait for a game of the ladder, as long as a page that has sent this is there; the answer has the game if one is running. With since, as "turns" has it: go on waiting, unless the person has left since then. Not on: leave the ladder; with what "page" only this page waits no more
//	rematch   game, step: offer, accept or decline; with seats swapped
//	why       game, from, to: why the rules refuse a move; the answer has a reason
//	hint      game, ply, level 1 to 3: the piece, the point, the line; sends "hint"
//	review    game: analyse a finished game; sends "review" as it proceeds
//	try       game, ply, move: judge a move that somebody tries instead of a mistake; sends "tried"
//	cancel    what: "review", "hint" or "try"
//	name      name: change the display name
type Request struct {
	T  string `json:"t"`
	ID string `json:"id"`

	Game     protocol.GameID   `json:"game,omitempty"`
	Terms    *protocol.Terms   `json:"terms,omitempty"`
	Seat     *game.Seat        `json:"seat,omitempty"` // the sender's; random if absent
	Opponent protocol.PlayerID `json:"opponent,omitempty"`
	Pool     protocol.Pool     `json:"pool,omitempty"`
	Token    string            `json:"token,omitempty"`
	Ply      int               `json:"ply,omitempty"`
	Move     string            `json:"move,omitempty"`
	LagMS    int64             `json:"lag_ms,omitempty"`
	Step     protocol.Step     `json:"step,omitempty"`
	Level    int               `json:"level,omitempty"` // of a hint: 1 the piece, 2 the point, 3 the line
	Text     string            `json:"text,omitempty"`
	Name     string            `json:"name,omitempty"`
	From     string            `json:"from,omitempty"` // points of a refused move, in order; From may have several ("d1d7")
	To       string            `json:"to,omitempty"`
	On       bool              `json:"on,omitempty"`
	Since    time.Time         `json:"since,omitzero"`
	What     string            `json:"what,omitempty"`
	N        int64             `json:"n,omitempty"` // of a ping
}

// Answer answers a request. Code is that of the protocol; Text is for people who
// debug, the page shows its own sentence for the code.
type Answer struct {
	T       string          `json:"t"` // "answer"
	ID      string          `json:"id"`
	Code    protocol.Code   `json:"code"`
	Text    string          `json:"text,omitempty"`
	Reason  string          `json:"reason,omitempty"` // for "why": a key of the dictionaries, "illegal.leg"; absent if nothing is wrong; else of some refusals, such as "absent"
	Game    protocol.GameID `json:"game,omitempty"`
	Token   string          `json:"token,omitempty"`
	URL     string          `json:"url,omitempty"`
	Expires time.Time       `json:"expires,omitzero"`
	// Seq is that of the game after an action: a state with a higher one may have lost what
	// the action offered.
	Seq uint64 `json:"seq,omitempty"`

	// For "invited".
	Terms  *protocol.Terms   `json:"terms,omitempty"`
	Seat   *game.Seat        `json:"seat,omitempty"`   // of the one who joins; random if absent
	Player protocol.PlayerID `json:"player,omitempty"` // who invites
	Name   string            `json:"name,omitempty"`   // of Player, or of who is not here for a live game
}

// Welcome is the first message of a socket.
type Welcome struct {
	T          string            `json:"t"`                // "welcome"
	Player     protocol.PlayerID `json:"player,omitempty"` // absent without a session: such a page can only watch
	Name       string            `json:"name,omitempty"`
	ServerTime time.Time         `json:"server_time"`
	Version    string            `json:"version"` // hash of the page's files; another one than the page's own: reload when idle
}

// Pong answers a ping.
type Pong struct {
	T          string    `json:"t"` // "pong"
	N          int64     `json:"n"`
	ServerTime time.Time `json:"server_time"`
}

// State is the state of a game. The latest one replaces all others of this game;
// drop one with a lower Seq. Snapshot is the protocol's.
type State struct {
	T          string    `json:"t"` // "state"
	Seq        uint64    `json:"seq"`
	ServerTime time.Time `json:"server_time"`
	// You is the seat of this page's player; absent for a watcher.
	You *game.Seat `json:"you,omitempty"`
	protocol.Snapshot
	Receipt *protocol.Receipt `json:"receipt,omitempty"`
	// View describes the position. A watcher's has no legal moves.
	View *view.View `json:"view"`
	// Away says since when nobody has been there for a seat, by seat; null if
	// somebody is. The snapshot says after how long the seat loses (forfeit_ms), and
	// when the game is called off without a first move (first_move_by).
	Away [2]*time.Time `json:"away"`
	// Next is the game that continues this one: a rematch, or the game after a
	// takeback of the last move.
	Next protocol.GameID `json:"next,omitempty"`
	// RematchBy is who has offered a rematch.
	RematchBy *game.Seat `json:"rematch_by,omitempty"`
	Watchers  int        `json:"watchers,omitempty"`
	// Ratings are those of the players after a rated game, by seat, once they are known;
	// null for one that another game has changed since.
	Ratings []*RatingChange `json:"ratings,omitempty"`
	// Private: the game is among people, so it is not listed and shown by its link only.
	Private bool `json:"private,omitempty"`
	// May lists what this page's player may do now: move, resign, draw, takeback,
	// hint, chat, rematch, review. A button is shown for each, and the server refuses the rest.
	May []string `json:"may,omitempty"`
}

// Lobby is what the start page shows.
type Lobby struct {
	T string `json:"t"` // "lobby"
	// Opponents are the bots that take people, strongest last, by game.
	Opponents []Opponent `json:"opponents"`
	Running   int        `json:"running"` // games on the platform
	// Mine are the running games of this player, those with its turn first.
	Mine []Mine `json:"mine,omitempty"`
	// Waiting are its challenges and invitations that wait.
	Waiting []Waiting `json:"waiting,omitempty"`
	// Results are its last results against bots, newest last, to suggest another
	// level: "won", "lost" or "drawn".
	Results []PastResult `json:"results,omitempty"`
	// Ladder are the pools of the ladder; absent where there is none.
	Ladder []LadderPool `json:"ladder,omitempty"`
}

// LadderPool is a game of the ladder, under some rules and with some clock.
type LadderPool struct {
	Terms  protocol.Terms `json:"terms"`
	Bots   bool           `json:"bots,omitempty"`   // people meet bots, too
	Here   int            `json:"here"`             // others who are on it now, free or playing
	Rating *Rating        `json:"rating,omitempty"` // of this player; absent before the first game
}

// Rating is a rating with its error, either way, with 95 % confidence.
type Rating struct {
	Rating int `json:"rating"`
	Error  int `json:"error"`
}

// RatingChange is a rating and what it was before the game.
type RatingChange struct {
	Rating
	Before int `json:"before"`
}

// Turns says in how many running games of the person it is its turn, besides those
// that this page follows, and whether it waits for a game of the ladder. It is sent
// when that changes.
type Turns struct {
	T       string   `json:"t"` // "turns"
	Count   int      `json:"count"`
	Next    *Mine    `json:"next,omitempty"` // the most urgent one
	Seeking *Seeking `json:"seeking,omitempty"`
}

// Seeking is what a person on the ladder waits for, and since when.
type Seeking struct {
	Terms protocol.Terms `json:"terms"`
	Since time.Time      `json:"since"`
}

// Call asks a page that waits for a game of the ladder to say something, such as a
// ping: one that can't is not there.
type Call struct {
	T string `json:"t"` // "call"
}

// Opponent is a bot that takes people.
type Opponent struct {
	Player  protocol.PlayerID `json:"player"`
	Display string            `json:"display,omitempty"`
	Game    string            `json:"game"`
	Rules   []string          `json:"rules,omitempty"`  // empty: all
	Speeds  []string          `json:"speeds,omitempty"` // empty: all
	Level   int               `json:"level,omitempty"`
	Rating  int               `json:"rating,omitempty"` // of a level's player, on the scale of the ladder
	Rated   bool              `json:"rated"`            // takes rated games
	Casual  bool              `json:"casual"`           // takes casual games
	Busy    bool              `json:"busy,omitempty"`
	Resting bool              `json:"resting,omitempty"` // a level whose process does not answer now; it is Busy, too
}

// Mine is a running game of the player.
type Mine struct {
	Game     protocol.GameID `json:"game"`
	Rules    string          `json:"rules"`
	Opponent string          `json:"opponent"`        // display name
	Level    bool            `json:"level,omitempty"` // the opponent is a level, named in both languages
	Clock    string          `json:"clock"`
	Ply      int             `json:"ply"`
	MyTurn   bool            `json:"my_turn"`
	LeftMS   int64           `json:"left_ms,omitempty"` // on the player's clock at Since; 0 if it has no limit
	Since    time.Time       `json:"since"`             // when the turn began, or the clocks stopped
	Running  bool            `json:"running,omitempty"` // the player's clock has run since then
}

// Waiting is a challenge or an invitation that waits. An invitation has Invite, by
// which it can be revoked, and, where its token is still known, Token and URL.
type Waiting struct {
	Invite   string            `json:"invite,omitempty"`
	Game     protocol.GameID   `json:"game,omitempty"`
	Token    string            `json:"token,omitempty"`
	URL      string            `json:"url,omitempty"`
	Terms    protocol.Terms    `json:"terms"`
	Opponent protocol.PlayerID `json:"opponent,omitempty"`
	Expires  time.Time         `json:"expires"`
}

// PastResult is the result of a finished game against a bot.
type PastResult struct {
	Game     string            `json:"game"`
	Opponent protocol.PlayerID `json:"opponent"`
	Level    int               `json:"level,omitempty"`
	Result   string            `json:"result"`
}

// Notice is a notice of the protocol. Besides, a notice of kind "started" tells all
// tabs of a person that a game of the person has begun, and one of kind "chat"
// tells them what the person has written itself. Those of kind "chat" are sent again
// when a page opens the game: drop one whose Game, From and ID are known, and show them in the
// order of Said, which a page that was away does not get them in.
type Notice struct {
	T string `json:"t"` // "notice"
	protocol.Notice
	Ladder bool  `json:"ladder,omitempty"` // the game that has begun is one of the ladder
	Said   int64 `json:"said,omitempty"`   // when a chat message came, in milliseconds since 1970; no two of a person are alike
}

// Hint is the answer to a request for a hint: as much of the line as the level
// of the hint shows.
type Hint struct {
	T     string          `json:"t"` // "hint"
	Game  protocol.GameID `json:"game"`
	Ply   int             `json:"ply"`
	Level int             `json:"level"`
	From  string          `json:"from,omitempty"` // level 1: the point of the piece or, in Gomoku, two corners of a region, as "a1:e5"
	Move  string          `json:"move,omitempty"` // level 2; also level 1 where the best is a choice of an opening procedure
	Line  []string        `json:"line,omitempty"` // level 3, the hint's move first
	Code  protocol.Code   `json:"code,omitempty"` // why there is no hint
}

// Review is the progress and the result of a review. Each message is complete.
type Review struct {
	T     string          `json:"t"` // "review"
	Game  protocol.GameID `json:"game"`
	Done  int             `json:"done"`  // positions analysed
	Total int             `json:"total"` // positions to analyse
	// Plies has one entry for each position, the start position first; entries
	// that are not analysed yet are null.
	Plies []*review.Position `json:"plies"`
	Code  protocol.Code      `json:"code,omitempty"` // why it was broken off; asking again resumes it
}

// Tried judges a move that was tried in a position of a reviewed game.
type Tried struct {
	T     string          `json:"t"` // "tried"
	Game  protocol.GameID `json:"game"`
	Ply   int             `json:"ply"`
	Move  string          `json:"move"`
	Lost  float64         `json:"lost"`
	Class review.Class    `json:"class,omitempty"` // absent: a good move
	Reply []string        `json:"reply,omitempty"` // what refutes it
	Code  protocol.Code   `json:"code,omitempty"`  // why it could not be judged
}
