package sidecar_test

import (
	"testing"

	"kioku/agent/sidecar"
)

func TestAChannelThatIsNotKnownToBePrivateIsAGroup(t *testing.T) {
	for channel, want := range map[string]bool{
		"": false, "terminal": false, " Terminal ": false, "CLI": false, "telegram": false, "WeChat": false, "api": false,
		"discord:dm:7": false, "slack-direct-U12": false, "Private": false, "私聊/private": false,

		"discord": true, "Slack": true, "My App": true, "terminals": true, "web chat": true, "telegram:-10042": true, "グループ": true,
		"telegram:group:42": true, "#general": true, "dm#general": true, "discord:dm:channel": true, "private-group": true,
		"group_dm": true, "private_channel": true, "team/direct": true, "Room 7 (private)": true, "dm:supergroup:1": true,
		"admin": true, "redirect": true, "privately": true, "term\u200binal": true,
	} {
		if got := sidecar.IsGroup(channel); got != want {
			t.Errorf("%q: %v", channel, got)
		}
	}
}
