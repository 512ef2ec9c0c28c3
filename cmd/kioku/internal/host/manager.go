package host

import (
	"context"
	"net/http"
	"time"

	systemd "github.com/coreos/go-systemd/v22/daemon"

	"kioku/client"
	"kioku/cmd/kioku/internal/render"
)

// manager tells the service manager, systemd or one like it, how a command that serves is. Without the variable NOTIFY_SOCKET it tells
// nobody. A message that cannot be sent is lost: there is nobody else to tell.
type manager struct{}

func (manager) tell(state string) { _, _ = systemd.SdNotify(false, state) }

// ready tells that calls are answered.
func (m manager) ready() { m.tell(systemd.SdNotifyReady) }

// reloading tells that the settings are being read again; ready ends that.
func (m manager) reloading() {
	m.tell(systemd.SdNotifyReloading + "\n" + systemd.SdNotifyMonotonicUsec())
}

// status shows a text in systemctl status.
func (m manager) status(text string) { m.tell("STATUS=" + render.CleanLine(text)) }

// run tells that calls are answered, and when ctx ends that they are not. While answers returns true in time, it keeps a watchdog
// from ending the process.
func (m manager) run(ctx context.Context, answers func(ctx context.Context) bool) {
	m.tell(systemd.SdNotifyReady + "\nSTATUS=comparing the folders with the indexes")
	defer m.tell(systemd.SdNotifyStopping)
	limit, err := systemd.SdWatchdogEnabled(false)
	if err != nil || limit == 0 {
		<-ctx.Done()
		return
	}
	tick := time.NewTicker(limit / 3)
	defer tick.Stop()
	for {
		asking, cancel := context.WithTimeout(ctx, limit/3)
		if answers(asking) {
			m.tell(systemd.SdNotifyWatchdog)
		}
		cancel()
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// answers reports whether the server answers a health check on its unix socket.
func (h *Host) answers(ctx context.Context) bool {
	for _, l := range h.listeners {
		if l.Addr().Network() != "unix" {
			continue
		}
		c, err := client.Dial("unix:"+l.Addr().String(), client.Options{})
		if err != nil {
			return false
		}
		defer c.Close()
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://kioku/healthz", http.NoBody)
		if err != nil {
			return false
		}
		resp, err := c.Conn.RoundTrip(r)
		if err != nil {
			return false
		}
		defer resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	}
	return true
}
