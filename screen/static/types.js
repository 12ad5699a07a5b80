// @ts-check
// The messages between page and gateway, as arena/web/message/message.go and
// screen/view define them. This file is for the type checker: no page loads it.

/** @typedef {"first"|"second"} Seat */
/** @typedef {"connecting"|"connected"|"lost"} Connection */
/** @typedef {{result: "none"|"first"|"second"|"draw", reason?: string}} Outcome */
/** @typedef {{game: string, rules: string, position?: string, clock: string, rated: boolean, strict?: boolean}} Terms */
/** @typedef {{left_ms: number, periods?: number}} SeatClock */
/** @typedef {{seats: [SeatClock, SeatClock], running?: Seat, used_ms?: number}} Clocks */
/** @typedef {{player: string, display?: string, kind: "bot"|"human", rating?: number, build?: string, instance?: string, epoch: number}} Holder */
/** @typedef {{procedure: string, step: string, seat: Seat, left: number, stone: number, reach?: number, fifths?: number}} Stage */

/**
 * @typedef {object} View
 * @property {string} game
 * @property {string} rules
 * @property {number} columns
 * @property {number} rows
 * @property {number} first_row
 * @property {number} ply
 * @property {Seat} [turn]
 * @property {Record<string, string>} pieces
 * @property {[string, string]} sides
 * @property {string[]} moves
 * @property {string[]} [choices]
 * @property {Stage} [stage]
 * @property {[number, number]} [score]
 * @property {{point: string, kind: "double-three"|"double-four"|"overline"}[]} [forbidden]
 * @property {string} [check]
 * @property {Record<string, Outcome>} [ends]
 * @property {string[]} [row] the points of the row that has won
 * @property {string} [last]
 * @property {Record<string, string[]>} [written]
 * @property {Outcome} outcome
 * @property {string} key
 * @property {string} position
 */

/**
 * @typedef {object} State
 * @property {"state"} t
 * @property {number} seq
 * @property {string} server_time
 * @property {Seat} [you]
 * @property {string} game
 * @property {Terms} terms
 * @property {string} started
 * @property {[Holder, Holder]} holders
 * @property {string[]} moves
 * @property {Seat} turn
 * @property {Clocks} clocks
 * @property {Seat} [draw_by]
 * @property {Seat} [takeback_by]
 * @property {"playing"|"halted"|"finished"} status
 * @property {Outcome} outcome
 * @property {View} view
 * @property {[string|null, string|null]} away
 * @property {number} [forfeit_ms]
 * @property {string} [first_move_by]
 * @property {string} [next]
 * @property {Seat} [rematch_by]
 * @property {string} [pool] "ladder.xiangqi": a game of the ladder
 * @property {(RatingChange|null)[]} [ratings] by seat
 * @property {{ply: number, lag_ms: number}} [receipt] of the last move
 * @property {number} [watchers]
 * @property {boolean} [private]
 * @property {string[]} [may]
 */

/**
 * @typedef {object} Opponent
 * @property {string} player
 * @property {string} [display]
 * @property {string} game
 * @property {string[]} [rules]
 * @property {string[]} [speeds]
 * @property {number} [level]
 * @property {number} [rating] of a level's player
 * @property {boolean} rated
 * @property {boolean} casual
 * @property {boolean} [busy]
 * @property {boolean} [resting] its process does not answer now
 */

/** @typedef {{game: string, rules: string, opponent: string, level?: boolean, clock: string, ply: number, my_turn: boolean, left_ms?: number, since: string, running?: boolean}} Mine */
/** @typedef {{invite?: string, game?: string, token?: string, url?: string, terms: Terms, opponent?: string, expires: string}} Waiting */
/** @typedef {{rating: number, error: number}} Rating */
/** @typedef {Rating & {before: number}} RatingChange */
/** @typedef {{terms: Terms, bots?: boolean, here: number, rating?: Rating}} LadderPool */
/** @typedef {{terms: Terms, since: string}} Seeking */
/** @typedef {{t: "turns", count: number, next?: Mine, seeking?: Seeking}} Turns */
/** @typedef {{game: string, opponent: string, level?: number, result: "won"|"lost"|"drawn"}} PastResult */
/** @typedef {{t: "lobby", opponents: Opponent[]|null, running: number, mine?: Mine[], waiting?: Waiting[], results?: PastResult[], ladder?: LadderPool[]}} Lobby */
/** @typedef {{t: "welcome", player?: string, name?: string, server_time: string, version: string}} Welcome */
/** @typedef {{t: "answer", id: string, code: string, text?: string, reason?: string, game?: string, token?: string, url?: string, expires?: string, seq?: number, terms?: Terms, seat?: Seat, player?: string, name?: string}} Answer */
/** @typedef {{t: "notice", kind: string, id?: string, game?: string, from?: string, reason?: string, text?: string, ladder?: boolean, said?: number}} Notice */

/** @typedef {(key: string, vars?: Record<string, string|number>) => string} Translate */
/** @typedef {{t: string, id?: string, [field: string]: any}} Request */

/**
 * What a screen is given.
 * @typedef {object} Page
 * @property {import("./socket.js").Socket} socket
 * @property {Translate} t
 * @property {(path: string, replace?: boolean) => Promise<void>} go follows a link inside the page
 * @property {Welcome|null} me
 * @property {Seeking} [seeking] what the person waits for on the ladder, as the gateway said last
 * @property {boolean} idle nobody plays on this page
 * @property {() => Promise<void>} session makes a guest of a visitor who has no session yet
 * @property {(f: () => void) => void} later calls f when the connection has nothing else to do; never for a visitor who wants to save data
 * @property {(ends: boolean) => void} forget forgets that this browser has a session, because the visitor ends it; false: it could not be ended
 * @property {() => boolean} renew loads the page anew if its files have changed; false if that does not help
 */

/** @typedef {{close(): void, idle?: boolean}} Screen */

export {};
