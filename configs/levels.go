package configs

import "embed"

// Levels holds a file levels-GAME.json for each game: the strength of its levels, as
// measured by `sparring levels calibrate`.
//
//go:embed levels-*.json
var Levels embed.FS
