// Package lookups fits Gomoku's network of look-ups to labelled positions of search
// trees (package trees): it minimizes the error with which the evaluation predicts
// the scores of the searches that labelled them. [Load] reads the positions,
// [Plan.Run] fits, and [Manifest] says how a network file was made.
//
// One goroutine makes all steps in a fixed order, so the same positions and plan give
// the same file on the same type of machine.
package lookups
