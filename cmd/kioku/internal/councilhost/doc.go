// Package councilhost opens a council in this process: its settings, the memories of its agents, its members and its engine.
package councilhost
