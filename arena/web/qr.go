package web

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"rsc.io/qr"

	"sparring/protocol"
)

// ownLink matches the addresses that people pass on.
var ownLink = regexp.MustCompile(`^/(link|invite|game)/[a-z0-9_-]{1,64}$`)

// qrCode serves an address of this page as a QR code. Others are refused: the
// page must not lend its name to them.
func (s *Server) qrCode(w http.ResponseWriter, r *http.Request) {
	path := r.URL.Query().Get("path")
	if !ownLink.MatchString(path) {
		s.refuse(w, r, http.StatusBadRequest, protocol.Malformed, "want the path of a link of this page")
		return
	}
	code, err := qr.Encode(s.baseURL(r)+path, qr.M)
	if err != nil { // the host's name is too long
		s.refuse(w, r, http.StatusBadRequest, protocol.TooLarge, "the address is too long for a QR code")
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	s.send(w, r, http.StatusOK, kinds[".svg"], drawQR(code))
}

// quiet is the empty margin around a QR code, which readers need.
const quiet = 4

// drawQR draws a code as SVG, black on white in every theme.
func drawQR(code *qr.Code) []byte {
	var path strings.Builder
	for y := range code.Size {
		for x := 0; x < code.Size; x++ {
			from := x
			for x < code.Size && code.Black(x, y) {
				x++
			}
			if x > from {
				fmt.Fprintf(&path, "M%d %dh%dv1h-%dz", from+quiet, y+quiet, x-from, x-from)
			}
		}
	}
	size := code.Size + 2*quiet
	return fmt.Appendf(nil, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" shape-rendering="crispEdges"><path fill="#fff" d="M0 0h%dv%dH0z"/><path d="%s"/></svg>`,
		size, size, size, size, path.String())
}
