package sidecar_test

import (
	"testing"

	"kioku/agent/sidecar"
)

func TestIsGroupUnlessKnownToBePrivate(t *testing.T) {
	t.Parallel()
	for channel, want := range map[string]bool{
		"": false, "terminal": false, " Terminal ": false, "CLI": false, "telegram": false, "WeChat": false, "api": false,
		"terminal:2": false, "cli/kioku": false, "api:client:7": false, "Web/tab 3": false,
		"discord:dm:7": false, "slack/Direct/U12": false, "DM": false, "direct": false, "telegram:dm:42": false, "slack:dm:Ann Lee": false,

		"discord": true, "Slack": true, "My App": true, "terminals": true, "web chat": true, "グループ": true, ":": true, "/": true,
		"telegram:-10042": true, "telegram:42": true, "whatsapp:4917-1400@g.us": true, "line:C4af4980629": true, "voice:lounge": true, "email:staff@example.com": true,
		"telegram:group:42": true, "#general": true, "dm#general": true, "discord:dm:channel": true, "private-group": true,
		"group_dm": true, "private_channel": true, "team/direct": true, "Room 7 (private)": true, "dm:supergroup:1": true,
		"admin": true, "redirect": true, "privately": true, "term\u200binal": true,

		"private": true, "slack:private-eng": true, "slack:private": true, "discord/direct-sales": true, "private-guild": true, "private server": true, "multi-person-dm": true,
		"slack dm 3 people": true, "dm-everyone": true, "direct.all": true, "non-private": true, "private chat with Bob and Ann": true, "slack-direct-U12": true,
		"discord:dm:everyone": true, "slack:dm:3 people": true, "dm/all": true, "slack:mpim:dm": true, "slack:dm:Bob and Ann": true, "slack:dm:bob,ann": true, "dm:bob&ann": true,
		"web:room:7": true, "api:#general": true, "terminal/shared": true, "discord:server:direct": true, "discord:dm :7": true, "discord\uff1adm": true, ":general": true,
	} {
		if got := sidecar.IsGroup(channel); got != want {
			t.Errorf("%q: %v", channel, got)
		}
	}
}
