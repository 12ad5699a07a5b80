package xiangqi

// Dead reports whether neither side can win any more, however badly the other
// plays: there are only kings, advisers and elephants, or with them a single
// cannon but no adviser to be its screen. No position of these armies is mate
// or stalemate, as the test works out from every one.
func (b *Board) Dead() bool {
	for _, k := range [3]Kind{Rook, Horse, Pawn} {
		if b.of[MakePiece(Red, k)].Or(b.of[MakePiece(Black, k)]).Any() {
			return false
		}
	}
	cannons := b.of[MakePiece(Red, Cannon)].Or(b.of[MakePiece(Black, Cannon)])
	advisers := b.of[MakePiece(Red, Advisor)].Or(b.of[MakePiece(Black, Advisor)])
	return !cannons.Any() || cannons.Count() == 1 && !advisers.Any()
}
