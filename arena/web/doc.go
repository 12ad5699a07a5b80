// Package web is the page for people: a gateway between browsers and the protocol,
// and the page itself. A person plays through a protocol.Client that the gateway
// keeps for it; the gateway has no rights that another client lacks.
//
//	server     server.go, serve.go, site.go, headers.go, limits.go, metrics.go  addresses, files, headers
//	requests   position.go, qr.go  views of positions; codes of links
//	people     people.go, session.go, names.go, address.go  accounts, sessions, links for other devices
//	pages      pages.go, gamepage.go, rules.go, templates  what can be read without a script
//	hub        hub.go, bounds.go  requests of pages, who serves them, how many from an address
//	sockets    socket.go, outbox.go  one for each tab, with what waits to be sent
//	person     participant.go, act.go  the pulse of a person's seats; moves and other acts
//	games      table.go, tableshow.go  a game that somebody has open, shown to all who have
//	lobby      lobby.go, waiting.go, results.go  opponents, own games, challenges that wait
//	agreements agreements.go, invite.go, again.go  invitations, rematches, games from before the last move
//	analyses   analysis.go, analysisreview.go, analysishint.go  hints and reviews
package web
