package level

import "sparring/engine/adapter"

// Weakest and Strongest are the first and the last level.
const (
	Weakest   = 1
	Strongest = adapter.Levels
)

// Parameters say how a level differs from the engine at full strength. Each
// game's are in its adapter.
type Parameters = adapter.LevelParameters
