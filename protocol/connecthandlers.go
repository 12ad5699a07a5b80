package protocol

import (
	"context"
	"errors"
	"net"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"
)

// connectionHandlers log what happens to a connection. They need no lock, since the
// client calls one at a time.
type connectionHandlers struct {
	Connection
	log      zerolog.Logger
	failure  string          // logged last
	denied   map[string]bool // errors of subjects that the user may not use and that were logged
	endWatch func()          // of the credentials
}

// maxDenied is how many different subjects that a user may not use are logged.
const maxDenied = 100

func (h *connectionHandlers) connected(nc *nats.Conn) {
	h.log.Debug().Str("url", nc.ConnectedUrlRedacted()).Msg("connected")
	h.watchCreds()
}

func (h *connectionHandlers) disconnected(_ *nats.Conn, err error) {
	if err != nil {
		h.log.Warn().Err(h.explained(err)).Msg("disconnected")
	}
}

func (h *connectionHandlers) reconnectFailed(_ *nats.Conn, err error) {
	err = h.explained(err)
	if h.isNews(err) {
		h.log.Warn().Err(err).Msg("reconnecting failed; retrying")
	}
}

func (h *connectionHandlers) reconnected(nc *nats.Conn) {
	h.failure = ""
	h.log.Info().Str("url", nc.ConnectedUrlRedacted()).Msg("reconnected")
	h.watchCreds()
}

// asyncError handles an error that belongs to no call.
func (h *connectionHandlers) asyncError(nc *nats.Conn, sub *nats.Subscription, err error) {
	violation := errors.Is(err, nats.ErrPermissionViolation)
	if violation {
		text := err.Error()
		if h.denied[text] || len(h.denied) == maxDenied {
			return // requests are repeated, and would fill the log
		}
		h.denied[text] = true
	}
	switch {
	case errors.Is(err, nats.ErrAuthExpired) && h.renewed():
		h.log.Info().Str("file", h.Creds).Msg("the credentials have expired; connecting with the new ones in the file")
		return
	case refused(err):
		if err = h.explained(err); h.isNews(err) {
			h.log.Error().Err(err).Msg("refused by the server; retrying")
		}
		return
	case violation && h.Denied != nil:
		h.Denied(err)
		return
	}
	level := zerolog.ErrorLevel
	_, network := errors.AsType[*net.OpError](err)
	switch {
	case errors.Is(err, nats.ErrConsumerNotActive) && !nc.IsConnected():
		level = zerolog.DebugLevel // said again every ten seconds; that the connection is lost has been logged
	case network:
		level = zerolog.DebugLevel // said of each write until the loss of the connection is noticed and logged
	}
	e := h.log.WithLevel(level).Err(err)
	if sub != nil {
		e = e.Str("subject", sub.Subject)
	}
	e.Msg("NATS error")
}

// isNews reports whether an attempt to reconnect failed for another reason than the one
// before: the same one would be logged four times a second.
func (h *connectionHandlers) isNews(err error) bool {
	was := h.failure
	h.failure = err.Error()
	return h.failure != was
}

// watchCreds warns before the credentials expire that the connection was made with.
func (h *connectionHandlers) watchCreds() {
	h.endWatch()
	var watching context.Context
	watching, h.endWatch = context.WithCancel(context.Background())
	if h.Creds != "" {
		go h.watchExpiry(watching, h.log)
	}
}
