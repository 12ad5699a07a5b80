// Package book is opening books: what was played in a position of the opening
// and how it ended. [Open] finds books, [With] makes a searcher play from
// them; a [Builder] makes a book from games and teaches it by others.
//
// # Positions
//
// A position is known by its 64-bit key and nothing else. Where the board can
// be laid on itself (Xiangqi's mirror image, the eight symmetries of a square)
// a position and its images are one: the least of their keys stands for all,
// and of the moves that are then the same the least number. A book is for a
// [Family] of rule sets, so that lines of Renju never answer a game of
// freestyle Gomoku.
//
// # Weights
//
// A move has its wins, draws and losses for the side that plays it, what
// finished games have taught since (Learnt), and a [Preference] of the author.
// With N games its score and weight are
//
//	score  = (wins + draws/2 + 8*0.4) / (N + 8) + learnt
//	weight = (N + 1) * exp(10*(score - 0.5)) * 2^preference
//
// The prior of eight games at 40 % keeps a move that won its only game behind
// one that scored well in many; the factor e for each tenth of a point prefers
// what scores, N what the players who knew better chose. A move is drawn in
// proportion to weight^(1/temperature). Not drawn at all are moves that the
// author avoids; those that nobody prefers and that were played in too few
// games, score below 35 % or weigh less than a hundredth of the heaviest; and
// moves that are illegal, lose at once or bring back an earlier position of the
// game.
//
// # Learning
//
// A game that a seat lost takes 0.15 off the score of that seat's last move
// that the book knew, half as much off the one before, and so on: the blame
// lies where the book was left, and the first moves, which thousands of games
// have tried, hardly feel it. A win adds as much. Learnt stays within 0.3
// either way, so that two losses in a row are enough to drop a line, and
// results at the board outweigh it in the long run.
package book
