// Package search is the one alpha-beta kernel. It knows no game: a game
// implements [Position], optionally [StaticExchanger], [KeyPrefetcher] and
// [Prover], and supplies its parameters in [Params].
package search
