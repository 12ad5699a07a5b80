package protocol

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"
	"github.com/rs/zerolog"
)

// FleetProcess is a process that answers the operator. Its functions may be called
// concurrently.
type FleetProcess struct {
	Process  ProcessKind
	Instance InstanceID
	Build    string
	// Report fills in what only the process knows. It must be quick.
	Report func() Report
	// Control makes a bot process pause, drain or resume; nil for other processes.
	Control func(v FleetVerb, why string) *Error
	// Abort ends a game without a result; nil for other processes than arenas. It may
	// take long. With the code Unanswered another process answers.
	Abort func(g GameID, why string) Answer
}

// ErrNoFleet is returned by ServeFleet if the user may not answer the operator. The
// process does without.
var ErrNoFleet = errors.New("this user may not answer the operator's requests")

// serviceVersion is the version of the services in NATS micro discovery: that of the
// protocol, since a build has no version of the form that discovery wants.
var serviceVersion = fmt.Sprintf("%d.0.0", Version)

// fleetTimeout bounds the wait for the server when a service starts.
const fleetTimeout = 10 * time.Second

// RunFleet answers the operator until ctx ends, see ServeFleet. It waits for the
// connection, and does without if the user may not answer. Serving, unless it is nil, is
// called when the process answers.
func RunFleet(ctx context.Context, nc *nats.Conn, subjects Subjects, p FleetProcess, log zerolog.Logger, serving func()) {
	for ctx.Err() == nil && Await(ctx, nc) == nil {
		within, cancel := context.WithTimeout(ctx, fleetTimeout)
		stop, err := ServeFleet(within, nc, subjects, p)
		cancel()
		switch {
		case err == nil:
			if serving != nil {
				serving()
			}
			<-ctx.Done()
			stop()
			return
		case errors.Is(err, ErrNoFleet):
			log.Warn().Err(err).Msg("not part of the operator's fleet")
			return
		case ctx.Err() == nil:
			log.Warn().Err(err).Msg("can't answer the operator; trying again")
			select {
			case <-ctx.Done():
			case <-time.After(time.Second):
			}
		}
	}
}

// fleetService answers the operator for one process.
type fleetService struct {
	FleetProcess
	subjects Subjects
	started  time.Time
	host     string
}

// ServeFleet answers the requests of the operator until stop is called, and NATS micro
// discovery: the process is a service sparring-bot or sparring-arena there, whose
// statistics have the report as data. It needs a connection that is up.
func ServeFleet(ctx context.Context, nc *nats.Conn, subjects Subjects, p FleetProcess) (stop func(), err error) {
	f := &fleetService{FleetProcess: p, subjects: subjects, started: time.Now().UTC()}
	f.host, _ = os.Hostname() // "" is shown as unknown
	switch may, err := MaySubscribe(ctx, nc, "", subjects.FleetAll()); {
	case err != nil:
		return nil, fmt.Errorf("fleet: %w", err)
	case len(may) == 0: // each subject of the service would be refused, and logged
		return nil, ErrNoFleet
	}
	replacing.Lock()
	svc, err := micro.AddService(nc, micro.Config{
		Name: "sparring-" + string(p.Process), Version: serviceVersion, Description: "Sparring's " + string(p.Process) + " process",
		Metadata:     map[string]string{"instance": string(p.Instance), "build": p.Build, "prefix": subjects.Prefix(), "host": f.host},
		StatsHandler: f.stats,
	})
	replacing.Unlock()
	if err != nil {
		return nil, fmt.Errorf("fleet: %w", err)
	}
	stop = func() {
		replacing.Lock()
		defer replacing.Unlock()
		svc.Stop() // fails only if the connection is closed, which ends the service too
	}
	endpoint := func(v FleetVerb, subject string, h func(micro.Request)) error {
		return svc.AddEndpoint(string(v), micro.HandlerFunc(h), micro.WithEndpointSubject(subject), micro.WithEndpointQueueGroupDisabled())
	}
	errs := []error{endpoint(FleetReport, subjects.FleetAll(), f.report)}
	if p.Control != nil {
		for _, v := range []FleetVerb{FleetPause, FleetDrain, FleetResume} {
			errs = append(errs, endpoint(v, subjects.FleetBot(p.Instance, v), func(r micro.Request) { f.control(v, r) }))
		}
	}
	if p.Abort != nil {
		errs = append(errs, endpoint(FleetAbort, subjects.FleetGame("*", FleetAbort), f.abort))
	}
	if err := errors.Join(append(errs, flush(ctx, nc))...); err != nil {
		stop()
		return nil, fmt.Errorf("fleet: %w", err)
	}
	return stop, nil
}

// stats returns the data of an endpoint for NATS micro discovery.
func (f *fleetService) stats(e *micro.Endpoint) any {
	if e.Name != string(FleetReport) {
		return nil
	}
	return f.full()
}

// full returns the report of the process.
func (f *fleetService) full() Report {
	r := f.Report()
	r.Process, r.Instance, r.Build, r.Started, r.Host, r.PID = f.Process, f.Instance, f.Build, f.started, f.host, os.Getpid()
	r.Code, r.ServerTime = Accepted, time.Now().UTC()
	return r
}

// read reads a request, or refuses it. What nobody can be told is ignored: anybody can
// have an answer of the platform delivered to any subject of the players' account, but
// that names no inbox.
func (f *fleetService) read(r micro.Request) (m FleetRequest, ok bool) {
	if !replyable(r.Reply()) {
		return m, false
	}
	m, refusal := Decode[FleetRequest](r.Data(), fromPlatform)
	if refusal == nil && m.To != r.Subject() {
		refusal = Refuse(Malformed, "to: not the subject of the message")
	}
	if refusal != nil {
		f.answer(r, readableID(r.Data(), fromPlatform), &Answer{Error: refusal}, nil)
		return m, false
	}
	return m, true
}

