package configs

import "embed"

// Levels are levels-GAME.json: how strong the levels of each game were measured
// to be, by `sparring levels calibrate`.
//
//go:embed levels-*.json
var Levels embed.FS
