// Package search is the one alpha-beta kernel. It knows no game: a game
// implements [Position], optionally [StaticExchanger], [KeyPrefetcher] and
// [Prover], and supplies its parameters in [Params].
//
// [New] makes a [Kernel], [Kernel.NewGame] opens a [Game] on it, and
// [Game.Start] searches a position of that game. What the searches learn
// belongs to the game; [GameOptions] say whether it also has its own hash
// table, and whether each of its searches starts afresh, for moves that can be
// reproduced.
package search
