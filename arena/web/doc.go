// Package web is the page for people: a gateway between browsers and the protocol,
// and the page itself. A person plays through a protocol.Client that the gateway
// keeps for it; the gateway has no rights that another client lacks.
package web
