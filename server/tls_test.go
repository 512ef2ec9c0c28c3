package server_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"os"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"

	"kioku/internal/testkit"
	kiokuv1 "kioku/proto/kioku/v1"
	"kioku/server"
)

// later is when certificates end that are valid for long.
var later = time.Now().Add(365 * 24 * time.Hour)

// onTLS serves ann to the token tok and to the certificate build.example over TLS, and returns the address and the log.
func onTLS(t *testing.T, files server.TLSFiles) (addr string, log *buffer) {
	t.Helper()
	log = &buffer{}
	certificates, err := server.OpenCertificates(files, logTo(log))
	if err != nil {
		t.Fatal(err)
	}
	opt := server.Options{Agents: map[string]server.Memory{"ann": &fakeMemory{}, "bob": &fakeMemory{}}, Log: logTo(log)}
	opt.Tokens = openTokens(t, tokenLine("tok", "tok", "ann", false), "  - {name: build, san: build.example, agents: bob, write: true}\n")
	l, err := server.ListenTCP("127.0.0.1:0", server.TCPOptions{Tokens: opt.Tokens, TLS: certificates})
	if err != nil {
		t.Fatal(err)
	}
	serve(t, newServer(t, opt), l)
	return l.Addr().String(), log
}

// shows returns the settings of a client that trusts an authority and shows a certificate, unless that is empty.
func shows(t *testing.T, ca *testkit.Authority, cert, key string) *tls.Config {
	t.Helper()
	pem, err := os.ReadFile(ca.File)
	if err != nil {
		t.Fatal(err)
	}
	config := &tls.Config{RootCAs: x509.NewCertPool()}
	config.RootCAs.AppendCertsFromPEM(pem)
	if cert != "" {
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			t.Fatal(err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config
}

// listAgents asks a server over TLS for its agents.
func listAgents(t *testing.T, addr string, config *tls.Config, token string) (string, error) {
	t.Helper()
	conn, err := grpc.NewClient(addr, grpc.WithTransportCredentials(credentials.NewTLS(config)), grpc.WithNoProxy())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ctx := t.Context()
	if token != "" {
		ctx = with(t, token)
	}
	ctx, cancel := context.WithTimeout(ctx, soon)
	defer cancel()
	resp, err := kiokuv1.NewMemoryServiceClient(conn).ListAgents(ctx, &kiokuv1.ListAgentsRequest{})
	var names []string
	for _, a := range resp.GetAgents() {
		names = append(names, a.GetId())
	}
	return strings.Join(names, ","), err
}

func TestTLSServesATokenAndRefusesPlaintext(t *testing.T) {
	t.Parallel()
	ca := testkit.NewAuthority(t)
	cert, key := ca.Issue(t, t.TempDir(), "kioku.example", later)
	addr, _ := onTLS(t, server.TLSFiles{Cert: cert, Key: key})
	if got, err := listAgents(t, addr, shows(t, ca, "", ""), "tok"); got != "ann" || err != nil {
		t.Errorf("agents %q, %v", got, err)
	}
	_, err := listAgents(t, addr, shows(t, ca, "", ""), "")
	wantCode(t, err, codes.Unauthenticated)
	_, err = listAgents(t, addr, shows(t, testkit.NewAuthority(t), "", ""), "tok")
	wantCode(t, err, codes.Unavailable)
	_, err = kiokuv1.NewMemoryServiceClient(dial(t, addr)).ListAgents(with(t, "tok"), &kiokuv1.ListAgentsRequest{})
	wantCode(t, err, codes.Unavailable)
}

// Hazard C09: with mTLS, a client without a certificate, with one of another authority or with an expired one is refused and
// logged; a name of the certificate decides what its holder may do.
func TestMutualTLSMapsNamesOfCertificates(t *testing.T) {
	t.Parallel()
	ca, other := testkit.NewAuthority(t), testkit.NewAuthority(t)
	cert, key := ca.Issue(t, t.TempDir(), "kioku.example", later)
	addr, log := onTLS(t, server.TLSFiles{Cert: cert, Key: key, ClientCA: ca.File})
	issue := func(from *testkit.Authority, name string, ends time.Time) *tls.Config {
		cert, key := from.Issue(t, t.TempDir(), name, ends)
		return shows(t, ca, cert, key)
	}
	if got, err := listAgents(t, addr, issue(ca, "build.example", later), ""); got != "bob" || err != nil {
		t.Errorf("build.example reaches %q, %v; want bob", got, err)
	}
	if got, err := listAgents(t, addr, issue(ca, "build.example", later), "tok"); got != "ann" || err != nil {
		t.Errorf("build.example with a token reaches %q, %v; want ann, as the token does", got, err)
	}
	_, err := listAgents(t, addr, issue(ca, "stranger.example", later), "")
	if status.Code(err) != codes.Unauthenticated || !strings.Contains(err.Error(), "stranger.example") {
		t.Errorf("a name that is not in the token file: %v", err)
	}
	for name, c := range map[string]struct {
		config *tls.Config
		log    string
	}{
		"no certificate":    {shows(t, ca, "", ""), "didn't provide a certificate"},
		"another authority": {issue(other, "build.example", later), "unknown authority"},
		"expired":           {issue(ca, "build.example", time.Now().Add(-time.Minute)), "expired"},
	} {
		_, err := listAgents(t, addr, c.config, "tok")
		if status.Code(err) != codes.Unavailable {
			t.Errorf("%s: %v", name, err)
		}
		eventually(t, func() bool { return strings.Contains(log.String(), c.log) })
	}
}

func TestCertificatesFollowTheirFiles(t *testing.T) {
	t.Parallel()
	old, next := testkit.NewAuthority(t), testkit.NewAuthority(t)
	dir := t.TempDir()
	cert, key := old.Issue(t, dir, "kioku.example", later)
	addr, log := onTLS(t, server.TLSFiles{Cert: cert, Key: key})
	if err := os.WriteFile(cert, []byte("torn"), 0o600); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() bool { return strings.Contains(log.String(), "keeping the old certificates") })
	if _, err := listAgents(t, addr, shows(t, old, "", ""), "tok"); err != nil {
		t.Errorf("with a torn file: %v", err)
	}
	next.Issue(t, dir, "kioku.example", later)
	eventually(t, func() bool { return strings.Contains(log.String(), "read the certificates again") })
	if _, err := listAgents(t, addr, shows(t, next, "", ""), "tok"); err != nil {
		t.Errorf("with the next certificate: %v", err)
	}
}

// eventually waits until a condition holds.
func eventually(t *testing.T, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(soon); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it does not happen")
		}
	}
}

