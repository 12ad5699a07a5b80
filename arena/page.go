package arena

import (
	_ "embed"
	"html/template"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"sparring/game"
	"sparring/game/catalog"
	"sparring/game/clock"
	"sparring/protocol"
)

//go:embed page.html
var pageText string

var page = template.Must(template.New("page").Parse(pageText))

// shownGames is how many games the page lists.
const shownGames = 200

// Handler serves /healthz (200 while players are served), /metrics (Prometheus)
// and, on /, a page with the running games and the ladder. It is read-only and
// shows no secrets, but is not meant for the internet.
func (a *Arena) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", a.health)
	mux.Handle("GET /metrics", promhttp.HandlerFor(a.metrics.registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /{$}", a.page)
	return mux
}

func (a *Arena) health(w http.ResponseWriter, _ *http.Request) {
	select {
	case <-a.serving:
	default:
		http.Error(w, "starting", http.StatusServiceUnavailable)
		return
	}
	if a.life.Err() != nil {
		http.Error(w, "stopped", http.StatusServiceUnavailable)
		return
	}
	if !a.nc.IsConnected() {
		http.Error(w, "no connection to NATS: "+a.nc.Status().String(), http.StatusServiceUnavailable)
		return
	}
	a.mu.Lock()
	checks := a.checks
	a.mu.Unlock()
	for _, check := range checks {
		if err := check(); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
	}
	w.Write([]byte("ok\n"))
}

type shownGame struct {
	ID    protocol.GameID
	Rules string
	Clock clock.Spec
	Seats [2]shownSeat
	Ply   int
	Last  string
}

type shownSeat struct {
	Name   string
	Left   time.Duration
	ToAct  bool
	Vacant bool
}

type shownLadder struct {
	Game      string
	Standings []Standing
}

func (a *Arena) page(w http.ResponseWriter, _ *http.Request) {
	var data struct {
		Games   []shownGame
		More    int
		Ladders []shownLadder
	}
	running := a.index.running()
	data.More = max(len(running)-shownGames, 0)
	for _, e := range running[:len(running)-data.More] {
		data.Games = append(data.Games, show(e, time.Now()))
	}
	for _, g := range catalog.Games() {
		if s := a.Standings(g.Name); len(s) > 0 {
			data.Ladders = append(data.Ladders, shownLadder{g.Name, s})
		}
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
	if err := page.Execute(w, data); err != nil {
		a.log.Debug().Err(err).Msg("page not sent")
	}
}

// show returns a game as it stands now, from the last entry of its log.
func show(e protocol.Event, now time.Time) shownGame {
	g := shownGame{ID: e.Game, Rules: e.Terms.Rules, Clock: e.Terms.Clock, Ply: len(e.Moves)}
	if g.Ply > 0 {
		g.Last = e.Moves[g.Ply-1]
	}
	for i, h := range e.Holders {
		left, _ := e.Terms.Clock.Budget(e.Clocks.Seats[i].State())
		if e.Turn == game.Seat(i) {
			left -= time.Duration(e.Clocks.UsedMS) * time.Millisecond
		}
		if r := e.Clocks.Running; r != nil && int(*r) == i {
			left = left - now.Sub(e.RunningSince)
		}
		g.Seats[i] = shownSeat{Name: h.Display, Left: max(left, 0).Round(100 * time.Millisecond), ToAct: e.Turn == game.Seat(i), Vacant: h.Instance == ""}
		if h.Display == "" {
			g.Seats[i].Name = string(h.Player)
		}
	}
	return g
}
