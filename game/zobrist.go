package game

// Zobrist is entry i of a game's Zobrist table: the SplitMix64 output for
// seed + (i+1)*golden gamma (Steele, Lea, Flood 2014). It is a formula instead
// of a table of random numbers so that clients in any language can compute the
// keys that both sides of a match compare. docs/protocol.md lists the seeds and
// how each game numbers its entries.
func Zobrist(seed, i uint64) uint64 {
	z := seed + (i+1)*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