func TestOpenCertificatesWarnsOfTheirEnd(t *testing.T) {
	t.Parallel()
	ca := testkit.NewAuthority(t)
	for _, c := range []struct {
		ends time.Duration
		want string
	}{{13 * 24 * time.Hour, "expires soon"}, {-time.Hour, "has expired"}, {15 * 24 * time.Hour, ""}} {
		cert, key := ca.Issue(t, t.TempDir(), "kioku.example", time.Now().Add(c.ends))
		var log buffer
		if _, err := server.OpenCertificates(server.TLSFiles{Cert: cert, Key: key}, logTo(&log)); err != nil {
			t.Error(err)
		}
		if got := log.String(); (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("a certificate that ends in %v is logged as %q", c.ends, got)
		}
	}
}

func TestOpenCertificatesNamesTheBadFile(t *testing.T) {
	t.Parallel()
	ca := testkit.NewAuthority(t)
	cert, key := ca.Issue(t, t.TempDir(), "kioku.example", later)
	_, otherKey := ca.Issue(t, t.TempDir(), "kioku.example", later)
	for _, c := range []struct {
		files server.TLSFiles
		want  string
	}{
		{server.TLSFiles{Cert: "/none.pem", Key: key}, "/none.pem"},
		{server.TLSFiles{Cert: cert, Key: t.TempDir()}, "is a folder"},
		{server.TLSFiles{Cert: cert, Key: otherKey}, "does not match"},
		{server.TLSFiles{Cert: cert, Key: key, ClientCA: key}, "contains no certificate"},
	} {
		if _, err := server.OpenCertificates(c.files, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.files, err, c.want)
		}
	}
}

// Hazard C07: an address that other machines can reach needs TLS, or the word that plaintext is meant.
func TestListenTCPNeedsTLSForAnOpenAddress(t *testing.T) {
	t.Parallel()
	tokens := openTokens(t, tokenLine("a", "a", "main", false))
	_, err := server.ListenTCP("0.0.0.0:0", server.TCPOptions{Tokens: tokens})
	if err == nil || !strings.Contains(err.Error(), "--insecure-plaintext") || !strings.Contains(err.Error(), "tls.cert") {
		t.Errorf("without TLS: %v", err)
	}
	ca := testkit.NewAuthority(t)
	cert, key := ca.Issue(t, t.TempDir(), "kioku.example", later)
	certificates, err := server.OpenCertificates(server.TLSFiles{Cert: cert, Key: key}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, opt := range []server.TCPOptions{{Tokens: tokens, TLS: certificates}, {Tokens: tokens, InsecurePlaintext: true}} {
		l, err := server.ListenTCP("0.0.0.0:0", opt)
		if err != nil {
			t.Fatal(err)
		}
		if l.Plaintext() != (opt.TLS == nil) {
			t.Errorf("Plaintext() = %v with TLS %v", l.Plaintext(), opt.TLS != nil)
		}
		l.Close()
	}
}
