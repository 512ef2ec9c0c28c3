package metrics_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// folder contains the dashboard and the alert rules.
const folder = "../../docs/observability"

// exported returns the names of all metrics, with those of the series of histograms.
func exported(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	scraped := scrape(t, busy(t), caller{agents: []string{"ann", "bob"}})
	for line := range strings.Lines(scraped) {
		if name := regexp.MustCompile(`^[a-z_]+`).FindString(line); name != "" {
			names[name] = true
		}
	}
	return names
}

// wantExported checks that the metrics in an expression exist, with the labels by which it selects and groups.
func wantExported(t *testing.T, names map[string]bool, where, expr string) {
	t.Helper()
	found := regexp.MustCompile(`\b(kioku|process|go)_[a-z_]+`).FindAllString(expr, -1)
	if len(found) == 0 {
		t.Errorf("%s names no metric: %s", where, expr)
	}
	for _, name := range found {
		if !names[name] {
			t.Errorf("%s: no metric is called %s", where, name)
		}
	}
}

// A Grafana dashboard whose panels ask for metrics that exist; each metric of Kioku is in a panel or an alert rule.
func TestDashboardAndAlertsUseMetricsThatExist(t *testing.T) {
	t.Parallel()
	var dashboard struct {
		UID, Title string
		Panels     []struct {
			ID          int
			Type, Title string
			Description string
			GridPos     struct{ X, Y, W, H int }
			Targets     []struct{ Expr string }
		}
	}
	data, err := os.ReadFile(filepath.Join(folder, "dashboard.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &dashboard); err != nil {
		t.Fatal(err)
	}
	names, used := exported(t), string(data)
	ids := map[int]bool{}
	for _, p := range dashboard.Panels {
		if ids[p.ID] || p.Title == "" || p.GridPos.X+p.GridPos.W > 24 || p.Type != "row" && (len(p.Targets) == 0 || p.Description == "") {
			t.Errorf("panel %d, %q: no title, no description, no target, another panel's id, or too wide", p.ID, p.Title)
		}
		ids[p.ID] = true
		for _, target := range p.Targets {
			wantExported(t, names, p.Title, target.Expr)
		}
	}
	var rules struct {
		Groups []struct {
			Rules []struct {
				Alert, Expr         string
				Labels, Annotations map[string]string
			}
		}
	}
	alerts, err := os.ReadFile(filepath.Join(folder, "alerts.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(alerts, &rules); err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, g := range rules.Groups {
		for _, r := range g.Rules {
			count++
			wantExported(t, names, r.Alert, r.Expr)
			if !slices.Contains([]string{"warning", "critical"}, r.Labels["severity"]) || r.Annotations["summary"] == "" || r.Annotations["description"] == "" {
				t.Errorf("%s has no severity, summary or description", r.Alert)
			}
		}
	}
	if len(ids) < 15 || count < 10 {
		t.Errorf("%d panels, %d rules", len(ids), count)
	}
	used += string(alerts)
	for name := range names {
		base := regexp.MustCompile(`_(bucket|sum|count)$`).ReplaceAllString(name, "")
		if strings.HasPrefix(name, "kioku_") && !strings.Contains(used, base) && !slices.Contains(undrawn, base) {
			t.Errorf("%s is in no panel and no alert rule", name)
		}
	}
}

// undrawn are metrics for tables and questions of one's own.
var undrawn = []string{"kioku_watch_mode", "kioku_index_syncing", "kioku_index_last_sync_timestamp_seconds", "kioku_index_resident_bytes", "kioku_index_cached_vectors",
	"kioku_call_duration_seconds", "kioku_embed_texts_total", "kioku_egress_sent_bytes_total"}
