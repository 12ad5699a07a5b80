// Package campaign plays many matches for a long time, such as a night, and says
// what has changed since the last time.
//
// [Parse] reads the file of a campaign, [Open] opens its folder, [Campaign.Run]
// plays what is missing, and [Campaign.Summary] tells the state of things; package
// report makes a page of it. The folder has a journal and a result file of package
// match for each two players under one set of conditions. A process may be killed at
// any moment: a game counts once it is in its file, and only then.
package campaign
