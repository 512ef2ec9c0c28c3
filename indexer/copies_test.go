package indexer

import "testing"

// Hazard K03: sync tools put copies beside a note if two machines have changed it.
func TestOriginalOf(t *testing.T) {
	for name, want := range map[string]string{
		"router.sync-conflict-20260120-101010-ABCDEFG.md":            "router.md",
		"router (Ana's conflicted copy 2026-01-22).md":               "router.md",
		"router (conflicted copy 2026-01-22 101010).md":              "router.md",
		"router (Conflicted copy MacBook 202601221010).md":           "router.md",
		"router (In Konflikt stehende Kopie von Ana 2026-01-22).md":  "router.md",
		"router (Copie en conflit de Ana 2026-01-22).md":             "router.md",
		"router (copia en conflicto de Ana 2026-01-22).md":           "router.md",
		"router (Ana の競合コピー 2026-01-22).md":                          "router.md",
		"router（Ana 的冲突副本 2026-01-22）.md":                            "router.md",
		"router (SFConflict ana@example.org 2026-01-22-10-10-10).md": "router.md",
		"router (Case Conflict 1).md":                                "router.md",
		"router [Conflict].md":                                       "router.md",
		"router_conflict-20260122-101010.md":                         "router.md",
		"router.Conflict.md":                                         "router.md",
		"router_NAS_Jan-22-101010-2026_Conflict.md":                  "router.md",
		"router-DESKTOP-A1B2C3D.md":                                  "router.md",
		"router_REMOTE_1234.MD":                                      "router.MD",
		"router.conflict-20260120.md":                                "router.md",
		"router-conflict-Ana-2026-01-20.md":                          "router.md",
		"router_NAS_Ana_Jan-20-101010-2026_Conflict.md":              "router.md",
		"router~HEAD.md":                                             "router.md",
		"Meeting (Conflict).md":                                      "",
		"Ehe (Konflikt 2019).md":                                     "",
		"Server.conflict.md":                                         "",
		"Home-DESKTOP-CHECKLIST.md":                                  "",
		"Home-LAPTOP-SETUP.md":                                       "",
		"git_REMOTE_CONTROL.md":                                      "",
		"router (old).md":                                            "",
		"meeting (conflict resolution).md":                           "",
		"team conflict.md":                                           "",
		"router (2).md":                                              "",
		"a_BASE_class.md":                                            "",
	} {
		if got := originalOf(name); got != want {
			t.Errorf("%s is a copy of %q, want %q", name, got, want)
		}
	}
}
