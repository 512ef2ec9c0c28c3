package main

import (
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"kioku/cmd/kioku/internal/render"
)

// buildInfo is the output of kioku version --json.
type buildInfo struct {
	Version string `json:"version"`
	// Commit that was built, empty if unknown.
	Commit   string `json:"commit"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// buildVersion returns the version set by the linker, else the one in the build information.
func buildVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}

func currentBuild() buildInfo {
	b := buildInfo{Version: buildVersion(), Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, _ := debug.ReadBuildInfo()
	if info == nil {
		return b
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			b.Commit = s.Value
		}
	}
	return b
}

func (a *app) versionCmd() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version",
		Args: cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(*cobra.Command, []string) error {
			b := currentBuild()
			return a.Write(b, func(p *render.Page) { p.Linef("kioku %s (%s, %s)", b.Version, b.Go, b.Platform) })
		},
	}
}
