package connect

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"os"
	"strings"

	"kioku/cmd/kioku/config"
)

// clientTLS returns the TLS settings of a connection to target, "unix:///path" or "host:port". It returns nil for a unix socket,
// and for this machine unless the settings name an authority or a certificate.
func clientTLS(conf *config.Config, target string) (*tls.Config, error) {
	files := conf.Client
	if strings.HasPrefix(target, "unix:") || isLoopback(target) && files.CA == "" && files.Cert == "" {
		return nil, nil
	}
	out := &tls.Config{MinVersion: tls.VersionTLS12}
	if files.CA != "" {
		pem, err := os.ReadFile(files.CA)
		if err != nil {
			return nil, conf.Wrong("client.ca", err.Error())
		}
		out.RootCAs = x509.NewCertPool()
		if !out.RootCAs.AppendCertsFromPEM(pem) {
			return nil, conf.Wrong("client.ca", fmt.Sprintf("%s contains no certificate", files.CA))
		}
	}
	if files.Cert != "" {
		pair, err := tls.LoadX509KeyPair(files.Cert, files.Key)
		if err != nil {
			return nil, conf.Wrong("client.cert", err.Error())
		}
		out.Certificates = []tls.Certificate{pair}
	}
	return out, nil
}

// isLoopback reports whether host:port is on this machine.
func isLoopback(target string) bool {
	host, _, err := net.SplitHostPort(target)
	ip := net.ParseIP(host)
	return err == nil && (host == "localhost" || ip != nil && ip.IsLoopback())
}
