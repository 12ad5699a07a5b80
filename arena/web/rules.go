package web

import (
	"html/template"
	"net/http"

	"sparring/game"
	"sparring/game/catalog"
)

// rulesPage is the data of rules.html.
type rulesPage struct {
	Games []choiceLink
	Text  template.HTML
}

// commonRules is the part of the rules that all games share: how a match ends.
const commonRules = "match"

// rulesFile is the file that has the rules of a game for people, in a language. It
// has an anchor for every reason for which the rules end a game.
func rulesFile(lang, name string) string { return "rules/" + name + "." + lang + ".html" }

// rules shows the rules of a game.
func (s *Server) rules(w http.ResponseWriter, r *http.Request) {
	t, name := s.words(r), r.PathValue("game")
	if name == "" {
		name = catalog.Names()[0]
	}
	text, ok := t.site.rules[rulesFile(t.Lang, name)]
	if _, err := catalog.Game(name); err != nil || !ok {
		s.notFound(w, r)
		return
	}
	data := rulesPage{Text: text + t.site.rules[rulesFile(t.Lang, commonRules)]}
	for _, g := range catalog.Names() {
		if _, ok := t.site.rules[rulesFile(t.Lang, g)]; ok {
			data.Games = append(data.Games, choiceLink{t.Or("game."+g, g), "/rules/" + g, g == name})
		}
	}
	s.page(w, r, http.StatusOK, "rules.html", data)
}

// ruleLink returns the address of the rule by which a game ended, "" if the page
// does not have the game's rules.
func (t words) ruleLink(name string, reason game.Reason) string {
	if t.site.rules[rulesFile(t.Lang, name)] == "" || reason == "" {
		return ""
	}
	return "/rules/" + name + "#" + string(reason)
}
