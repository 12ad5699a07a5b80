package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"runtime/pprof"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"sparring/arena"
	"sparring/bot"
	"sparring/configs"
	"sparring/lab/load/fleetbench"
	"sparring/natsserver/embedded"
	"sparring/protocol"
)

// benchStart is the first line that a process of "bench fleet" reads, as JSON.
type benchStart struct {
	fleetbench.Want
	Dir       string            `json:"dir"`
	Bot       int               `json:"bot"`       // which of the bot processes it is, from 0
	URL       string            `json:"url"`       // of the NATS server, but for itself
	Passwords map[string]string `json:"passwords"` // by user
}

// benchAsk is a line that it reads after that. It answers each with one of benchAnswer.
type benchAsk struct {
	Collect bool          `json:"collect"` // collect the garbage first
	Profile string        `json:"profile"` // instead of figures: write profiles to files of this name
	For     time.Duration `json:"for"`     // how long
}

// benchAnswer is a line that it writes: one when it is ready, and one for each that it
// reads.
type benchAnswer struct {
	fleetbench.Stats
	Error     string            `json:"error,omitempty"`
	URL       string            `json:"url,omitempty"` // of the NATS server
	Passwords map[string]string `json:"passwords,omitempty"`
}

// benchPartCommand is one of the processes of "bench fleet". It ends when its standard
// input does, also if the command that started it is killed.
func benchPartCommand() *cobra.Command {
	return &cobra.Command{
		Use: "part nats|arena|bot", Hidden: true, Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			in := bufio.NewScanner(c.InOrStdin())
			in.Buffer(nil, 1<<20)
			out := json.NewEncoder(c.OutOrStdout())
			var start benchStart
			if !in.Scan() {
				return errors.New("bench fleet starts this command")
			}
			if err := json.Unmarshal(in.Bytes(), &start); err != nil {
				return err
			}
			log := newLog(c.ErrOrStderr(), "info")
			ctx, cancel := context.WithCancel(context.WithoutCancel(c.Context())) // Ctrl-C ends the command, and that this process
			defer cancel()
			part := &benchPart{part: fleetbench.Part(args[0])}
			ready, err := part.open(ctx, start, log)
			defer part.close()
			defer cancel()
			if err != nil {
				return errors.Join(err, out.Encode(benchAnswer{Error: err.Error()}))
			}
			if err := out.Encode(ready); err != nil {
				return err
			}
			for in.Scan() {
				var ask benchAsk
				if err := json.Unmarshal(in.Bytes(), &ask); err != nil {
					return err
				}
				ans, err := part.answer(ctx, ask)
				if err != nil {
					ans.Error = err.Error()
				}
				if err := out.Encode(ans); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// benchPart is what runs in a process of "bench fleet".
type benchPart struct {
	part    fleetbench.Part
	figures func(*fleetbench.Stats) error // of its kind
	closing []func()
	running sync.WaitGroup
}

func (p *benchPart) close() {
	p.running.Wait()
	for i := len(p.closing) - 1; i >= 0; i-- {
		p.closing[i]()
	}
}

// open starts what runs in the process.
func (p *benchPart) open(ctx context.Context, start benchStart, log zerolog.Logger) (ready benchAnswer, err error) {
	p.figures = func(*fleetbench.Stats) error { return nil }
	switch p.part {
	case fleetbench.NATSPart:
		return p.openServer(start, log)
	case fleetbench.ArenaPart:
		return ready, p.openArena(ctx, start, log)
	case fleetbench.BotPart:
		return ready, p.openBot(ctx, start, log)
	}
	return ready, fmt.Errorf("%s: want nats, arena or bot", p.part)
}

func (p *benchPart) openServer(start benchStart, log zerolog.Logger) (ready benchAnswer, err error) {
	srv, err := embedded.Start(embedded.Config{Dir: filepath.Join(start.Dir, "nats"), Port: embedded.RandomPort, Owner: true, Log: log})
	if err != nil {
		return ready, err
	}
	p.closing = append(p.closing, srv.Close)
	ready.URL = srv.URL()
	ready.Passwords = map[string]string{}
	for _, user := range []fleetbench.User{fleetbench.Platform, fleetbench.Owner, fleetbench.Bots} {
		ready.Passwords[string(user)] = srv.Password(string(user))
	}
	return ready, nil
}

// connect connects as a user.
func (p *benchPart) connect(start benchStart, u fleetbench.User, log zerolog.Logger) (*nats.Conn, error) {
	nc, err := protocol.Connect(start.connection(u, log))
	if err == nil {
		p.closing = append(p.closing, nc.Close)
	}
	return nc, err
}

func (s *benchStart) connection(u fleetbench.User, log zerolog.Logger) protocol.Connection {
	return protocol.Connection{URL: s.URL, Name: "sparring bench", User: string(u), Password: s.Passwords[string(u)], Log: log}
}

func (p *benchPart) openArena(ctx context.Context, start benchStart, log zerolog.Logger) error {
	nc, err := p.connect(start, fleetbench.Platform, log)
	if err != nil {
		return err
	}
	bare, err := p.connect(start, fleetbench.Platform, log)
	if err != nil {
		return err
	}
	if _, err := bare.Subscribe(fleetbench.BareSubject, func(m *nats.Msg) { m.Respond(m.Data) }); err != nil {
		return err
	}
	cfg := arena.Defaults()
	cfg.Name, cfg.Games = "bench", 2*start.Games+100 // ended games are refereed for a while
	a, err := arena.New(ctx, nc, cfg, log)
	if err != nil {
		return err
	}
	p.running.Go(func() {
		if err := a.Run(ctx); err != nil {
			log.Error().Err(err).Msg("the arena ended")
		}
	})
	p.figures = func(s *fleetbench.Stats) error {
		for _, in := range a.Instances() {
			if strings.HasPrefix(string(in.Hello.Instance), benchInstance) {
				s.Present++
				if in.Hello.Fleet {
					s.Fleet++
				}
			}
		}
		all, err := a.Metrics().(prometheus.Gatherer).Gather()
		for _, family := range all {
			for _, m := range family.GetMetric() {
				switch family.GetName() {
				case "sparring_arena_fleet_survives_losses":
					s.Survives = int(m.GetGauge().GetValue())
				case "sparring_arena_moves_total":
					s.Moves += int64(m.GetCounter().GetValue())
				case "sparring_arena_games_granted_total":
					s.Started += int64(m.GetCounter().GetValue())
					s.Games += int(m.GetCounter().GetValue())
				case "sparring_arena_games_ended_total":
					s.Games -= int(m.GetCounter().GetValue())
				}
			}
		}
		return err
	}
	return nil
}

// benchNodes is the limit of the bots' searches.
const benchNodes = 50

// benchInstance is how the instances of bot processes begin.
const benchInstance = "bench-"

func (p *benchPart) openBot(ctx context.Context, start benchStart, log zerolog.Logger) error {
	user := fleetbench.Owner
	if start.Fleet {
		user = fleetbench.Bots
	}
	nc, err := p.connect(start, user, log)
	if err != nil {
		return err
	}
	var cfg bot.Config
	if err := configs.Defaults(&cfg); err != nil {
		return err
	}
	most := start.Seats[start.Bot]
	cfg.Instance, cfg.Data, cfg.Players = protocol.InstanceID(fmt.Sprint(benchInstance, start.Bot)), start.Dir, nil
	cfg.Slots, cfg.GamesPerCore, cfg.Ponder, cfg.Analyses, cfg.Play.Delay = most, most, false, 0, start.Pace
	cfg.Profiles = filepath.Join(start.Dir, fmt.Sprintf("players-%d.json", start.Bot))
	if err := writeBenchPlayers(cfg.Profiles, start.Want); err != nil {
		return err
	}
	if err := cfg.Validate(); err != nil {
		return err
	}
	b, done, err := newBotWith(nc, cfg, bot.Deps{Log: log, Guest: !start.Fleet})
	if err != nil {
		return err
	}
	p.closing = append(p.closing, done)
	p.running.Go(func() {
		if err := b.Run(ctx); err != nil {
			log.Error().Err(err).Msg("the bot ended")
		}
	})
	p.figures = func(s *fleetbench.Stats) error {
		r := b.Report().Bot
		s.Overhead = fleetbench.Overhead{P50: r.Overhead.P50MS, P99: r.Overhead.P99MS}
		if r.Offered != nil {
			s.Offered = *r.Offered
		}
		s.Seats = []fleetbench.Seats{{Taken: r.Games, Most: most}}
		return nil
	}
	return nil
}

// writeBenchPlayers writes the file of the bot process's players.
func writeBenchPlayers(path string, w fleetbench.Want) error {
	var file struct {
		Players []bot.Profile `json:"players"`
	}
	nodes := uint64(benchNodes)
	if w.Fleet {
		nodes = 0
	}
	for _, id := range w.Players {
		file.Players = append(file.Players, bot.Profile{Player: id, Games: w.Kinds, Nodes: nodes, Pools: []protocol.Pool{protocol.OwnPool(id)}})
	}
	data, err := json.Marshal(file)
	if err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o644)
}

// answer does what a line asks for.
func (p *benchPart) answer(ctx context.Context, ask benchAsk) (ans benchAnswer, err error) {
	if ask.Profile != "" {
		return ans, p.profile(ctx, ask)
	}
	if ask.Collect {
		runtime.GC()
		runtime.GC() // what a sync.Pool holds goes with the second
	}
	if ans.CPU, err = processorTime(); err != nil {
		return ans, err
	}
	// Of the heap, what the last collection found in use: on full cores several megabytes more
	// are allocated before they could be read.
	in := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	metrics.Read(in)
	ans.Live = int64(in[0].Value.Uint64() + in[1].Value.Uint64())
	ans.Resident = residentBytes()
	return ans, p.figures(&ans.Stats)
}

// profile writes the profiles in the background.
func (p *benchPart) profile(ctx context.Context, ask benchAsk) error {
	cpu, err := os.Create(ask.Profile + ".cpu.pprof")
	if err != nil {
		return err
	}
	if err := pprof.StartCPUProfile(cpu); err != nil {
		return errors.Join(err, cpu.Close())
	}
	p.running.Go(func() {
		defer cpu.Close()
		select {
		case <-time.After(ask.For):
		case <-ctx.Done():
		}
		pprof.StopCPUProfile()
		heap, err := os.Create(ask.Profile + ".heap.pprof")
		if err != nil {
			return
		}
		defer heap.Close()
		pprof.WriteHeapProfile(heap) // an incomplete one can't be read, which pprof says
	})
	return nil
}

// residentBytes returns how much of the machine's memory this process has; 0 if the
// system does not say.
func residentBytes() int64 {
	data, err := os.ReadFile("/proc/self/statm")
	var size, resident int64
	if err == nil {
		fmt.Sscan(string(data), &size, &resident)
	}
	return resident * int64(os.Getpagesize())
}
