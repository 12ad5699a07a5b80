package level

// Weakest and Strongest are the first and the last level.
const (
	Weakest   = 1
	Strongest = 10
)

// Parameters say how a level differs from the engine in full.
type Parameters struct {
	// Nodes is what a search may take, pondering included.
	Nodes uint64 `json:"nodes"`
	// Notice is how many moves come to mind at all; 0 is every move.
	Notice int `json:"notice,omitempty"`
	// Compare is how many of them are weighed against each other; 0 or 1 is
	// none, the best is played.
	Compare int `json:"compare,omitempty"`
	// Slip is how much their worth is misjudged, in log-odds of winning: the
	// temperature of a softmax over them.
	Slip float64 `json:"slip,omitempty"`
	// Worst bounds the damage of a slip, in log-odds of winning: a move that
	// is this much worse than the best is seen to be. 0 is no bound.
	Worst float64 `json:"worst,omitempty"`
	// Careful: it never misses a win in one, nor hands one to the opponent
	// where it need not.
	Careful bool `json:"careful,omitempty"`
	// Keep: it leaves no piece to a plain capture where it need not, whatever
	// else that may gain. Games without exchanges have no use for it.
	Keep bool `json:"keep,omitempty"`
}

// table is the one place of the parameters, by game; level n is at n-1. They
// were found by `sparring levels calibrate`, changing them until all steps
// came out about even; configs/levels-GAME.json has the measurement. A
// log-odds of one is, in the engine's evaluations, a third of a rook in Xiangqi,
// an open three in Gomoku, five squares in Amazons.
var table = map[string][Strongest]Parameters{
	"xiangqi": {
		{Nodes: 300, Notice: 3, Compare: 3, Slip: 1.65},
		{Nodes: 400, Notice: 5, Compare: 4, Slip: 1},
		{Nodes: 700, Notice: 10, Compare: 6, Slip: 0.6, Worst: 3.3},
		{Nodes: 800, Notice: 16, Compare: 6, Slip: 0.41, Worst: 1.9},
		{Nodes: 1000, Notice: 20, Compare: 5, Slip: 0.33, Worst: 1.2},
		{Nodes: 1300, Compare: 4, Slip: 0.22, Worst: 0.55, Careful: true, Keep: true},
		{Nodes: 2500, Compare: 3, Slip: 0.08, Worst: 0.17, Careful: true, Keep: true},
		{Nodes: 7000, Compare: 2, Slip: 0.055, Worst: 0.11, Careful: true, Keep: true},
		{Nodes: 12000, Careful: true},
		{Nodes: 40000, Careful: true},
	},
	"gomoku": {
		{Nodes: 300, Notice: 4, Compare: 4, Slip: 1.8},
		{Nodes: 500, Notice: 6, Compare: 5, Slip: 1.6},
		{Nodes: 700, Notice: 8, Compare: 6, Slip: 1.2, Worst: 6},
		{Nodes: 700, Notice: 12, Compare: 6, Slip: 0.95, Worst: 4},
		{Nodes: 1000, Notice: 18, Compare: 6, Slip: 0.75, Worst: 2.5},
		{Nodes: 1000, Compare: 5, Slip: 0.5, Worst: 1, Careful: true},
		{Nodes: 1000, Careful: true},
		{Nodes: 3500, Careful: true},
		{Nodes: 12000, Careful: true},
		{Nodes: 40000, Careful: true},
	},
	"amazons": {
		{Nodes: 400, Notice: 5, Compare: 4, Slip: 1.2},
		{Nodes: 500, Notice: 10, Compare: 6, Slip: 0.85},
		{Nodes: 700, Notice: 14, Compare: 6, Slip: 0.7, Worst: 4},
		{Nodes: 900, Notice: 21, Compare: 6, Slip: 0.5, Worst: 2.5},
		{Nodes: 1000, Notice: 48, Compare: 5, Slip: 0.4, Worst: 1.5},
		{Nodes: 1000, Notice: 160, Compare: 5, Slip: 0.35, Worst: 1, Careful: true},
		{Nodes: 1300, Compare: 3, Slip: 0.15, Worst: 0.3, Careful: true},
		{Nodes: 4500, Compare: 2, Slip: 0.1, Worst: 0.2, Careful: true},
		{Nodes: 6000, Careful: true},
		{Nodes: 16000, Careful: true},
	},
}
