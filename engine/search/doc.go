// Package search is the one alpha-beta kernel. It knows no game: a game comes
// as a [Position], data in [Params], and optional powers ([Exchanger],
// [Prover]).
package search
