package text_test

import (
	"errors"
	"strings"
	"testing"

	"golang.org/x/text/encoding/htmlindex"

	"kioku/internal/text"
)

// Hazard K01: notes of other programs are in other code pages.
func TestDecodeReadsOtherEncodings(t *testing.T) {
	for name, notes := range map[string][]string{
		"windows-1252": {"# Rezept\n\nDie Küche braucht süße Äpfel.\n", "The café opens at nine.\n", "It’s a “quoted” word — yes.\n", "Le résumé du projet est prêt.\n",
			"El niño vive en España.\n", "30 £ and 20 € per m²\n"},
		"windows-1251": {"# Ключ\n\nКлюч от подвала висит за часами.\n"},
		"koi8-r":       {"# Ключ\n\nКлюч от подвала висит за часами.\n"},
		"ibm866":       {"# Ключ\n\nКлюч от подвала висит за часами.\n"},
		"shift_jis":    {"# 会議\n\n予算案は来週に延期された。\n"},
		"euc-jp":       {"# 会議\n\n予算案は来週に延期された。\n"},
		"iso-2022-jp":  {"# 会議\n\n予算案は来週に延期された。\n"},
		"gb18030":      {"# 会议\n\n预算案推迟到下周。我们需要重新安排所有的会议时间。\n"},
		"big5":         {"# 會議\n\n預算案延到下週。我們需要重新安排所有的會議時間，請大家在星期五以前回覆。\n"},
		"euc-kr":       {"# 회의\n\n예산안은 다음 주로 연기되었다.\n"},
		"windows-1253": {"Το κλειδί του υπογείου κρέμεται πίσω από το ρολόι.\n"},
		"windows-1255": {"המפתח למרתף תלוי מאחורי השעון.\n"},
		"windows-1256": {"مفتاح القبو معلق خلف الساعة.\n"},
		"windows-1254": {"Bodrumun anahtarı saatin arkasında asılı.\n"},
		"windows-874":  {"กุญแจห้องใต้ดินแขวนอยู่หลังนาฬิกา\n"},
		"utf-16le":     {"# 会議\n\n予算案は来週に延期された。\n", "# Key\n\nThe key hangs behind the clock.\n"},
		"utf-16be":     {"# 会議\n\n予算案は来週に延期された。\n", "# Key\n\nThe key hangs behind the clock.\n"},
	} {
		for _, note := range notes {
			t.Run(name, func(t *testing.T) {
				e, err := htmlindex.Get(name)
				if err != nil {
					t.Fatal(err)
				}
				raw, err := e.NewEncoder().String(note)
				if err != nil {
					t.Fatal(err)
				}
				got, _, err := text.Decode([]byte(raw))
				if err != nil || string(got) != note {
					t.Errorf("%q: %v, want %q", got, err, note)
				}
			})
		}
	}
}

func TestDecodeReadsByteOrderMarks(t *testing.T) {
	for name, raw := range map[string]string{
		"":         "\xEF\xBB\xBFé\r\n",
		"utf-16le": "\xFF\xFE\xE9\x00\r\x00\n\x00",
		"utf-16be": "\xFE\xFF\x00\xE9\x00\r\x00\n",
		"utf-32le": "\xFF\xFE\x00\x00\xE9\x00\x00\x00\r\x00\x00\x00\n\x00\x00\x00",
		"utf-32be": "\x00\x00\xFE\xFF\x00\x00\x00\xE9\x00\x00\x00\r\x00\x00\x00\n",
	} {
		got, encoding, err := text.Decode([]byte(raw))
		if string(got) != "é\r\n" || encoding != name || err != nil {
			t.Errorf("%q is %q in %q, %v, want %q", raw, got, encoding, err, name)
		}
	}
}

func TestDecodeLeavesUTF8AsItIs(t *testing.T) {
	for _, src := range []string{"", "plain", "é", "two\nlines\r\n", "cut off \xF0\x9F", "bad \xFF among é and ü", strings.Repeat("word ", 100) + "\xF0\x9F word",
		"a NUL after much text is left" + strings.Repeat(" x", 8<<10) + "\x00"} {
		got, encoding, err := text.Decode([]byte(src))
		if string(got) != src || encoding != "" || err != nil {
			t.Errorf("%.40q is %.40q in %q, %v", src, got, encoding, err)
		}
	}
}

func TestDecodeRefusesWhatIsNotCertain(t *testing.T) {
	for src, want := range map[string]error{
		"a\x00b":                             text.ErrBinary,
		"\x89PNG\r\n\x1a\n\x00\x00\x00":      text.ErrBinary,
		"x\x8F\x9Dx \x81\x9Dy\x90 z\xFF\x81": text.ErrUnknown,
	} {
		if got, encoding, err := text.Decode([]byte(src)); !errors.Is(err, want) {
			t.Errorf("%q is %q in %q, %v", src, got, encoding, err)
		}
	}
}

// Hazard B13: a file with the line ends of an old Mac has lines.
func TestDecodeEndsLinesAtCR(t *testing.T) {
	for src, want := range map[string]string{"a\rb\r": "a\nb\n", "a\rb\n": "a\rb\n", "a\r\nb\r\n": "a\r\nb\r\n"} {
		if got, _, _ := text.Decode([]byte(src)); string(got) != want {
			t.Errorf("%q is %q, want %q", src, got, want)
		}
	}
}

// Hazard K01: what is ASCII stays readable if a few bytes are of no encoding for certain, and a wrong reading is worse than none.
func TestDecodeKeepsWhatIsMostlyASCII(t *testing.T) {
	for _, raw := range []string{"The caf\xc3\xa9 is closed. \xe2 end\n", "A dog \xe2\x80\x93 a poodle. \xe2 end\n", "A red \x1b[31msky and \xff.\n", "Ask \x93c\x92\x86 at nine, the doctor said.\n"} {
		if got, encoding, err := text.Decode([]byte(raw)); string(got) != raw || encoding != "" || err != nil {
			t.Errorf("%q is %q in %q, %v", raw, got, encoding, err)
		}
	}
}

// A long text is told by its beginning, which ends with a whole letter.
func TestDecodeReadsLongTexts(t *testing.T) {
	for name, line := range map[string]string{"shift_jis": "今日は鳥を見に行きました。アオサギが川のそばに立っていました。\n", "euc-jp": "今日は鳥を見に行きました。アオサギが川のそばに立っていました。\n",
		"gb18030": "今天我们去看鸟。苍鹭站在河边。我们需要重新安排时间。\n", "euc-kr": "오늘 우리는 새를 보러 갔다. 왜가리가 강가에 서 있었다.\n"} {
		for _, before := range []string{"", "a", "ab"} {
			e, err := htmlindex.Get(name)
			if err != nil {
				t.Fatal(err)
			}
			note := before + strings.Repeat(line, 3000)
			raw, err := e.NewEncoder().String(note)
			if err != nil {
				t.Fatal(err)
			}
			if got, _, err := text.Decode([]byte(raw)); err != nil || string(got) != note {
				t.Errorf("%s behind %q: %v", name, before, err)
			}
		}
	}
}