// answer completes an answer and sends it; whole contains it, or is nil. A lost one is
// asked for again.
func (f *fleetService) answer(r micro.Request, id string, a *Answer, whole any) {
	a.Header, a.ServerTime, a.Code = Header{V: Version, ID: id}, time.Now().UTC(), Accepted
	if whole == nil || a.Error != nil {
		whole = a
	}
	if a.Error != nil {
		a.Code = a.Error.Code
	}
	data, err := json.Marshal(whole)
	if err == nil {
		r.Respond(data)
	}
}

func (f *fleetService) report(r micro.Request) {
	if m, ok := f.read(r); ok {
		report := f.full()
		f.answer(r, m.ID, &report.Answer, &report)
	}
}

func (f *fleetService) control(v FleetVerb, r micro.Request) {
	m, ok := f.read(r)
	if !ok {
		return
	}
	if !m.Started.IsZero() && !m.Started.Equal(f.started) {
		f.answer(r, m.ID, &Answer{Error: Refuse(Stale, "the process of this report has ended; another one has its id")}, nil)
		return
	}
	if e := f.Control(v, m.Text); e != nil {
		f.answer(r, m.ID, &Answer{Error: e}, nil)
		return
	}
	report := f.full()
	f.answer(r, m.ID, &report.Answer, &report)
}

func (f *fleetService) abort(r micro.Request) {
	g, _, ok := f.subjects.ParseFleetGame(r.Subject())
	if !ok || CheckID("game", g) != nil {
		return // the operator's client sends no such subject
	}
	m, ok := f.read(r)
	if !ok {
		return
	}
	go func() { // it waits for the referee and the store
		if a := f.Abort(g, m.Text); a.Code != Unanswered {
			f.answer(r, m.ID, &a, nil)
		}
	}()
}

// Operator asks the processes of a fleet. It is safe for concurrent use.
type Operator struct{ client *Client }

// NewOperator returns an operator over a connection in the platform's account.
func NewOperator(nc *nats.Conn, subjects Subjects) *Operator {
	return &Operator{&Client{nc: nc, subjects: subjects, warned: make(map[string]time.Time)}}
}

// fromFleet is for reports, which list instances.
var fromFleet = Limits{MessageBytes: 1 << 20, Nesting: 8}

// Reports asks every process for its report, and returns those that come until enough
// is satisfied with them or ctx ends, in the order of arrival. Enough is asked after
// each report and, if it is not nil, from time to time. It returns an error only if it
// can't ask.
func (o *Operator) Reports(ctx context.Context, enough func([]Report) bool) ([]Report, error) {
	nc, subject := o.client.nc, o.client.subjects.FleetAll()
	m := FleetRequest{Header: newHeader(), To: subject}
	data, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	inbox := nc.NewInbox()
	sub, err := nc.SubscribeSync(inbox)
	if err != nil {
		return nil, fmt.Errorf("fleet: %w", err)
	}
	defer sub.Unsubscribe()
	if err := nc.PublishRequest(subject, inbox, data); err != nil {
		return nil, fmt.Errorf("fleet: %w", err)
	}
	var reports []Report
	for ctx.Err() == nil && (enough == nil || !enough(reports)) {
		within, stop := context.WithTimeout(ctx, lookAgain)
		msg, err := sub.NextMsgWithContext(within)
		stop()
		switch {
		case errors.Is(err, nats.ErrConnectionClosed), errors.Is(err, nats.ErrBadSubscription):
			return reports, fmt.Errorf("fleet: %w", err)
		case err != nil: // nothing came; or no bots are there, but perhaps arenas
			continue
		}
		r, refusal := Decode[Report](msg.Data, fromFleet)
		if refusal == nil && r.ID == m.ID && r.Error == nil {
			reports = append(reports, r)
		}
	}
	return reports, nil
}

// lookAgain is how often Reports asks whether it has enough.
const lookAgain = 50 * time.Millisecond

// Control makes a bot process pause, drain or resume, and returns its report after
// that. It repeats the request until ctx ends. The error is an *Error if the process
// refuses, and wraps nats.ErrNoResponders if there is none of this id.
func (o *Operator) Control(ctx context.Context, id InstanceID, v FleetVerb, why string) (Report, error) {
	return o.control(ctx, id, v, FleetRequest{Text: why})
}

// ControlAgain is Control for the process of a report. The error is an *Error with the code
// Stale if another process has its instance id now, which does nothing then.
func (o *Operator) ControlAgain(ctx context.Context, r Report, v FleetVerb, why string) (Report, error) {
	return o.control(ctx, r.Instance, v, FleetRequest{Text: why, Started: r.Started})
}

func (o *Operator) control(ctx context.Context, id InstanceID, v FleetVerb, m FleetRequest) (Report, error) {
	if err := CheckID("instance", id); err != nil {
		return Report{}, err
	}
	subject := o.client.subjects.FleetBot(id, v)
	m.Header, m.To = newHeader(), subject
	return ask(ctx, o.client, subject, m.ID, m, func(a *Report) *Answer { return &a.Answer })
}

// Abort ends a running game without a result. It repeats the request until ctx ends.
// The error is an *Error if the platform refuses.
func (o *Operator) Abort(ctx context.Context, g GameID, why string) error {
	if err := CheckID("game", g); err != nil {
		return err
	}
	subject := o.client.subjects.FleetGame(g, FleetAbort)
	m := FleetRequest{Header: newHeader(), To: subject, Text: why}
	_, err := ask(ctx, o.client, subject, m.ID, m, func(a *Answer) *Answer { return a })
	return err
}
