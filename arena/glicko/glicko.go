// Package glicko is the Glicko-2 rating system: Mark E. Glickman, "Example of
// the Glicko-2 system", 2022 (glicko.net/glicko/glicko2.pdf). The steps below
// carry the paper's numbers.
package glicko

import "math"

// Rating of a player on the Glicko scale.
type Rating struct {
	Rating     float64 `json:"rating"`
	Deviation  float64 `json:"deviation"`  // of the rating; 95 % lie within two of them
	Volatility float64 `json:"volatility"` // how much the player's strength is expected to change per period
}

// Start is the rating of a new player.
var Start = Rating{Rating: 1500, Deviation: 350, Volatility: 0.06}

// Provisional is the deviation from which a rating is uncertain.
const Provisional = 110

// System is the choice that the paper leaves open: Tau bounds how fast
// volatilities change; 0.3 to 1.2 are sensible.
type System struct{ Tau float64 }

// Default has the value that lichess uses.
var Default = System{Tau: 0.75}

// Game is one result of a rating period: the opponent as it was before the
// period, and the score: 1, 0.5 or 0.
type Game struct {
	Opponent Rating
	Score    float64
}

const (
	scale      = 173.7178 // Glicko points to the Glicko-2 scale
	epsilon    = 1e-6     // convergence of the volatility
	iterations = 100      // far beyond what the regula falsi needs
)

// Update returns the player's rating after a period with these games, in any number.
func (s System) Update(r Rating, games []Game) Rating {
	// Step 2: to the Glicko-2 scale.
	mu, phi := (r.Rating-1500)/scale, r.Deviation/scale
	if len(games) == 0 { // without games the rating only becomes less certain
		r.Deviation = scale * math.Hypot(phi, r.Volatility)
		return r
	}
	// Steps 3 and 4: the variance of the games, and the improvement they suggest.
	var information, gain float64
	for _, game := range games {
		muJ, phiJ := (game.Opponent.Rating-1500)/scale, game.Opponent.Deviation/scale
		g := 1 / math.Sqrt(1+3*phiJ*phiJ/(math.Pi*math.Pi))
		e := 1 / (1 + math.Exp(-g*(mu-muJ)))
		information += g * g * e * (1 - e)
		gain += g * (game.Score - e)
	}
	v := 1 / information
	delta := v * gain
	// Step 5: the new volatility.
	sigma := s.volatility(r.Volatility, delta, phi, v)
	// Steps 6 and 7: the new deviation and rating.
	phi = 1 / math.Sqrt(1/(phi*phi+sigma*sigma)+1/v)
	mu += phi * phi * gain
	// Step 8: back to the Glicko scale.
	return Rating{Rating: scale*mu + 1500, Deviation: scale * phi, Volatility: sigma}
}

// volatility finds the zero of the paper's f by the Illinois variant of regula
// falsi.
func (s System) volatility(sigma, delta, phi, v float64) float64 {
	a := math.Log(sigma * sigma)
	f := func(x float64) float64 {
		ex := math.Exp(x)
		d := phi*phi + v + ex
		return ex*(delta*delta-d)/(2*d*d) - (x-a)/(s.Tau*s.Tau)
	}
	lo := a
	var hi float64
	if delta*delta > phi*phi+v {
		hi = math.Log(delta*delta - phi*phi - v)
	} else {
		k := 1.0
		for f(a-k*s.Tau) < 0 {
			k++
		}
		hi = a - k*s.Tau
	}
	fLo, fHi := f(lo), f(hi)
	for n := 0; math.Abs(hi-lo) > epsilon && n < iterations; n++ {
		mid := lo + (lo-hi)*fLo/(fHi-fLo)
		fMid := f(mid)
		if fMid*fHi <= 0 {
			lo, fLo = hi, fHi
		} else {
			fLo /= 2
		}
		hi, fHi = mid, fMid
	}
	return math.Exp(lo / 2)
}
