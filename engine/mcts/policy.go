package mcts

import (
	"math"

	"sparring/engine/search"
)

// The policy's probability of a move falls by a factor of e for each
// MCTSParams.Temperature in the move order, and again for each EvalTemperature in
// the evaluation. It is normalized over the candidates that were opened together.

// policySteps is how finely exp is tabulated, for each Temperature; below
// policyRange of them a probability is as good as 0.
const (
	policySteps = 64
	policyRange = 12
)

// policyWeights has exp(-i/policySteps) in units of 1/priorOne.
var policyWeights = func() (w [policySteps * policyRange]uint32) {
	for i := range w {
		w[i] = uint32(math.Round(priorOne * math.Exp(-float64(i)/policySteps)))
	}
	return w
}()

// minPrior is the least probability of a move: a policy can be wrong.
const minPrior = priorOne / 1000

// setPriors sets the priors of candidates, of which the first has the best score.
func setPriors(candidates []candidate, params *search.Params) {
	order, eval := int64(params.MCTS.Temperature), max(int64(params.MCTS.EvalTemperature)*int64(params.WinScale)/100, 1)
	weight := func(c *candidate) uint64 {
		i := int64(c.order)*policySteps/order + int64(candidates[0].score-c.score)*policySteps/eval
		if i >= int64(len(policyWeights)) {
			return 0
		}
		return uint64(policyWeights[i])
	}
	total := uint64(1)
	for i := range candidates {
		total += weight(&candidates[i])
	}
	for i := range candidates {
		candidates[i].prior = uint16(max(weight(&candidates[i])*priorOne/total, minPrior))
	}
}
