package server

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"

	"kioku/internal/files"
)

// TLSFiles are the PEM files of a server's certificate.
type TLSFiles struct {
	// Cert is the certificate with its chain, and Key its private key.
	Cert, Key string
	// ClientCA are the authorities whose certificates clients must have; empty demands none of them.
	ClientCA string
}

const (
	// expirySoon is the time before the end of a certificate from which on warnings are logged, every expiryPause.
	expirySoon  = 14 * 24 * time.Hour
	expiryPause = 24 * time.Hour
)

// Certificates are the certificate and the client authorities of a server, as their files contain them. A change of the files
// takes effect within a second for new connections; while the files cannot be used, the certificates before the change stay.
type Certificates struct {
	files TLSFiles
	log   *slog.Logger

	// mu guards the fields below.
	mu     sync.Mutex
	config *tls.Config
	// seen are the files that were read last, good or bad.
	seen []fs.FileInfo
	// ends is when the certificate expires, and warned when a warning of that was logged last.
	ends, warned time.Time
}

// OpenCertificates reads the files. log receives later errors of them, and warnings of a certificate that expires soon; nil
// discards both.
func OpenCertificates(files TLSFiles, log *slog.Logger) (*Certificates, error) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	c := &Certificates{files: files, log: log}
	c.seen = c.stat()
	if err := c.load(); err != nil {
		return nil, err
	}
	c.warnOfExpiry(time.Now())
	return c, nil
}

// refresh reads changed files again, and warns of a certificate that expires soon. No certificates need nothing.
func (c *Certificates) refresh(now time.Time) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	infos := c.stat()
	if !unchanged(infos, c.seen) {
		c.seen = infos
		if err := c.load(); err != nil {
			c.log.Error("keeping the old certificates: the files cannot be used", "err", err)
		} else {
			c.log.Info("read the certificates again", "cert", c.files.Cert, "expires", c.ends)
			c.warned = time.Time{}
		}
	}
	c.warnOfExpiry(now)
}

// stat looks at the files. The information of a file that is missing is nil.
func (c *Certificates) stat() []fs.FileInfo {
	infos := make([]fs.FileInfo, 3)
	for i, path := range []string{c.files.Cert, c.files.Key, c.files.ClientCA} {
		if info, err := os.Stat(path); err == nil {
			infos[i] = info
		}
	}
	return infos
}

// unchanged reports whether files are as they were seen.
func unchanged(now, seen []fs.FileInfo) bool {
	for i := range now {
		if (now[i] == nil) != (seen[i] == nil) || now[i] != nil && !files.Unchanged(now[i], seen[i]) {
			return false
		}
	}
	return true
}

// load reads the files. If it returns an error, nothing changes.
func (c *Certificates) load() error {
	certPEM, err := readPEM("certificate", c.files.Cert)
	if err != nil {
		return err
	}
	keyPEM, err := readPEM("key", c.files.Key)
	if err != nil {
		return err
	}
	pair, err := tls.X509KeyPair(certPEM, keyPEM)
	if err != nil {
		return fmt.Errorf("certificate %s with key %s: %w", c.files.Cert, c.files.Key, err)
	}
	config := &tls.Config{Certificates: []tls.Certificate{pair}, NextProtos: []string{"h2", "http/1.1"}, MinVersion: tls.VersionTLS12}
	if c.files.ClientCA != "" {
		caPEM, err := readPEM("client authority", c.files.ClientCA)
		if err != nil {
			return err
		}
		config.ClientCAs, config.ClientAuth = x509.NewCertPool(), tls.RequireAndVerifyClientCert
		if !config.ClientCAs.AppendCertsFromPEM(caPEM) {
			return fmt.Errorf("client authority %s: contains no certificate", c.files.ClientCA)
		}
	}
	c.config, c.ends = config, pair.Leaf.NotAfter
	return nil
}

// readPEM reads a file of certificates or of a key.
func readPEM(what, path string) ([]byte, error) {
	data, _, err := readRegular(path)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", what, path, err)
	}
	return data, nil
}

// warnOfExpiry logs, at most once in expiryPause, that the certificate has expired or will soon.
func (c *Certificates) warnOfExpiry(now time.Time) {
	left := c.ends.Sub(now)
	if left > expirySoon || now.Sub(c.warned) < expiryPause {
		return
	}
	c.warned = now
	if left <= 0 {
		c.log.Error("the certificate has expired: clients refuse it", "cert", c.files.Cert, "expired", c.ends)
		return
	}
	c.log.Warn("the certificate expires soon", "cert", c.files.Cert, "expires", c.ends, "days", int(left.Hours()/24))
}

// handshake agrees with a client on an encrypted connection until ctx is done.
func (c *Certificates) handshake(ctx context.Context, conn net.Conn) (*tls.Conn, error) {
	secure := tls.Server(conn, &tls.Config{MinVersion: tls.VersionTLS12, GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.config, nil
	}})
	return secure, secure.HandshakeContext(ctx)
}

// certificateNames returns the subject alternative names of the verified certificate of a client, nil without one.
func certificateNames(state tls.ConnectionState) []string {
	if len(state.VerifiedChains) == 0 {
		return nil
	}
	leaf := state.VerifiedChains[0][0]
	names := append(append([]string{}, leaf.DNSNames...), leaf.EmailAddresses...)
	for _, u := range leaf.URIs {
		names = append(names, u.String())
	}
	for _, ip := range leaf.IPAddresses {
		names = append(names, ip.String())
	}
	return names
}
