package engine

import (
	"sparring/engine/amazons"
	"sparring/engine/gomoku"
	"sparring/engine/xiangqi"
)

// adapters maps a game's name to what it adds to the kernel. An opening
// procedure (swap and the like) is no business of the kernel, where turns
// alternate: what decides its choices stands above, and asks for searches of
// their outcomes.
var adapters = map[string]adapter{
	"amazons": {position: amazons.New, params: amazons.Params, length: 80},
	"xiangqi": {position: xiangqi.New, params: xiangqi.Params, length: 90, selfLoss: true, probing: xiangqi.Probing, evaluations: xiangqi.Evaluations()},
	"gomoku":  {position: gomoku.New, params: gomoku.Params, length: 60, selfLoss: true},
}
