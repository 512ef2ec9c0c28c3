package main

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"kioku/bench"
	"kioku/cmd/kioku/config"
	"kioku/cmd/kioku/internal/render"
	"kioku/internal/text"
	"kioku/server"
)

// tokenReport is an entry in the output of kioku token --json.
type tokenReport struct {
	// Name of the caller.
	Name string `json:"name"`
	// Token is the new token, only after kioku token add without --san; it is stored nowhere.
	Token string `json:"token,omitempty"`
	// SAN is the name in the caller's certificate, "" for a caller with a token.
	SAN string `json:"san"`
	// Agents that the caller may use, "*" for all.
	Agents []string `json:"agents"`
	// Write is the right to write.
	Write bool `json:"write"`
	// Council are the rights in the council of the daemon, such as read, submit, owner or worker:NAME.
	Council []string `json:"council,omitempty"`
	// Expires is the time from which on the entry is not valid, "" for never, and Expired whether that is over.
	Expires string `json:"expires"`
	Expired bool   `json:"expired"`
}

func newTokenReport(e server.TokenEntry) tokenReport {
	r := tokenReport{Name: e.Name, SAN: e.SAN, Agents: e.Agents, Write: e.Write, Council: e.Council}
	if !e.Expires.IsZero() {
		r.Expires, r.Expired = e.Expires.UTC().Format(time.RFC3339), !time.Now().Before(e.Expires)
	}
	return r
}

func (a *app) tokenCmd() *cobra.Command {
	cmd := group(&cobra.Command{
		Use: "token", Short: "Add, list and revoke the tokens that may connect",
		Long: "Edit the token file: tokenFile of the settings, else tokens.yaml beside the config file. It has only hashes of tokens. A\n" +
			"running daemon that uses the file notices a change within a second; calls of a revoked token end.",
	}, a.tokenAddCmd(), a.tokenListCmd(), a.tokenRevokeCmd())
	cmd.PersistentFlags().Var(&setting{app: a, name: "token-file", key: "tokenFile"}, "token-file", "token `file` to edit")
	return cmd
}

func (a *app) tokenAddCmd() *cobra.Command {
	var e server.TokenEntry
	var expires string
	cmd := &cobra.Command{
		Use: "add NAME", Short: "Make a token and print it, once", Args: cobra.ExactArgs(1), ValidArgsFunction: cobra.NoFileCompletions,
		Long: "Make a token that may use some agents, and print it. It is stored nowhere, so copy it now. With --san no token is made: who\n" +
			"has a certificate with that name may use the agents.",
		Example: "  kioku token add laptop --agents main,work --write\n  kioku token add ci --agents work --expires 2027-01-31\n" +
			"  kioku token add build --agents work --san build.example.org",
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if e.Name = args[0]; len(e.Agents) == 0 && len(e.Council) == 0 {
				return render.Misuse(`name the agents that %s may use: --agents main,work, or --agents "*" for all`, e.Name)
			}
			if expires != "" {
				if e.Expires, err = server.ParseExpiry(expires); err != nil {
					return render.Misuse("--%w", err)
				}
				if e.Expires.Before(time.Now()) {
					return render.Misuse("--expires %s is past; nobody could use the token", expires)
				}
			}
			return a.addToken(cmd, e)
		},
	}
	cmd.Flags().StringSliceVar(&e.Agents, "agents", nil, "`ids` of the agents that it may use, * for all")
	cmd.Flags().BoolVar(&e.Write, "write", false, "may write notes too")
	cmd.Flags().StringSliceVar(&e.Council, "council", nil, "`rights` in the council: read, submit, owner, member:NAME, worker:NAME, bridge:PLATFORM")
	cmd.Flags().StringVar(&e.SAN, "san", "", "a `name` in the client's certificate, in place of a token")
	cmd.Flags().StringVar(&expires, "expires", "", "last `day` (2027-01-31), or a time")
	_ = cmd.RegisterFlagCompletionFunc("agents", a.completeAgents) // the flag exists
	return cmd
}

func (a *app) addToken(cmd *cobra.Command, e server.TokenEntry) error {
	conf, err := a.commonConfig()
	if err != nil {
		return err
	}
	known := knownAgents(cmd.Context(), conf)
	for _, id := range e.Agents {
		if id != "*" && conf.Store == "" && config.CheckAgent(id) == nil && !slices.Contains(known, id) { // a cluster has others
			return render.Misuse("there is no agent %s, only %s; kioku config set agents.%s.workspace FOLDER makes it", id, strings.Join(known, ", "), id)
		}
	}
	r, err := a.makeToken(cmd.Context(), e)
	if err != nil {
		return err
	}
	return a.Write(r, func(p *render.Page) {
		if r.Token != "" {
			p.Linef("%s", r.Token)
		}
	})
}

