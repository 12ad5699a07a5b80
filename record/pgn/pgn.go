// Package pgn reads and writes Xiangqi games in the portable game notation
// that Chinese chess programs share.
package pgn
