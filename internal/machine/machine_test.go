package machine_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"kioku/internal/machine"
)

func TestRead(t *testing.T) {
	t.Parallel()
	const battery, mains, mouse = "BAT0 type=Battery status=Discharging", "AC type=Mains online=", "hid type=Battery scope=Device status=Discharging"
	for name, c := range map[string]struct {
		supplies []string
		load     string
		want     machine.State
	}{
		"nothing is told":        {},
		"a server":               {[]string{mains + "1"}, "0.50 0.40 0.30 1/200 999\n", machine.State{}},
		"on its battery":         {[]string{battery, mains + "0"}, "0.50 0.40 0.30", machine.State{OnBattery: true}},
		"charging":               {[]string{"BAT0 type=Battery status=Charging", mains + "1"}, "1.9 1 1", machine.State{}},
		"two batteries":          {[]string{"BAT0 type=Battery status=Full", "BAT1 type=Battery status=Discharging"}, "0", machine.State{OnBattery: true}},
		"full, with mains":       {[]string{battery, mains + "1"}, "0", machine.State{}},
		"the battery of a mouse": {[]string{mouse}, "0", machine.State{}},
		"busy":                   {nil, "2.01 1 1", machine.State{Busy: true}},
		"nonsense":               {[]string{"BAT0"}, "much", machine.State{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := fstest.MapFS{}
			for _, s := range c.supplies {
				words := strings.Fields(s)
				root["sys/class/power_supply/"+words[0]+"/uevent"] = &fstest.MapFile{}
				for _, w := range words[1:] {
					file, value, _ := strings.Cut(w, "=")
					root["sys/class/power_supply/"+words[0]+"/"+file] = &fstest.MapFile{Data: []byte(value + "\n")}
				}
			}
			if c.load != "" {
				root["proc/loadavg"] = &fstest.MapFile{Data: []byte(c.load)}
			}
			if got := machine.Read(root, 2); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}