// makeToken adds an entry to the token file and returns it, with its token if it is not for a certificate.
func (a *app) makeToken(ctx context.Context, e server.TokenEntry) (tokenReport, error) {
	r := newTokenReport(e)
	path, used, err := a.tokenFile()
	if err != nil {
		return r, err
	}
	if e.SAN == "" {
		r.Token = server.NewToken()
	}
	if err := server.AddToken(ctx, path, e, r.Token); err != nil {
		return r, err
	}
	a.Notice("added %s to %s: %s", e.Name, path, r.rights())
	if !used {
		a.Notice("no daemon uses the file yet; next: kioku config set tokenFile %s, and restart the daemon", render.ShellQuote(path))
	}
	return r, nil
}

// rights says what a caller may do.
func (r tokenReport) rights() string {
	may := "may read "
	if r.Write {
		may = "may read and write "
	}
	until := ""
	if r.Expires != "" {
		until = " until " + r.Expires
	}
	if len(r.Agents) == 0 {
		may = "may use no agent"
	}
	if len(r.Council) > 0 {
		until = "; in the council " + strings.Join(r.Council, ", ") + until
	}
	return may + strings.Join(r.Agents, ", ") + until
}

// tokenFile returns the token file, and whether the settings name it.
func (a *app) tokenFile() (path string, used bool, err error) {
	conf, err := a.commonConfig()
	if err != nil {
		return "", false, err
	}
	if conf.TokenFile != "" {
		return conf.TokenFile, true, nil
	}
	file := config.FilePath(a.sources())
	if file == "" {
		return "", false, render.Misuse("no folder for the token file: HOME is not set; name one with --token-file")
	}
	return filepath.Join(filepath.Dir(file), "tokens.yaml"), false, nil
}

// readTokens returns the entries of the token file; none if there is no file.
func (a *app) readTokens() (path string, list []tokenReport, err error) {
	path, _, err = a.tokenFile()
	if err != nil {
		return path, nil, err
	}
	entries, err := server.ReadTokenFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		a.Notice("there is no token file at %s yet; kioku token add makes it", path)
		err = nil
	}
	list = []tokenReport{}
	for _, e := range entries {
		list = append(list, newTokenReport(e))
	}
	return path, list, err
}

func (a *app) tokenListCmd() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List who may connect, without the tokens", Args: cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(*cobra.Command, []string) error {
			_, list, err := a.readTokens()
			if err != nil {
				return err
			}
			return a.Write(list, func(p *render.Page) { tellTokens(p, list) })
		},
	}
}

// tellTokens adds a table of tokens.
func tellTokens(p *render.Page, list []tokenReport) {
	if len(list) == 0 {
		return
	}
	t := bench.Table{Head: []string{"NAME", "AGENTS", "RIGHTS", "BY", "EXPIRES"}}
	for _, r := range list {
		rights, by, expires := "read", "token", "never"
		if r.Write {
			rights = "read, write"
		}
		if r.SAN != "" {
			by = "certificate " + r.SAN
		}
		if r.Expires != "" {
			expires = r.Expires
		}
		if r.Expired {
			expires += " (expired)"
		}
		t.Rows = append(t.Rows, bench.TableRow{Cells: []string{r.Name, strings.Join(r.Agents, ","), rights, by, expires}})
	}
	p.Table(t)
}

func (a *app) tokenRevokeCmd() *cobra.Command {
	return &cobra.Command{
		Use: "revoke NAME", Short: "Remove a token or certificate name; its calls end", Args: cobra.ExactArgs(1),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) (names []string, _ cobra.ShellCompDirective) {
			if _, list, err := a.readTokens(); err == nil && len(args) == 0 {
				for _, r := range list {
					names = append(names, r.Name+"\t"+r.rights())
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			path, list, err := a.readTokens()
			if err != nil {
				return err
			}
			i := slices.IndexFunc(list, func(r tokenReport) bool { return r.Name == args[0] })
			if i < 0 {
				return a.noToken(args[0], list)
			}
			if err := server.RevokeToken(cmd.Context(), path, args[0]); err != nil {
				return err
			}
			return a.Write(list[i], func(p *render.Page) { p.Linef("revoked %s", args[0]) })
		},
	}
}

// noToken returns the error of a name that the token file does not have.
func (a *app) noToken(name string, list []tokenReport) error {
	var names []string
	for _, r := range list {
		names = append(names, r.Name)
	}
	if near := text.Nearest(name, names); near != "" {
		return render.Misuse("there is no token %s; did you mean %s?", name, near)
	}
	return render.Misuse("there is no token %s; kioku token list shows all", name)
}
