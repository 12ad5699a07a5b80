// Package mcts is Monte-Carlo tree search with an evaluation in place of
// roll-outs, the second searcher besides the alpha-beta kernel. It works on the
// same [search.Position], so it plays every game that the kernel plays.
//
// Each visit goes down the tree from the root, at each node to the child that
// PUCT prefers (Rosin, "Multi-armed bandits with episode context", 2011; Silver
// et al., "Mastering the game of Go without human knowledge", 2017). Where it
// meets a node without children, it takes the best moves by the game's move order
// as candidates, evaluates the positions after them, and opens those that are then
// best. More are opened as the node's visits grow (progressive widening: Coulom,
// "Computing Elo ratings of move patterns in the game of Go", 2007; Chaslot et al.,
// "Progressive strategies for Monte-Carlo tree search", 2008). Order and evaluation
// also make the policy. The best value goes up the path: into each node's mean, and
// into its minimax value. A node is worth a mixture of the two (Lanctot et al.,
// "Monte Carlo tree search with heuristic evaluations using implicit minimax
// backups", 2014). Proven wins and losses go up exactly (Winands, Björnsson and
// Saito, "Monte-Carlo tree search solver", 2008).
//
// [New] makes a [Searcher] and [Searcher.NewGame] opens a [Game]. The tree
// belongs to the game: the next search begins with what the last one knew of its
// position.
package mcts
