// Package elo is the statistics of matches that are played in pairs of games,
// each opening once with either colour. The points of a pair are one of five
// numbers (the "pentanomial" count), and their spread says how sure a result
// is: two games from one opening are not independent, so the spread of single
// games would say too much or too little.
package elo

import "math"

// Pairs counts pairs of games by the points that the player made in them: 0,
// ½, 1, 1½ and 2.
type Pairs [5]int

// Add counts a pair in which the player made so many half points, 0 to 4.
func (p *Pairs) Add(halves int) { p[halves]++ }

// Count is the number of pairs.
func (p Pairs) Count() int { return p[0] + p[1] + p[2] + p[3] + p[4] }

// Turned is the count as the opponent has it.
func (p Pairs) Turned() Pairs { return Pairs{p[4], p[3], p[2], p[1], p[0]} }

// share is the points of outcome i as a share of the pair's two.
func share(i int) float64 { return float64(i) / 4 }

// Score is the share of the points made, 0 to 1; ½ where there are no pairs.
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

// Variance is that of a single pair's share of the points, as counted.
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

// unmet is the squared deviation of one pair that came out quite otherwise,
// which sigma counts besides those that were played: a few pairs that are all
// alike prove little, and many outweigh it.
const unmet = 0.25

// sigma is the standard deviation of Score.
func (p Pairs) sigma() float64 {
	n := math.Max(float64(p.Count()), 1)
	return math.Sqrt((p.Variance() + unmet/n) / n)
}

// Z95 is the half width of the interval that holds 95 % of a normal
// distribution, in standard deviations.
const Z95 = 1.959963984540054

// Interval is the 95 % interval of Score, within 0 to 1.
func (p Pairs) Interval() (low, high float64) {
	if p.Count() < 2 {
		return 0, 1 // one pair has no spread
	}
	s, d := p.Score(), Z95*p.sigma()
	return max(s-d, 0), min(s+d, 1)
}

// Diff is a difference of strength in Elo, and half of the width of its 95 %
// interval. Either may be infinite.
type Diff struct{ Elo, Error float64 }

// Elo is the logistic difference that the score stands for; its error follows
// from the spread of the pairs.
func (p Pairs) Elo() Diff {
	low, high := p.Interval()
	d := Diff{FromScore(p.Score()), (FromScore(high) - FromScore(low)) / 2}
	return d
}

// Normalized is the difference in units of the spread of a single game, scaled
// to agree with Elo where few games are drawn. A test needs the same number of
// games for the same normalized difference, whatever the openings and clocks
// (Van den Bergh, "Normalized Elo").
func (p Pairs) Normalized() Diff {
	sigma := math.Sqrt(2 * p.Variance()) // of a game
	if sigma == 0 || p.Count() == 0 {
		return Diff{0, math.Inf(1)}
	}
	const unit = 800 / math.Ln10
	return Diff{unit * (p.Score() - 0.5) / sigma, unit * Z95 / math.Sqrt(2*float64(p.Count()))}
}

// LOS is the likelihood that the player is the stronger one, 0 to 1.
func (p Pairs) LOS() float64 {
	sigma, lead := p.sigma(), p.Score()-0.5
	switch {
	case p.Count() < 2:
		return 0.5
	}
	return 0.5 * math.Erfc(-lead/sigma/math.Sqrt2)
}

// FromScore is the Elo difference of a share of the points; infinite at 0 and 1.
func FromScore(s float64) float64 { return 400 * math.Log10(s/(1-s)) }

// ToScore is the share of the points that an Elo difference promises.
func ToScore(elo float64) float64 { return 1 / (1 + math.Pow(10, -elo/400)) }
