package protocol

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
)

// ErrAnalystLost is returned by Server.Analyse when every analyst that took the
// request fell silent.
var ErrAnalystLost = errors.New("no analyst finished the analysis")

// Timeouts and limits of Server.Analyse.
const (
	analystSilence  = 4 * AnalysisPulse // without an answer: the analyst has died
	analysisGrace   = 5 * time.Second   // beyond the budget of time
	cancelWait      = time.Second       // for the last answer after a cancellation
	analystTries    = 3                 // analysts that may fall silent
	analystReturn   = 10 * time.Second  // for the only one to connect again
	busyPause       = 200 * time.Millisecond
	maxBusyPause    = 2 * time.Second
	maxAnalyses     = 1024 // answers to one request
	pendingAnalyses = 256  // answers that wait to be read
)

// Analyse asks an analyst for the best lines of a position and returns its last
// answer. Update, if not nil, is called with each answer before it. It fills in
// the header of the request.
//
// It asks another analyst if one falls silent, shuts down or is busy. If all are
// busy it asks again until ctx ends; a hint thus waits for a place, if ctx lets it.
// The error wraps nats.ErrNoResponders, at once, if nobody analyses this game, or
// if nobody has come back a while after the only analyst was lost;
// ErrAnalystLost; or an *Error, the analyst's refusal. When ctx ends, Analyse
// cancels the analysis and returns the cause.
func (s *Server) Analyse(ctx context.Context, gameName string, r AnalysisRequest, update func(Analysis)) (Analysis, error) {
	if err := CheckID("game", gameName); err != nil {
		return Analysis{}, err
	}
	lost, pause := 0, busyPause
	var lostAt time.Time
	again := func() error {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause):
		}
		pause = min(2*pause, maxBusyPause)
		return nil
	}
	for {
		if ctx.Err() != nil {
			return Analysis{}, context.Cause(ctx)
		}
		r.Header = newHeader()
		if err := r.Check(); err != nil {
			return Analysis{}, err
		}
		a, err := s.analyseOnce(ctx, gameName, r, update)
		refusal, _ := errors.AsType[*Error](err)
		switch {
		case err == nil, ctx.Err() != nil:
			return a, err
		case refusal != nil && (refusal.Code == CodeBusy || refusal.Code == Unavailable):
			if ended := again(); ended != nil {
				return Analysis{}, fmt.Errorf("%w: %w", refusal, ended)
			}
		case errors.Is(err, nats.ErrNoResponders) && lost > 0 && time.Since(lostAt) < analystReturn:
			// The one that fell silent has lost its connection, and reconnects.
			if ended := again(); ended != nil {
				return Analysis{}, fmt.Errorf("%w: %w", err, ended)
			}
		case errors.Is(err, ErrAnalystLost):
			if lost++; lost == analystTries {
				return Analysis{}, err
			}
			lostAt = time.Now()
			s.log.Warn().Str("game_name", gameName).Msg("an analyst fell silent; asking another")
		default:
			return Analysis{}, err
		}
	}
}

// analyseOnce asks one analyst.
func (s *Server) analyseOnce(ctx context.Context, gameName string, r AnalysisRequest, update func(Analysis)) (Analysis, error) {
	if r.Moves == nil {
		r.Moves = []string{}
	}
	data, err := json.Marshal(r)
	if err != nil {
		return Analysis{}, err
	}
	inbox := s.nc.NewInbox()
	sub, err := s.nc.SubscribeSync(inbox)
	if err != nil {
		return Analysis{}, err
	}
	defer sub.Unsubscribe()
	if err := sub.SetPendingLimits(pendingAnalyses, pendingAnalyses*s.limits.MessageBytes); err != nil {
		return Analysis{}, err
	}
	if err := s.nc.PublishRequest(s.subjects.Analyse(gameName), inbox, data); err != nil {
		return Analysis{}, err
	}
	total := time.Duration(r.TimeMS)*time.Millisecond + analysisGrace
	within, stop := context.WithTimeoutCause(ctx, total, ErrAnalystLost)
	defer stop()
	for n := 0; n < maxAnalyses; {
		a, err := s.nextAnalysis(within, sub, r.ID, analystSilence)
		switch {
		case errors.Is(err, errInvalidAnalysis):
			n++
			continue
		case err != nil:
			if !errors.Is(err, nats.ErrNoResponders) {
				s.cancelAnalysis(gameName, r.ID, sub)
			}
			return Analysis{}, err
		case a.Error != nil:
			return a, a.Error
		case a.Final:
			return a, nil
		}
		n++
		if update != nil {
			update(a)
		}
	}
	s.cancelAnalysis(gameName, r.ID, sub)
	return Analysis{}, fmt.Errorf("%w: more than %d answers", ErrAnalystLost, maxAnalyses)
}

var errInvalidAnalysis = errors.New("invalid analysis")

// nextAnalysis waits for the next answer with this id. It returns
// errInvalidAnalysis for another, and ErrAnalystLost after silence.
func (s *Server) nextAnalysis(ctx context.Context, sub *nats.Subscription, id string, silence time.Duration) (Analysis, error) {
	wait, stop := context.WithTimeoutCause(ctx, silence, ErrAnalystLost)
	defer stop()
	msg, err := sub.NextMsgWithContext(wait)
	switch {
	case errors.Is(err, nats.ErrNoResponders):
		return Analysis{}, fmt.Errorf("analysis: %w", err)
	case wait.Err() != nil && err != nil:
		return Analysis{}, context.Cause(wait)
	case errors.Is(err, nats.ErrSlowConsumer): // it lost answers that a later one replaces
		return Analysis{}, errInvalidAnalysis
	case err != nil:
		return Analysis{}, err
	}
	a, refusal := Decode[Analysis](msg.Data, s.limits)
	if refusal != nil || a.ID != id {
		s.note(request{From: From{Player: "analyst", Arrived: time.Now()}, msg: msg}, Refuse(Malformed, "invalid analysis: %v", errorOrNil(refusal)))
		return Analysis{}, errInvalidAnalysis
	}
	return a, nil
}

// cancelAnalysis cancels an analysis and waits for the last answer. An analyst
// hears the cancellation from its first answer on; one that has not answered yet
// is told again with each answer.
func (s *Server) cancelAnalysis(gameName, id string, sub *nats.Subscription) {
	ctx, stop := context.WithTimeout(context.Background(), cancelWait)
	defer stop()
	data, err := json.Marshal(AnalysisCancel{Header{V: Version, ID: id}})
	if err != nil {
		return
	}
	for {
		if err := s.nc.Publish(s.subjects.AnalyseCancel(gameName, id), data); err != nil {
			return
		}
		a, err := s.nextAnalysis(ctx, sub, id, cancelWait)
		if err != nil && !errors.Is(err, errInvalidAnalysis) || a.Final {
			return
		}
	}
}
