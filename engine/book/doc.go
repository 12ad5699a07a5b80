// Package book implements opening books: which moves were played in a position of
// the opening, and how the games ended. [Open] finds books, and [With] makes a
// searcher play from them; a [Builder] makes a book from games and updates it with
// the results of others.
//
// # Positions
//
// A position is identified by its 64-bit key alone. If the board has symmetries
// (the mirror image in Xiangqi, the eight symmetries of a square), a position and
// its images are one entry, stored under the lowest of their keys; of the moves that
// are then equivalent, the lowest number is stored. A book is for a [Family] of rule
// sets, so that lines of Renju are never played in a game of freestyle Gomoku.
//
// # Weights
//
// A move has its wins, draws and losses for the side that plays it, an adjustment
// by the games played since (Learnt), and a [Preference] of the author. With N games
// its score and weight are
//
//	score  = (wins + draws/2 + 8*0.4) / (N + 8) + learnt
//	weight = (N + 1) * exp(10*(score - 0.5)) * 2^preference
//
// The prior of eight games at 40 % ranks a move that won its only game behind one
// that scored well in many. The exponential prefers moves that score well, by a
// factor e for each tenth of a point; N prefers the moves that strong players chose.
// A move is chosen with a probability proportional to weight^(1/temperature). Never
// chosen are moves that the author avoids; moves without a preference that were
// played in too few games, score below 35 % or weigh less than a hundredth of the
// heaviest; and moves that are illegal, lose at once or repeat an earlier position
// of the game.
//
// # Learning
//
// A lost game takes 0.15 off the score of the loser's last move in the book, half
// as much off the one before, and so on: the last book move is most to blame, and
// the first moves, which thousands of games have tested, hardly change. A win adds
// as much. Learnt stays between -0.3 and 0.3, so that two losses in a row are enough
// to drop a line, and many results over the board still outweigh it.
package book
