package elo

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// SPRT is a sequential probability ratio test between two hypotheses on the
// logistic Elo difference. It stops as soon as one of them is sufficiently more
// likely than the other.
type SPRT struct {
	Elo0, Elo1  float64 // Elo0 < Elo1
	Alpha, Beta float64 // probability of accepting Elo1 if Elo0 is true, and vice versa
}

// defaultError is ParseSPRT's default for Alpha and Beta.
const defaultError = 0.05

// ParseSPRT parses "elo0=0,elo1=5", optionally with ",alpha=0.05,beta=0.05".
func ParseSPRT(text string) (SPRT, error) {
	s := SPRT{Elo0: math.NaN(), Elo1: math.NaN(), Alpha: defaultError, Beta: defaultError}
	fields := map[string]*float64{"elo0": &s.Elo0, "elo1": &s.Elo1, "alpha": &s.Alpha, "beta": &s.Beta}
	for part := range strings.SplitSeq(text, ",") {
		key, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		to, ok := fields[key]
		if !ok {
			return SPRT{}, fmt.Errorf("sprt %.60q: no key %.20q (have elo0, elo1, alpha, beta)", text, key)
		}
		v, err := strconv.ParseFloat(value, 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return SPRT{}, fmt.Errorf("sprt %.60q: %s %.20q is not a number", text, key, value)
		}
		*to = v
	}
	switch {
	case !(s.Elo0 < s.Elo1):
		return SPRT{}, fmt.Errorf("sprt %.60q: want elo0 < elo1", text)
	case s.Alpha <= 0 || s.Beta <= 0 || s.Alpha+s.Beta >= 1:
		return SPRT{}, fmt.Errorf("sprt %.60q: want alpha and beta above 0, together below 1", text)
	}
	return s, nil
}

// Verdict is the state of a test.
type Verdict int

// The verdicts.
const (
	Open     Verdict = iota // undecided: continue
	AcceptH0                // the difference is nearer to Elo0
	AcceptH1                // the difference is nearer to Elo1
)

// String returns the verdict in words.
func (v Verdict) String() string {
	return [...]string{"open", "H0 accepted", "H1 accepted"}[v]
}

// Bounds returns the log-likelihood ratios at which the test stops (Wald).
func (s SPRT) Bounds() (lower, upper float64) {
	return math.Log(s.Beta / (1 - s.Alpha)), math.Log((1 - s.Beta) / s.Alpha)
}

// Verdict evaluates the test on the pairs so far.
func (s SPRT) Verdict(p Pairs) Verdict {
	lower, upper := s.Bounds()
	switch llr := s.LLR(p); {
	case llr >= upper:
		return AcceptH1
	case llr <= lower:
		return AcceptH0
	}
	return Open
}

// minCount is the count of an outcome that has not occurred. It keeps all
// likelihoods finite.
const minCount = 1e-3

// LLR returns the generalised log-likelihood ratio of Elo1 to Elo0: each
// hypothesis is represented by its maximum-likelihood distribution of pairs (Van
// den Bergh, "The generalized maximum likelihood ratio for the expectation value
// of a distribution").
func (s SPRT) LLR(p Pairs) float64 {
	if p.Count() == 0 {
		return 0
	}
	var pdf [5]float64
	n := 0.0
	for i, c := range p {
		pdf[i] = math.Max(float64(c), minCount)
		n += pdf[i]
	}
	for i := range pdf {
		pdf[i] /= n
	}
	h0, h1 := maxLikelihood(pdf, ToScore(s.Elo0)), maxLikelihood(pdf, ToScore(s.Elo1))
	sum := 0.0
	for i := range pdf {
		sum += pdf[i] * math.Log(h1[i]/h0[i])
	}
	return n * sum
}

// maxLikelihood returns the distribution with expectation s that maximizes the
// likelihood of pdf: pdf[i] / (1 + x (share(i)-s)) for the x at which the
// expectation is s. That x is the zero of a decreasing function, found by
// bisection to full precision.
func maxLikelihood(pdf [5]float64, s float64) (q [5]float64) {
	excess := func(x float64) (sum float64) {
		for i := range pdf {
			sum += pdf[i] * (share(i) - s) / (1 + x*(share(i)-s))
		}
		return sum
	}
	// All probabilities are positive between the two poles.
	low, high := -1/(1-s), 1/s
	for range 200 {
		mid := (low + high) / 2
		if mid <= low || mid >= high {
			break
		}
		if excess(mid) > 0 {
			low = mid
		} else {
			high = mid
		}
	}
	x := (low + high) / 2
	for i := range pdf {
		q[i] = pdf[i] / (1 + x*(share(i)-s))
	}
	return q
}
