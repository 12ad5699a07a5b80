// Package elo computes the statistics of matches played in pairs of games, each
// opening once with either colour. The points of a pair take one of five values
// (the pentanomial model). Errors are computed from pairs because two games from
// one opening are not independent.
package elo

import "math"

// Pairs counts pairs of games by the points that the player scored in them: 0,
// ½, 1, 1½ and 2. A game without a partner counts as a pair in which both games ended
// alike: Score, Interval, Elo and LOS are then those of single games (the trinomial
// model), Normalized is not.
type Pairs [5]int

// Add counts a pair in which the player scored the given half points, 0 to 4.
func (p *Pairs) Add(halves int) { p[halves]++ }

// Count returns the number of pairs.
func (p Pairs) Count() int { return p[0] + p[1] + p[2] + p[3] + p[4] }

// Turned returns the counts from the opponent's side.
func (p Pairs) Turned() Pairs { return Pairs{p[4], p[3], p[2], p[1], p[0]} }

// share returns the points of outcome i as a fraction of the pair's two points.
func share(i int) float64 { return float64(i) / 4 }

// Score returns the fraction of points scored, 0 to 1; ½ without pairs.
func (p Pairs) Score() float64 {
	n := p.Count()
	if n == 0 {
		return 0.5
	}
	sum := 0.0
	for i, c := range p {
		sum += share(i) * float64(c)
	}
	return sum / float64(n)
}

// Variance returns the sample variance of a pair's score.
func (p Pairs) Variance() float64 {
	n := p.Count()
	if n == 0 {
		return 0
	}
	mean, sum := p.Score(), 0.0
	for i, c := range p {
		sum += (share(i) - mean) * (share(i) - mean) * float64(c)
	}
	return sum / float64(n)
}

// PriorDeviation is the squared deviation, in shares of the points, of one additional,
// opposite pair that errors assume: a few identical pairs prove little, and many outweigh it.
const PriorDeviation = 0.25

// sigma returns the standard error of Score.
func (p Pairs) sigma() float64 {
	n := math.Max(float64(p.Count()), 1)
	return math.Sqrt((p.Variance() + PriorDeviation/n) / n)
}

// Z95 is the half width of the interval that holds 95 % of a normal
// distribution, in standard deviations.
const Z95 = 1.959963984540054

// Interval returns the 95 % confidence interval of Score, within 0 to 1.
func (p Pairs) Interval() (low, high float64) {
	if p.Count() < 2 {
		return 0, 1 // one pair has no variance
	}
	s, d := p.Score(), Z95*p.sigma()
	return max(s-d, 0), min(s+d, 1)
}

// Diff is a difference in Elo and half the width of its 95 % confidence
// interval. Either may be infinite.
type Diff struct{ Elo, Error float64 }

// Elo returns the logistic Elo difference of the score. Its error comes from the
// variance of the pairs.
func (p Pairs) Elo() Diff {
	low, high := p.Interval()
	return Diff{FromScore(p.Score()), (FromScore(high) - FromScore(low)) / 2}
}

// Needed returns the number of pairs with which the error of Elo would be about the given one,
// if they went on as these; NaN where the score is 0 or 1.
func (p Pairs) Needed(error float64) float64 {
	s, v := p.Score(), p.Variance()
	sigma := error / Z95 * s * (1 - s) * math.Ln10 / 400 // sigma² = (v + PriorDeviation/n) / n
	return (v + math.Sqrt(v*v+4*sigma*sigma*PriorDeviation)) / (2 * sigma * sigma)
}

// EloInterval returns the ends of the 95 % confidence interval of the Elo difference,
// those of Interval in Elo. They are infinite where the score's are 0 and 1.
func (p Pairs) EloInterval() (low, high float64) {
	a, b := p.Interval()
	return FromScore(a), FromScore(b)
}

// Normalized returns the difference in units of the standard deviation of a
// single game, scaled to agree with Elo if few games are drawn. A test needs the
// same number of games for the same normalized difference, whatever the openings
// and time controls (Van den Bergh, "Normalized Elo").
func (p Pairs) Normalized() Diff {
	sigma := math.Sqrt(2 * p.Variance()) // of a single game; 0 without pairs
	if sigma == 0 {
		return Diff{0, math.Inf(1)}
	}
	const unit = 800 / math.Ln10
	return Diff{unit * (p.Score() - 0.5) / sigma, unit * Z95 / math.Sqrt(2*float64(p.Count()))}
}

// LOS returns the likelihood of superiority: the probability that the player is
// the stronger one.
func (p Pairs) LOS() float64 {
	if p.Count() < 2 {
		return 0.5
	}
	return 0.5 * math.Erfc(-(p.Score()-0.5)/p.sigma()/math.Sqrt2)
}

// FromScore returns the Elo difference of a score; infinite at 0 and 1.
func FromScore(s float64) float64 { return 400 * math.Log10(s/(1-s)) }

// ToScore returns the expected score of an Elo difference.
func ToScore(elo float64) float64 { return 1 / (1 + math.Pow(10, -elo/400)) }
