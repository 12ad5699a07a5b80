// Package otb plays games over the board, on no platform: an operator sits at a table
// with a real board or an organiser's client, enters the opponent's moves, and makes
// ours.
//
// [Game] is the model: what was entered so far, and what follows from it. It has no
// input or output and never reads the time of day. It changes by an [Entry] alone.
// [Table] adds what acts: it journals each entry before it takes effect, runs the
// engine, and carries out the operator's commands. [Plain] and package screen show a
// table on a pipe and on a terminal; both only draw its [View].
//
// # Clocks
//
// Entries have the table's time, and clocks follow from them (Game.Clocks). That time
// begins as the time of day, goes on while the machine sleeps, and does not follow when
// somebody sets the machine's clock. While the program is away the time of day is all
// there is: if that went back, the absence counts for nothing. The clocks are a copy of
// the arbiter's, which the operator corrects them to.
package otb
