// Package trees labels positions of search trees. An evaluation is asked at the leaves
// of a search, and most of these are positions that no game reaches; a fit to them
// teaches it what it will be asked.
//
// [Games] holds the games whose positions the searches start from. [Plan.Run] searches
// some of these, draws positions where the kernel asked for the static evaluation,
// labels each with the score of a search of its own, and appends them to a [File], a
// line for each tree. [Read] reads such files back.
package trees
