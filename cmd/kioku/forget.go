package main

import (
	"bufio"
	"cmp"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"kioku/cmd/kioku/internal/connect"
	"kioku/cmd/kioku/internal/render"
	"kioku/memory"
	"kioku/server"
)

// forgetFlags are those of kioku forget and kioku correct.
type forgetFlags struct {
	memory.Forget
	yes bool
}

func (a *app) forgetCmd() *cobra.Command {
	var f forgetFlags
	cmd := &cobra.Command{
		Use: "forget WHAT", Short: "Forget something wherever it is said",
		Long: "Forget something, said in any words: show the sentences of notes, files and transcripts that say it, ask which are meant, and remove these\n" +
			"from the notes, wherever they stand in the same words. What stands in files that Kioku does not change is not shown any more. No sync,\n" +
			"import, model or old copy brings it back; what you write with append, update or correct holds again. It can be taken back for 30 days.",
		Example: "  kioku forget \"the gate code\"\n  kioku forget --yes \"the gate code\"\n  kioku forget --list\n  kioku forget --undo 20260106T120000Z-1a2b3c4d",
		Args:    cobra.ArbitraryArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.Text = strings.Join(args, " ")
			return a.forget(cmd, f)
		},
	}
	f.add(cmd)
	cmd.Flags().StringVar(&f.Undo, "undo", "", "take back what was forgotten under this `id`")
	cmd.Flags().BoolVar(&f.List, "list", false, "show what was forgotten: when, where, and the id for --undo")
	return cmd
}

func (a *app) correctCmd() *cobra.Command {
	var f forgetFlags
	cmd := &cobra.Command{
		Use: "correct WHAT NEW", Short: "Correct something wherever it is said",
		Long: "Correct something, said in any words: show the sentences that say it, ask which are meant, write NEW in the place of the first of them, and\n" +
			"forget the others as kioku forget does. It can be taken back for 30 days with kioku forget --undo.",
		Example: "  kioku correct \"when are our releases?\" \"Our releases are on Thursdays.\"",
		Args:    cobra.ExactArgs(2), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.Text, f.NewText = args[0], args[1]
			return a.forget(cmd, f)
		},
	}
	f.add(cmd)
	return cmd
}

// add adds the flags to a command.
func (f *forgetFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.BoolVarP(&f.yes, "yes", "y", false, "take all places that certainly say it, without a question")
	fl.StringSliceVar(&f.Places, "place", nil, "take these `places` of --json, without a question")
	fl.StringVar(&f.Reason, "reason", "", "`why`, kept with the text before")
}

// forget finds what is to be forgotten, asks which places are meant, and forgets them.
func (a *app) forget(cmd *cobra.Command, f forgetFlags) error {
	f.Source = memory.NoteFromUser
	return a.with(cmd.Context(), connect.ToAppend, func(c *connect.Client) error {
		ask := func(r memory.Forget) (memory.Forgotten, error) {
			return server.Notes.Forget.Call(cmd.Context(), c.Conn, server.ForgetNotes{OfAgent: c.Of(), Forget: r})
		}
		if f.List {
			past, err := ask(memory.Forget{List: true})
			if err != nil {
				return err
			}
			return a.Write(past, func(p *render.Page) { a.tellForgotten(p, past.Past) })
		}
		if f.Undo == "" && len(f.Places) == 0 {
			found, err := ask(memory.Forget{Text: f.Text})
			if err != nil {
				return err
			}
			if f.Places, err = a.chosen(found, f.yes); err != nil || len(f.Places) == 0 {
				return err
			}
		}
		f.Text = ""
		done, err := ask(f.Forget)
		if err != nil {
			return err
		}
		return a.Write(done, func(p *render.Page) {
			if f.Undo != "" {
				a.Notice("%s was taken back", done.ID)
				return
			}
			showPlaces(p, done.Places, false)
			for _, line := range done.Remaining {
				a.Notice("older versions: %s", line)
			}
			a.Notice("kioku forget --undo %s takes this back, until %s", done.ID, done.Until.Format("2006-01-02"))
		})
	})
}

// tellForgotten writes what was forgotten, a line each.
func (a *app) tellForgotten(p *render.Page, past []memory.PastForgotten) {
	for _, f := range past {
		until := "cannot be taken back"
		if !f.Until.IsZero() {
			until = "until " + f.Until.Format("2006-01-02")
		}
		p.Linef("%s  %s in %s  (%s)  %s", f.ID, render.Count(f.Sentences, "sentence"), cmp.Or(strings.Join(f.Paths, ", "), "files of others"), until, render.CleanLine(f.Reason))
	}
	if len(past) == 0 {
		a.Notice("nothing was forgotten")
	}
}

// chosen returns the places that are meant: those that certainly say it, or those that somebody names at the terminal. With --json and no
// answer it shows them and chooses none.
func (a *app) chosen(found memory.Forgotten, yes bool) (places []string, err error) {
	if len(found.Places) == 0 {
		if a.JSON {
			return nil, a.Write(found, nil)
		}
		a.Notice("nothing says that")
		return nil, nil
	}
	derived := slices.IndexFunc(found.Places, func(p memory.ForgottenPlace) bool { return p.Place == "" }) // they are last, and go with their notes
	if derived < 0 {
		derived = len(found.Places)
	}
	if yes {
		for _, p := range found.Places[:derived] {
			if !p.Weak {
				places = append(places, p.Place)
			}
		}
		if len(places) == 0 {
			return nil, render.Misuse("nothing certainly says that; run it without --yes, and choose")
		}
		return places, nil
	}
	if err := a.Write(found, func(p *render.Page) {
		showPlaces(p, found.Places, true)
		for _, line := range found.Remaining {
			p.Linef("    older versions: %s", line)
		}
	}); err != nil || a.JSON {
		return nil, err
	}
	if in, ok := a.stdin.(*os.File); !ok || !render.IsTerminal(in) {
		return nil, render.Misuse("nothing was forgotten; --yes takes all that certainly say it, --place some of those that --json shows")
	}
	fmt.Fprint(a.Stderr, "Which? Numbers such as 1,3, or all; nothing forgets none: ")
	answer, _ := bufio.NewReader(a.stdin).ReadString('\n') // the end of input means none
	for word := range strings.FieldsFuncSeq(answer, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' || r == '\r' }) {
		n, err := strconv.Atoi(word)
		switch {
		case word == "all":
			n = 0
		case err != nil || n < 1 || n > derived:
			return nil, render.Misuse("%q is no number from 1 to %d; nothing was forgotten", word, derived)
		}
		for i, p := range found.Places[:derived] {
			if (n == 0 || n == i+1) && !slices.Contains(places, p.Place) {
				places = append(places, p.Place)
			}
		}
	}
	if len(places) == 0 {
		a.Notice("nothing was forgotten")
	}
	return places, nil
}

// showPlaces writes places, one a line.
func showPlaces(p *render.Page, places []memory.ForgottenPlace, numbered bool) {
	for i, place := range places {
		if place.Kind == memory.PlaceDerived {
			p.Linef("    derived: %s", render.CleanLine(place.Text))
			continue
		}
		number, after := "", ""
		if numbered {
			number = fmt.Sprintf("%2d. ", i+1)
			if place.Weak {
				after = "  (perhaps)"
			}
		}
		if place.Kind == memory.PlaceOther {
			after += "  (stays in the file, and is not shown any more)"
		}
		p.Linef("%s%s:%d  %s%s", number, place.Path, place.Line, render.CleanLine(place.Text), after)
	}
}
